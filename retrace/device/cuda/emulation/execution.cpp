#include "retrace/device/cuda/emulation/execution.h"

#include <fmt/format.h>

#include "retrace/base/error.h"

namespace retrace::cuda::emulation {

Position position(size_t linear, const Position& of) {
  return {static_cast<unsigned>(linear % of.x), static_cast<unsigned>(linear / of.x % of.y),
          static_cast<unsigned>(linear / of.x / of.y)};
}

std::string text(const Position& position) { return fmt::format("({},{},{})", position.x, position.y, position.z); }

void Execution::fail(int code, const std::string& message, const std::string& got) const {
  throw Error(ErrorKind::internal, code, fmt::format("kernel {}: {}", kernel, message))
      .where(fmt::format("block {}, thread {}", text(position(block, blocks)), text(position(thread, block_threads))))
      .got(got);
}

void Execution::fail_both(int code, const std::string& message, const std::string& got, size_t other_block,
                          const std::string& other_thread) const {
  const auto mine = text(position(thread, block_threads));
  const auto my_block = text(position(block, blocks));
  throw Error(ErrorKind::internal, code, fmt::format("kernel {}: {}", kernel, message))
      .where(other_block == block ? fmt::format("block {}, threads {} and {}", my_block, other_thread, mine)
                                  : fmt::format("block {}, thread {}, and block {}, thread {}",
                                                text(position(other_block, blocks)), other_thread, my_block, mine))
      .got(got);
}

}  // namespace retrace::cuda::emulation

#include "retrace/data/random_stream.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "retrace/base/error.h"
#include "retrace/base/hash.h"
#include "retrace/base/philox.h"

namespace retrace {

RandomStream::RandomStream(uint64_t seed, std::string_view purpose, uint64_t step, uint64_t op, uint64_t sample)
    : key_(stream_key(seed, hash_bytes(purpose), step, op)), sample_(sample) {}

uint32_t RandomStream::bits() {
  if (element_ % 4 == 0) block_ = philox_block(key_, sample_, element_ / 4);
  return block_[element_++ % 4];
}

float RandomStream::uniform() { return uniform_from(bits()); }

std::vector<int64_t> random_order(int64_t n, uint64_t seed, std::string_view purpose, uint64_t step) {
  if (n > int64_t{1} << 32)
    throw Error(ErrorKind::usage, 314, fmt::format("{} observations cannot be shuffled", n))
        .expected("at most 4294967296");
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  RandomStream stream(seed, purpose, step, 0, 0);
  for (size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[i + stream.below(order.size() - i)]);
  return order;
}

}  // namespace retrace

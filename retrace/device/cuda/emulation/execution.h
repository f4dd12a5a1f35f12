#pragma once
// The running thread of the running launch, and its name in errors.

#include <cstddef>
#include <string>

#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda::emulation {

struct Execution {
  std::string kernel;
  Position block_threads{}, blocks{};
  unsigned threads = 0;  // of a block
  size_t block = 0;      // linear, x fastest, as is
  unsigned thread = 0;

  // Error(internal) of the running thread: "kernel NAME: MESSAGE", its block and thread, `got`.
  [[noreturn]] void fail(int code, const std::string& message, const std::string& got) const;
  // The same for this thread and another one, of another block if their numbers differ.
  [[noreturn]] void fail_both(int code, const std::string& message, const std::string& got, size_t other_block,
                              const std::string& other_thread) const;
};

Position position(size_t linear, const Position& of);
std::string text(const Position& position);  // "(1,0,0)"

}  // namespace retrace::cuda::emulation

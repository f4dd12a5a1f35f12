#pragma once
// What an op's CUDA kernels add up to: launches in order. The op knows its kernels by name.

#include <cstdint>

#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

class Launches {
 public:
  explicit Launches(Runtime& runtime) : runtime_(runtime) {}

  // `arguments` is the struct that the kernel takes.
  template <class Arguments>
  void add(std::string_view kernel, Dim blocks, Dim threads, const Arguments& arguments, size_t shared_bytes = 0) {
    Launch& launch = all_.emplace_back();
    launch.kernel = &runtime_.find_kernel(kernel);
    launch.blocks = blocks, launch.threads = threads, launch.shared_bytes = shared_bytes;
    launch.set(arguments);
  }
  void add(Launch launch) { all_.push_back(std::move(launch)); }

  std::vector<Launch>& all() { return all_; }

 private:
  Runtime& runtime_;
  std::vector<Launch> all_;
};

// Blocks of so many threads that cover `items`.
inline Dim blocks_for(int64_t items, unsigned threads) {
  return {static_cast<unsigned>((items + threads - 1) / threads)};
}

}  // namespace retrace::cuda

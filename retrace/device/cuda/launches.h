#pragma once
// The CUDA kernels of an op as launches in order. The op knows its kernels by name.

#include <cstdint>

#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

class Launches {
 public:
  static constexpr int64_t kCounters = 256;

  // `counters` are kCounters words of device memory, at first 0 (null for ops that need none). `earlier`: the same
  // launches with other arguments, made before; their kernels are not looked up again.
  explicit Launches(Runtime& runtime, unsigned* counters = nullptr, std::span<const Launch> earlier = {})
      : runtime_(runtime), counters_(counters), earlier_(earlier) {}

  // Words that are 0 when a kernel starts, and that it leaves so: by them its blocks find out which of them comes last.
  unsigned* counters() const { return counters_; }

  // `arguments` is the struct that the kernel takes.
  template <class Arguments>
  void add(std::string_view kernel, Dim blocks, Dim threads, const Arguments& arguments, size_t shared_bytes = 0) {
    const Kernel& found = find(kernel);
    Launch& launch = all_.emplace_back();
    launch.kernel = &found;
    launch.blocks = blocks, launch.threads = threads, launch.shared_bytes = shared_bytes;
    launch.set(arguments);
  }
  void add(Launch launch) { all_.push_back(std::move(launch)); }

  std::vector<Launch>& all() { return all_; }

 private:
  const Kernel& find(std::string_view name) const {
    const size_t place = all_.size();
    if (place < earlier_.size() && earlier_[place].kernel->name() == name) return *earlier_[place].kernel;
    return runtime_.find_kernel(name);
  }

  Runtime& runtime_;
  unsigned* counters_;
  std::span<const Launch> earlier_;
  std::vector<Launch> all_;
};

// Blocks of so many threads that cover `items`.
inline Dim blocks_for(int64_t items, unsigned threads) {
  return {static_cast<unsigned>((items + threads - 1) / threads)};
}

}  // namespace retrace::cuda

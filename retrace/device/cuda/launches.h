#pragma once
// The CUDA kernels of an op as launches in order. The op knows its kernels by name.

#include <cstdint>

#include "retrace/device/cpu/thread_count.h"
#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

// A kernel of a .cu file, and the header that defines its forms (kernel_form.h): plans may compile it once more, with a
// chain on each value that it stores. The tile of a block is `rows` neighbouring rows of the result, which number its
// last axis as columns; 0 if they are no neighbours.
struct KernelWithForms {
  std::string_view name, header;
  int rows = 0, columns = 0;
};

class Launches {
 public:
  static constexpr int64_t kCounters = 256;

  // `counters` are kCounters words of device memory, at first 0 (null for ops that need none). `earlier`: the same
  // launches with other arguments, made before; their kernels are not looked up again.
  // mode: that of the plan, for which an op may have kernels of its own.
  explicit Launches(Runtime& runtime, unsigned* counters = nullptr, std::span<const Launch> earlier = {},
                    Mode mode = Mode::reproducible)
      : runtime_(&runtime), counters_(counters), earlier_(earlier), mode_(mode) {}
  // To see what an op would add: no kernel is looked up.
  explicit Launches(Mode mode = Mode::reproducible) : mode_(mode) {}

  Mode mode() const { return mode_; }

  // Words that are 0 when a kernel starts, and that it leaves so: by them its blocks find out which of them comes last.
  unsigned* counters() const { return counters_; }

  // `arguments` is the struct that the kernel takes.
  template <class Arguments>
  void add(std::string_view kernel, Dim blocks, Dim threads, const Arguments& arguments, size_t shared_bytes = 0) {
    const Kernel* const found = find(kernel);
    Launch& launch = all_.emplace_back();
    launch.kernel = found;
    launch.blocks = blocks, launch.threads = threads, launch.shared_bytes = shared_bytes;
    launch.set(arguments);
  }
  void add(Launch launch) { all_.push_back(std::move(launch)); }
  // The only launch of an op, which stores each element of the result when it is complete.
  template <class Arguments>
  void add_with_forms(const KernelWithForms& kernel, Dim blocks, Dim threads, const Arguments& arguments,
                      size_t shared_bytes) {
    with_forms_ = kernel;
    if (!form_) return add(kernel.name, blocks, threads, arguments, shared_bytes);
    Launch launch{form_, blocks, threads, shared_bytes, {}};
    launch.set(arguments), launch.append(form_arguments_);
    add(std::move(launch));
  }
  // The kernel that was added so; without a name if none was.
  const KernelWithForms& with_forms() const { return with_forms_; }
  // That kernel is to be launched in this form, with further arguments behind the op's own.
  void use_form(const Kernel& form, std::span<const std::byte> arguments) {
    form_ = &form;
    form_arguments_.assign(arguments.begin(), arguments.end());
  }

  std::vector<Launch>& all() { return all_; }

 private:
  const Kernel* find(std::string_view name) const {
    const size_t place = all_.size();
    if (place < earlier_.size() && earlier_[place].kernel->name() == name) return earlier_[place].kernel;
    return runtime_ ? &runtime_->find_kernel(name) : nullptr;
  }

  Runtime* runtime_ = nullptr;
  unsigned* counters_ = nullptr;
  std::span<const Launch> earlier_;
  Mode mode_ = Mode::reproducible;
  KernelWithForms with_forms_;
  const Kernel* form_ = nullptr;
  std::vector<std::byte> form_arguments_;
  std::vector<Launch> all_;
};

// Blocks of so many threads that cover `items`.
inline Dim blocks_for(int64_t items, unsigned threads) {
  return {static_cast<unsigned>((items + threads - 1) / threads)};
}

}  // namespace retrace::cuda

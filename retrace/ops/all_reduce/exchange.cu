// What a worker gives and gets is copied in a few launches, and the runs of its slice are added in one.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/all_reduce/exchange_cuda.h"

namespace retrace::cuda {
namespace {

template <class T>
RT_DEVICE void copy_part(const CopyPartsArguments<T>& a) {
  const auto& part = a.parts[block().y];
  const unsigned long long stride = static_cast<unsigned long long>(blocks().x) * block_threads().x;
  for (unsigned long long i = element_number(); i < part.count; i += stride)
    part.to[static_cast<long long>(i)] = part.from[static_cast<long long>(i)];
}

// A thread adds all runs of its elements, so that the steps need no order between threads.
template <class T>
RT_DEVICE void add_runs(const AddRunsArguments<T>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const auto place = [&](unsigned run) { return static_cast<long long>(run * a.count + i); };
  for (int step = 0; step < a.steps; ++step) {
    const T left = a.runs[place(a.left[step])], right = a.runs[place(a.right[step])];
    a.runs[place(a.left[step])] = left + right;
  }
  const T root = a.runs[i];
  a.sum[i] = root;
}

}  // namespace

RT_KERNEL(exchange_copy_1, CopyPartsArguments<unsigned char>, a) { copy_part(a); }
RT_KERNEL(exchange_copy_4, CopyPartsArguments<unsigned>, a) { copy_part(a); }
RT_KERNEL(exchange_add_f32, AddRunsArguments<float>, a) { add_runs(a); }
RT_KERNEL(exchange_add_f64, AddRunsArguments<double>, a) { add_runs(a); }

}  // namespace retrace::cuda

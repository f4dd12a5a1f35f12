// Copies between strided arrays, one thread an element.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/copy/strided_copy_cuda.h"

namespace retrace::cuda {
namespace {

template <class T>
RT_DEVICE void copy_element(const StridedCopyArguments<T>& a) {
  unsigned rest = element_number();
  if (rest >= a.count) return;
  long long from = 0, to = 0;
  for (int i = a.rank - 1; i >= 0; --i) {
    const auto [before, index] = a.shape[i].split(rest);
    rest = before;
    from += index * a.from_strides[i];
    to += index * a.to_strides[i];
  }
  a.to[to] = a.from[from];
}

}  // namespace

RT_KERNEL(strided_copy_1, StridedCopyArguments<unsigned char>, a) { copy_element(a); }
RT_KERNEL(strided_copy_2, StridedCopyArguments<unsigned short>, a) { copy_element(a); }
RT_KERNEL(strided_copy_4, StridedCopyArguments<unsigned>, a) { copy_element(a); }
RT_KERNEL(strided_copy_8, StridedCopyArguments<unsigned long long>, a) { copy_element(a); }
RT_KERNEL(strided_copy_16, StridedCopyArguments<Words4>, a) { copy_element(a); }

}  // namespace retrace::cuda

// Zeros with an array in between, one thread an element of the result.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/slice/slice_cuda.h"

namespace retrace::cuda {
namespace {

template <class T>
RT_DEVICE void pad_element(const PadArguments<T>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  unsigned rest = i;
  long long from = 0, stride = 1;
  bool inside = true;
  for (int axis = a.rank - 1; axis >= 0; --axis) {
    const auto [before, index] = a.shape[axis].split(rest);
    rest = before;
    const auto [k, between] = a.step[axis].split(index - a.begin[axis]);
    inside = inside && index >= a.begin[axis] && between == 0 && k < a.size[axis];
    from += k * stride;
    stride *= a.size[axis];
  }
  T value{};
  if (inside) value = a.from[from];
  a.to[i] = value;
}

}  // namespace

RT_KERNEL(pad_1, PadArguments<unsigned char>, a) { pad_element(a); }
RT_KERNEL(pad_2, PadArguments<unsigned short>, a) { pad_element(a); }
RT_KERNEL(pad_4, PadArguments<unsigned>, a) { pad_element(a); }
RT_KERNEL(pad_8, PadArguments<unsigned long long>, a) { pad_element(a); }
RT_KERNEL(pad_16, PadArguments<Words4>, a) { pad_element(a); }

}  // namespace retrace::cuda

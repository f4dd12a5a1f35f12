// Conversions, one thread an element.
#include "retrace/base/convert.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/cast/cast_cuda.h"

namespace retrace::cuda {
namespace {

template <class From, class To>
RT_DEVICE void cast_element(const CastArguments<From, To>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const From x = a.x[i];
  a.y[i] = converted<To>(x);
}

}  // namespace

#define RT_CAST(name, From, To)                     \
  using name##_arguments = CastArguments<From, To>; \
  RT_KERNEL(name, name##_arguments, a) { cast_element(a); }
#define RT_CASTS(from, From)               \
  RT_CAST(cast_##from##_f32, From, float)  \
  RT_CAST(cast_##from##_f64, From, double) \
  RT_CAST(cast_##from##_i32, From, int)    \
  RT_CAST(cast_##from##_u8, From, unsigned char)

RT_CASTS(f32, float)
RT_CASTS(f64, double)
RT_CASTS(i32, int)
RT_CASTS(u8, unsigned char)

}  // namespace retrace::cuda

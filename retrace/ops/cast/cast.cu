// Conversions from and to f64 and i64, one thread an element.
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

RT_CAST(cast_f64_f32, double, float)
RT_CAST(cast_f64_f64, double, double)
RT_CAST(cast_f64_i32, double, int)
RT_CAST(cast_f64_u8, double, unsigned char)
RT_CAST(cast_f32_f64, float, double)
RT_CAST(cast_i32_f64, int, double)
RT_CAST(cast_u8_f64, unsigned char, double)
RT_CAST(cast_f64_i64, double, long long)
RT_CAST(cast_f32_i64, float, long long)
RT_CAST(cast_i32_i64, int, long long)
RT_CAST(cast_u8_i64, unsigned char, long long)
RT_CAST(cast_i64_f64, long long, double)
RT_CAST(cast_i64_f32, long long, float)
RT_CAST(cast_i64_i32, long long, int)
RT_CAST(cast_i64_u8, long long, unsigned char)

}  // namespace retrace::cuda

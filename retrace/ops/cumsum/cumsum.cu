// Running sums and products: one thread a line, from its begin to its end. Integers wrap, as unsigned ones.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/cumsum/cumsum_cuda.h"

namespace retrace::cuda {
namespace {

struct Sum {
  template <class T>
  static RT_DEVICE T combine(const CumulativeArguments<T>&, T before, T x, long long) {
    return before + x;
  }
};
struct Product {
  template <class T>
  static RT_DEVICE T combine(const CumulativeArguments<T>&, T before, T x, long long) {
    return before * x;
  }
};
struct Recurrence {
  static RT_DEVICE float combine(const CumulativeArguments<float>& a, float before, float x, long long at) {
    const float factor = a.factor[at];
    return factor * before + x;
  }
};

template <class Rule, class T>
RT_DEVICE void take_line(const CumulativeArguments<T>& a) {
  const unsigned line = element_number();
  if (line >= a.lines) return;
  const auto [outer, column] = a.step.split(line);
  const long long step = a.step.divisor;
  long long at = outer * (a.size * step) + column, forward = step;
  if (a.reverse) at += (a.size - 1) * step, forward = -step;
  T sum = a.x[at];
  a.y[at] = sum;
  for (unsigned i = 1; i < a.size; ++i) {
    at += forward;
    const T x = a.x[at];
    sum = Rule::combine(a, sum, x, at);
    a.y[at] = sum;
  }
}

}  // namespace

RT_KERNEL(cumsum_f32, CumulativeArguments<float>, a) { take_line<Sum>(a); }
RT_KERNEL(cumsum_i32, CumulativeArguments<unsigned>, a) { take_line<Sum>(a); }
RT_KERNEL(cumprod_f32, CumulativeArguments<float>, a) { take_line<Product>(a); }
RT_KERNEL(cumprod_i32, CumulativeArguments<unsigned>, a) { take_line<Product>(a); }
RT_KERNEL(linear_recurrence, CumulativeArguments<float>, a) { take_line<Recurrence>(a); }

}  // namespace retrace::cuda

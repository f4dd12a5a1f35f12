#include <cmath>

#include "retrace/base/double_math.h"
#include "retrace/base/philox.h"
#include "retrace/ops/random/random_kernel.h"

namespace retrace {

void draw_normal_reference(const Draw& draw, double* y) {
  constexpr double kTwoPi = 0x1.921fb54442d18p2;
  for (int64_t s = 0; s < draw.samples; ++s)
    for (int64_t e = 0; e < draw.elements; ++e) {
      const auto sample = static_cast<uint64_t>(draw.first_sample + s), first = static_cast<uint64_t>(e - e % 2);
      const double u = 1.0 - uniform_from(philox_bits(draw.key, sample, first));
      const double angle = kTwoPi * uniform_from(philox_bits(draw.key, sample, first + 1));
      const double radius = std::sqrt(-2.0 * double_math::log(u));
      *y++ = radius * (e % 2 == 0 ? double_math::cos(angle) : double_math::sin(angle));
    }
}

}  // namespace retrace

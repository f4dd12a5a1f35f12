#include "retrace/data/affine.h"

#include <algorithm>

#include "retrace/base/double_math.h"
#include "retrace/base/fp_environment.h"
#include "retrace/data/stack.h"

namespace retrace {
namespace {

constexpr double kRadians = 0x1.1df46a2529d39p-6;  // of a degree

// The largest whole number that is not above; |x| < 2^62.
double floor(double x) {
  const auto whole = static_cast<double>(static_cast<int64_t>(x));
  return whole > x ? whole - 1 : whole;
}

struct SineCosine {
  double sine, cosine;
};

// Of an angle in degrees: that of the rest of at most 45 degrees, turned by quarters.
SineCosine of_degrees(double degrees) {
  const double quarters = floor(degrees / 90 + 0.5), rest = (degrees - 90 * quarters) * kRadians;
  const double sine = double_math::sin(rest), cosine = double_math::cos(rest);
  switch (static_cast<int>(quarters - 4 * floor(quarters / 4))) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

double tangent(double degrees) {
  const auto [sine, cosine] = of_degrees(degrees);
  return sine / cosine;
}

float rounded(double value, float) { return static_cast<float>(value); }
int32_t rounded(double value, int32_t) { return static_cast<int32_t>(value); }
uint8_t rounded(double value, uint8_t) { return static_cast<uint8_t>(std::clamp(floor(value + 0.5), 0.0, 255.0)); }

template <class Value>
class Resampler {
 public:
  Resampler(const Tensor& image, const std::vector<double>& fill)
      : height_(image.shape()[0]),
        width_(image.shape()[1]),
        channels_(image.shape()[2]),
        from_(static_cast<const Value*>(image.data())),
        fill_(fill) {}

  void run(const InverseMap& map, Interpolation interpolation, Value* to) const {
    const double centre_x = static_cast<double>(width_ - 1) / 2, centre_y = static_cast<double>(height_ - 1) / 2;
    for (int64_t row = 0; row < height_; ++row)
      for (int64_t column = 0; column < width_; ++column, to += channels_) {
        const double x = static_cast<double>(column) - centre_x - map.translate_x;
        const double y = static_cast<double>(row) - centre_y - map.translate_y;
        const double source_x = map.a * x + map.b * y + centre_x, source_y = map.c * x + map.d * y + centre_y;
        if (interpolation == Interpolation::nearest)
          take_nearest(source_x, source_y, to);
        else
          interpolate(source_x, source_y, to);
      }
  }

 private:
  // Of a pixel, or of what lies outside.
  double value(double x, double y, int64_t channel) const {
    const bool inside = x >= 0 && y >= 0 && x < static_cast<double>(width_) && y < static_cast<double>(height_);
    if (!inside) return fill_[static_cast<size_t>(channel) % fill_.size()];
    return from_[(static_cast<int64_t>(y) * width_ + static_cast<int64_t>(x)) * channels_ + channel];
  }

  void take_nearest(double x, double y, Value* to) const {
    const double column = floor(x + 0.5), row = floor(y + 0.5);
    for (int64_t c = 0; c < channels_; ++c) to[c] = rounded(value(column, row, c), Value());
  }

  void interpolate(double x, double y, Value* to) const {
    const double left = floor(x), top = floor(y), across = x - left, down = y - top;
    for (int64_t c = 0; c < channels_; ++c) {
      const double upper = between(value(left, top, c), value(left + 1, top, c), across);
      const double lower = between(value(left, top + 1, c), value(left + 1, top + 1, c), across);
      to[c] = rounded(between(upper, lower, down), Value());
    }
  }
  static double between(double first, double second, double share) { return first + share * (second - first); }

  int64_t height_, width_, channels_;
  const Value* from_;
  const std::vector<double>& fill_;
};

}  // namespace

InverseMap inverse_of(const AffineMotion& motion) {
  const FloatingPointScope floating_point;
  const auto [sine, cosine] = of_degrees(motion.rotation);
  const double shear_x = tangent(motion.shear_x), shear_y = tangent(motion.shear_y);
  // The rotation is undone, then the shear of y, that of x, the scaling and the reflection. The rows are those of x, y.
  double a = cosine, b = -sine, c = sine, d = cosine;
  c = c - shear_y * a, d = d - shear_y * b;
  a = a - shear_x * c, b = b - shear_x * d;
  const double scale_x = motion.reflect_x ? -motion.scale_x : motion.scale_x;
  const double scale_y = motion.reflect_y ? -motion.scale_y : motion.scale_y;
  return {a / scale_x, b / scale_x, c / scale_y, d / scale_y, motion.translate_x, motion.translate_y};
}

Tensor resampled(const Tensor& image, const InverseMap& map, const std::vector<double>& fill,
                 Interpolation interpolation) {
  const FloatingPointScope floating_point;
  const BlankTensor blank(image.spec());
  if (image.type() == DType::i32)
    Resampler<int32_t>(image, fill).run(map, Interpolation::nearest, reinterpret_cast<int32_t*>(blank.bytes));
  else if (image.type() == DType::u8)
    Resampler<uint8_t>(image, fill).run(map, interpolation, reinterpret_cast<uint8_t*>(blank.bytes));
  else
    Resampler<float>(image, fill).run(map, interpolation, reinterpret_cast<float*>(blank.bytes));
  return blank.tensor;
}

}  // namespace retrace

#include "retrace/data/resize.h"

#include <algorithm>
#include <cstring>

#include "retrace/base/fp_environment.h"
#include "retrace/data/stack.h"

namespace retrace {
namespace {

float rounded(double value, float) { return static_cast<float>(value); }
uint8_t rounded(double value, uint8_t) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

// The middle axis of values of outer x from x inner in another size.
std::vector<double> resized_axis(std::vector<double> values, int64_t outer, int64_t from, int64_t to, int64_t inner) {
  if (from == to) return values;
  const auto windows = resize_windows(from, to);
  std::vector<double> out;
  out.reserve(static_cast<size_t>(outer * to * inner));
  for (int64_t o = 0; o < outer; ++o)
    for (const auto& window : windows)
      for (int64_t c = 0; c < inner; ++c) {
        const double* value = values.data() + (o * from + window.first) * inner + c;
        double sum = 0;
        for (const double weight : window.weights) sum += weight * *value, value += inner;
        out.push_back(sum / window.sum);
      }
  return out;
}

template <class Value>
void interpolate(const Tensor& image, int64_t height, int64_t width, Value* to) {
  const Shape& from = image.shape();
  const auto* first = static_cast<const Value*>(image.data());
  std::vector<double> values(first, first + from.count());
  values = resized_axis(std::move(values), from[0], from[1], width, from[2]);
  values = resized_axis(std::move(values), 1, from[0], height, width * from[2]);
  for (const double value : values) *to++ = rounded(value, Value());
}

// Where the middle of pixel i of `to` lies among `from`.
int64_t nearest_of(int64_t i, int64_t from, int64_t to) { return (2 * i + 1) * from / (2 * to); }

void take_nearest(const Tensor& image, int64_t height, int64_t width, std::byte* to) {
  const Shape& from = image.shape();
  const size_t pixel = static_cast<size_t>(from[2]) * size_of(image.type());
  const auto* first = static_cast<const std::byte*>(image.data());
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x, to += pixel) {
      const int64_t index = nearest_of(y, from[0], height) * from[1] + nearest_of(x, from[1], width);
      std::memcpy(to, first + static_cast<size_t>(index) * pixel, pixel);
    }
}

}  // namespace

std::vector<ResizeWindow> resize_windows(int64_t from, int64_t to) {
  const FloatingPointScope floating_point;
  const double step = static_cast<double>(from) / static_cast<double>(to), reach = std::max(step, 1.0);
  std::vector<ResizeWindow> windows(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    ResizeWindow& window = windows[static_cast<size_t>(i)];
    const double centre = (static_cast<double>(i) + 0.5) * step;
    window.first = std::max<int64_t>(static_cast<int64_t>(centre - reach + 0.5), 0);
    const auto end = std::min(static_cast<int64_t>(centre + reach + 0.5), from);
    for (int64_t x = window.first; x < end; ++x) {
      const double off = (static_cast<double>(x) + 0.5 - centre) / reach;
      window.weights.push_back(std::max(off < 0 ? 1 + off : 1 - off, 0.0));
      window.sum += window.weights.back();
    }
  }
  return windows;
}

Tensor resized(const Tensor& image, int64_t height, int64_t width, Interpolation interpolation) {
  const FloatingPointScope floating_point;
  const BlankTensor blank(TensorSpec{image.type(), {height, width, image.shape()[2]}, Labels("SSC"), {}});
  if (interpolation == Interpolation::nearest || image.type() == DType::i32)
    take_nearest(image, height, width, blank.bytes);
  else if (image.type() == DType::u8)
    interpolate(image, height, width, reinterpret_cast<uint8_t*>(blank.bytes));
  else
    interpolate(image, height, width, reinterpret_cast<float*>(blank.bytes));
  return blank.tensor;
}

}  // namespace retrace

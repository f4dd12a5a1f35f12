// Tensors of numbers that follow a formula.
#include <fmt/format.h>

#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/tensor/tensor.h"

namespace retrace {
namespace {

// Elements f(0), f(1), ... in binary64, rounded once to a float type.
template <class F>
Tensor tensor_of(const Shape& shape, DType type, Place place, const F& f) {
  const auto count = static_cast<size_t>(with_place(place, [&] { return shape.count(); }));
  const auto fill = [&](auto example) {
    using T = decltype(example);
    const auto values = std::make_unique<T[]>(count);
    for (size_t i = 0; i < count; ++i) {
      const double value = f(static_cast<int64_t>(i));
      check_fits(type, value, place);
      values[i] = static_cast<T>(value);
    }
    return Tensor::from(std::span<const T>(values.get(), count), shape, "", place);
  };
  try {
    switch (type) {
      case DType::f32: return fill(float{});
      case DType::f64: return fill(double{});
      case DType::i32: return fill(int32_t{});
      case DType::u8: return fill(uint8_t{});
      case DType::boolean: break;
    }
    return fill(bool{});
  } catch (const std::bad_alloc&) {
    const TensorSpec spec{type, shape, {}, {}};
    throw no_memory(spec.bytes(), place).got(spec.text());
  }
}

}  // namespace

Tensor Tensor::arange(double begin, double end, double step, DType type, Place place) {
  const FloatingPointScope floating_point;
  const double steps = std::ceil((end - begin) / step);  // not finite if one of them is not
  if (!std::isfinite(begin) || !std::isfinite(end) || !std::isfinite(step) || step == 0 ||
      steps > static_cast<double>(kMaxElements))
    throw Error(ErrorKind::usage, 168, fmt::format("arange: no tensor leads from {} to {} by {}", begin, end, step))
        .where(place)
        .expected(fmt::format("finite numbers, a step other than 0, and at most {} elements", kMaxElements));
  const int64_t count = steps > 0 ? static_cast<int64_t>(steps) : 0;
  return tensor_of({count}, type, place, [&](int64_t i) { return begin + static_cast<double>(i) * step; });
}

Tensor Tensor::linspace(double begin, double end, int64_t count, DType type, Place place) {
  const FloatingPointScope floating_point;
  if (!std::isfinite(end - begin) || count < 0)
    throw Error(ErrorKind::usage, 169, fmt::format("linspace: no {} numbers lead from {} to {}", count, begin, end))
        .where(place)
        .expected("finite numbers whose difference is finite, and a count of 0 or more");
  const double step = count > 1 ? (end - begin) / static_cast<double>(count - 1) : 0;
  return tensor_of({count}, type, place,
                   [&](int64_t i) { return i > 0 && i == count - 1 ? end : begin + static_cast<double>(i) * step; });
}

Tensor Tensor::eye(int64_t size, DType type, Place place) {
  return tensor_of({size, size}, type, place, [&](int64_t i) { return i / size == i % size ? 1.0 : 0.0; });
}

}  // namespace retrace

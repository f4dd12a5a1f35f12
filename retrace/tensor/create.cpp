// Tensors of one number, or of numbers that follow a formula.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "retrace/base/fp_environment.h"
#include "retrace/tensor/tensor.h"

namespace retrace {
namespace {

// An element of the number `value`, which its type can hold or rounds; bf16 and f16 are rounded from f32.
template <class T>
T element_of(double value) {
  if constexpr (std::same_as<T, BFloat16>)
    return to_bf16(static_cast<float>(value));
  else if constexpr (std::same_as<T, Float16>)
    return to_f16(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

// What `write` puts into the elements, a std::span<T> for the T of the type.
template <class Write>
Tensor written(const Shape& shape, DType type, std::string_view labels, Place place, const Write& write) {
  const auto count = static_cast<size_t>(with_place(place, [&] { return shape.count(); }));
  const auto with = [&](auto example) {
    using T = decltype(example);
    const auto values = std::make_unique<T[]>(count);
    write(std::span<T>(values.get(), count));
    const std::span<const T> made(values.get(), count);
    if constexpr (std::same_as<T, int64_t>)
      return Tensor::from_i64(made, shape, labels, place);
    else
      return Tensor::from(made, shape, labels, place);
  };
  try {
    switch (type) {
      case DType::f32: return with(float{});
      case DType::f64: return with(double{});
      case DType::i32: return with(int32_t{});
      case DType::u8: return with(uint8_t{});
      case DType::bf16: return with(BFloat16{});
      case DType::f16: return with(Float16{});
      case DType::i64: return with(int64_t{});
      case DType::boolean: break;
    }
    return with(bool{});
  } catch (const std::bad_alloc&) {
    const TensorSpec spec{type, shape, {}, {}};
    throw no_memory(spec.bytes(), place).got(spec.text());
  }
}

// Elements f(0), f(1), ... in binary64, rounded once to a float type.
template <class F>
Tensor tensor_of(const Shape& shape, DType type, Place place, const F& f) {
  return written(shape, type, "", place, [&](auto elements) {
    for (size_t i = 0; i < elements.size(); ++i) {
      const double value = f(static_cast<int64_t>(i));
      check_fits(type, value, place);
      elements[i] = element_of<typename decltype(elements)::value_type>(value);
    }
  });
}

}  // namespace

Tensor Tensor::full(double value, const Shape& shape, DType type, std::string_view labels, Place place) {
  const FloatingPointScope floating_point;  // the rounding to `type`
  check_fits(type, value, place);
  return written(shape, type, labels, place, [&](auto elements) {
    std::ranges::fill(elements, element_of<typename decltype(elements)::value_type>(value));
  });
}

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

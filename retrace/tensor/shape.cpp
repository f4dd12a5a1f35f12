#include "retrace/tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "retrace/tensor/dtype.h"

namespace retrace {

Shape::Shape(std::span<const int64_t> values) {
  for (int64_t value : values) push_back(value);
}

void Shape::push_back(int64_t value) {
  if (rank_ == kMaxRank)
    throw Error(ErrorKind::usage, 101, fmt::format("a tensor has at most {} axes", kMaxRank))
        .help("merge axes with reshape");
  values_[static_cast<size_t>(rank_++)] = value;
}

int64_t Shape::count() const { return count(0, rank_); }

int64_t Shape::count(int first, int last) const {
  int64_t product = 1;
  bool empty = false;  // a 0 among the sizes does not excuse the others: their order may change
  for (int i = first; i < last; ++i) {
    const int64_t size = (*this)[i];
    empty |= size == 0;
    if (size < 0)
      throw Error(ErrorKind::usage, 102, fmt::format("the shape {} has a negative size", text()))
          .expected("sizes of 0 or more");
    if (size > 0 && product > kMaxElements / size)
      throw Error(ErrorKind::usage, 107, fmt::format("the shape {} has too many elements", text()))
          .expected(fmt::format("sizes with a product of at most {}", kMaxElements));
    if (size > 0) product *= size;
  }
  return empty ? 0 : product;
}

bool Shape::contains(int64_t value) const { return std::find(begin(), end(), value) != end(); }

bool Shape::operator==(const Shape& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

std::string Shape::text() const { return fmt::format("[{}]", fmt::join(begin(), end(), ",")); }

Shape row_major_strides(const Shape& shape) {
  Shape strides = shape;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result) {
  const int rank = std::max(a.rank(), b.rank());
  result = Shape();
  for (int i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.rank() ? 1 : a[i - (rank - a.rank())];
    const int64_t y = i < rank - b.rank() ? 1 : b[i - (rank - b.rank())];
    if (x != y && x != 1 && y != 1) return false;
    result.push_back(x == 1 ? y : x);
  }
  return true;
}

std::string_view name_of(DType type) {
  constexpr std::string_view names[] = {"f32", "f64", "i32", "u8", "bool"};
  return names[static_cast<size_t>(type)];
}

bool parse_dtype(std::string_view name, DType& type) {
  for (auto candidate : {DType::f32, DType::f64, DType::i32, DType::u8, DType::boolean})
    if (name == name_of(candidate)) return type = candidate, true;
  return false;
}

}  // namespace retrace

#include "retrace/tensor/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "retrace/base/joined.h"
#include "retrace/tensor/dtype.h"

namespace retrace {

Shape::Shape(std::span<const int64_t> values, Place place) {
  for (int64_t value : values) push_back(value, place);
}

void Shape::refuse_axes(Place place) {
  throw Error(ErrorKind::usage, 101, fmt::format("a tensor has at most {} axes", kMaxRank))
      .where(place)
      .help("merge axes with reshape");
}

int64_t Shape::back(Place place) const {
  if (rank_ == 0) throw Error(ErrorKind::usage, 127, "the last size is asked of a shape without axes").where(place);
  return values_[static_cast<size_t>(rank_ - 1)];
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

std::string Shape::text() const { return fmt::format("[{}]", joined(*this, ",")); }

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.text(); }

Shape sample_shape(const Shape& batch) {
  return batch.rank() == 0 ? batch : Shape(std::span(batch.begin() + 1, batch.end()));
}

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
  constexpr std::string_view names[] = {"f32", "f64", "i32", "u8", "bool", "bf16", "f16", "i64"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(names) ? names[index] : "no type";
}

bool parse_dtype(std::string_view name, DType& type) {
  for (auto candidate :
       {DType::f32, DType::f64, DType::i32, DType::u8, DType::boolean, DType::bf16, DType::f16, DType::i64})
    if (name == name_of(candidate)) return type = candidate, true;
  return false;
}

bool can_hold(DType type, double value) {
  if (is_float(type)) return true;
  // NaN fails, too; in the range the conversion is exact or truncates.
  const auto whole_from = [&](double least, double most) {
    return value >= least && value <= most && value == static_cast<double>(static_cast<int64_t>(value));
  };
  if (type == DType::i64) return whole_from(-0x1p63, 0x1.fffffffffffffp62);
  if (type == DType::i32) return whole_from(-2147483648.0, 2147483647.0);
  return whole_from(0, type == DType::u8 ? 255 : 1);
}

std::string_view range_of(DType type) {
  if (type == DType::i64) return "whole numbers from -2^63 to below 2^63";
  if (type == DType::i32) return "whole numbers from -2147483648 to 2147483647";
  return type == DType::u8 ? "whole numbers from 0 to 255" : "0 or 1";
}

}  // namespace retrace

#pragma once
// Shapes.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "retrace/base/error.h"

namespace retrace {

constexpr int kMaxRank = 8;
constexpr int64_t kMaxElements = int64_t{1} << 40;  // so that no size in bytes overflows

// A short list of integers without allocation: shapes, axes, strides, paddings.
class Shape {
 public:
  Shape() = default;
  // Throw Error(usage) above kMaxRank entries.
  Shape(std::initializer_list<int64_t> values, Place place = Place::here())
      : Shape(std::span(values.begin(), values.size()), place) {}
  explicit Shape(std::span<const int64_t> values, Place place = Place::here());
  explicit Shape(const std::vector<int64_t>& values, Place place = Place::here()) : Shape(std::span(values), place) {}

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](int i) const { return values_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return values_[static_cast<size_t>(i)]; }
  int64_t back(Place place = Place::here()) const;  // throws Error(usage) for rank 0
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }
  void push_back(int64_t value, Place place = Place()) {
    if (rank_ == kMaxRank) refuse_axes(place);
    values_[static_cast<size_t>(rank_++)] = value;
  }

  // Product of all entries; 1 for rank 0. Throws Error(usage) for a negative one, or if the product of those other
  // than 0 exceeds kMaxElements.
  int64_t count() const;
  // Product of entries first..last-1.
  int64_t count(int first, int last) const;
  bool contains(int64_t value) const;
  bool operator==(const Shape& other) const;

  // "[32,28,28,1]".
  std::string text() const;

 private:
  std::array<int64_t, kMaxRank> values_{};
  int rank_ = 0;
  [[noreturn]] static void refuse_axes(Place place);
};

// Writes text().
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The shape of one sample of `batch`: without the first axis; rank 0 stays as it is.
Shape sample_shape(const Shape& batch);

// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);

// Positional broadcasting: last axes aligned, missing leading axes count as 1, a 1 stretches. False if sizes clash.
bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result);

}  // namespace retrace

#pragma once
// Which axes of a tensor a function works along.

#include <concepts>
#include <initializer_list>
#include <string_view>

#include "retrace/tensor/spec.h"

namespace retrace {

// Axes as users name them: by an index (negative: from the end), by a list of indices, or by labels.
//
//   sum(x, 0);  mean(x, {1, -1});  mean(x, "S");  softmax(x, "C")
//
// A label names every axis that has it: "S" means both axes of an image. Nothing named is what the function says,
// mostly all axes.
class Axes {
 public:
  Axes() = default;
  template <std::integral Index>
  Axes(Index axis) : indices_{static_cast<int64_t>(axis)} {}
  // Throw Error(usage) for more than kMaxRank entries, and for what is no label.
  Axes(std::initializer_list<int64_t> axes, Place place = Place::here()) : indices_(axes, place) {}
  Axes(const Shape& axes) : indices_(axes) {}
  template <class Text>
    requires(std::is_convertible_v<const Text&, std::string_view>)
  Axes(const Text& labels, Place place = Place::here()) : Axes(Labels(), labels, place) {}

  // Whether nothing is named.
  bool empty() const { return indices_.empty() && labels_.empty(); }
  // The axes of x from 0 to rank - 1, in ascending order; none if nothing is named. Throws Error(usage) that begins
  // with the name of the function: for an axis that x lacks or that is named twice, and for labels that x lacks.
  Shape of(const TensorSpec& x, std::string_view function, Place place = Place::here()) const;
  // The same where nothing named means all axes.
  Shape of_or_all(const TensorSpec& x, std::string_view function, Place place = Place::here()) const;
  // The one axis that is named. Throws Error(usage) as of(), and for none or several.
  int one_of(const TensorSpec& x, std::string_view function, Place place = Place::here()) const;
  // x with new axes of size 1. Indices are those of the result, and each new axis is labelled U: if that leaves the
  // order B T S C U, the result has no labels. Labels go to their places in that order, behind equal ones. Throws
  // Error(usage) where nothing is named, for an axis that the result lacks or that is named twice, for more than
  // kMaxRank axes, for a second B, T or C, and for labels where x has axes and none is labelled.
  TensorSpec added_to(const TensorSpec& x, std::string_view function, Place place = Place::here()) const;

 private:
  Axes(Labels, std::string_view labels, Place place);
  TensorSpec with_indices(const TensorSpec& x, std::string_view function, Place place) const;
  TensorSpec with_labels(const TensorSpec& x, std::string_view function, Place place) const;
  Shape indices_;
  Labels labels_;
};

// Axis -rank..rank-1 to 0..rank-1. Throws Error(usage) for any other.
int normalized_axis(int64_t axis, int rank, std::string_view function, Place place);

}  // namespace retrace

#include "retrace/tensor/axes.h"

#include <fmt/format.h>

#include "retrace/base/error.h"

namespace retrace {
namespace {

// Of a tensor with labels: `labelled B, S, C`.
std::string labels_text(const Labels& labels) {
  std::string text;
  for (char label : labels.text())
    if (text.find(label) == std::string::npos)
      text += text.empty() ? std::string(1, label) : fmt::format(", {}", label);
  return text;
}

Error no_label(char label, const TensorSpec& x, std::string_view function, Place place) {
  Error error(ErrorKind::usage, 115, fmt::format("{}: no axis is labelled {}", function, label));
  error.where(place).got(x.text());
  if (x.labels.empty()) return error.expected("a tensor with labels").help("name axes by their numbers");
  return error.expected(fmt::format("a label of the tensor: {}", labels_text(x.labels)));
}

}  // namespace

int normalized_axis(int64_t axis, int rank, std::string_view function, Place place) {
  const int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front >= 0 && from_front < rank) return static_cast<int>(from_front);
  throw Error(ErrorKind::usage, 134, fmt::format("{}: axis {} does not exist", function, axis))
      .where(place)
      .got(fmt::format("a tensor with {} axes", rank))
      .expected(rank == 0 ? std::string("no axis: the tensor has rank 0")
                          : fmt::format("an axis from {} to {}", -rank, rank - 1));
}

Axes::Axes(Labels, std::string_view labels, Place place) : labels_(with_place(place, [&] { return Labels(labels); })) {}

Shape Axes::of(const TensorSpec& x, std::string_view function, Place place) const {
  const int rank = x.shape.rank();
  std::array<bool, kMaxRank> named{};
  for (char label : labels_.text()) {
    if (x.labels.find(label) < 0) throw no_label(label, x, function, place);
    for (int i = 0; i < rank; ++i)
      if (x.labels[i] == label) named[static_cast<size_t>(i)] = true;
  }
  for (int64_t axis : indices_) {
    const int found = normalized_axis(axis, rank, function, place);
    if (named[static_cast<size_t>(found)])
      throw Error(ErrorKind::usage, 137,
                  fmt::format("{}: axis {} stands twice in the axes {}", function, found, indices_.text()))
          .where(place)
          .expected("each axis once");
    named[static_cast<size_t>(found)] = true;
  }
  Shape result;
  for (int i = 0; i < rank; ++i)
    if (named[static_cast<size_t>(i)]) result.push_back(i);
  return result;
}

Shape Axes::of_or_all(const TensorSpec& x, std::string_view function, Place place) const {
  if (!empty()) return of(x, function, place);
  Shape all;
  for (int i = 0; i < x.shape.rank(); ++i) all.push_back(i);
  return all;
}

int Axes::one_of(const TensorSpec& x, std::string_view function, Place place) const {
  const Shape found = of(x, function, place);
  if (found.rank() == 1) return static_cast<int>(found[0]);
  throw Error(ErrorKind::usage, 114, fmt::format("{}: {} axes are named", function, found.rank()))
      .where(place)
      .got(found.empty() ? "none" : fmt::format("the axes {} of {}", found.text(), x.text()))
      .expected("one axis");
}

}  // namespace retrace

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

TensorSpec Axes::with_indices(const TensorSpec& x, std::string_view function, Place place) const {
  const int rank = x.shape.rank() + indices_.rank();
  TensorSpec result = x;
  if (rank <= kMaxRank) {
    result.shape = {};
    for (int i = 0; i < rank; ++i) result.shape.push_back(0);
  } else {
    for (int i = x.shape.rank(); i < rank; ++i) result.shape.push_back(1, place);  // refuses
  }
  for (int64_t axis : indices_) {
    const int64_t found = axis < 0 ? axis + rank : axis;
    if (found < 0 || found >= rank)
      throw Error(ErrorKind::usage, 134, fmt::format("{}: axis {} does not exist in the result", function, axis))
          .where(place)
          .got(fmt::format("{}, to which {} axes are added", x.text(), indices_.rank()))
          .expected(fmt::format("an axis from {} to {}", -rank, rank - 1));
    if (result.shape[static_cast<int>(found)] == 1)
      throw Error(ErrorKind::usage, 137,
                  fmt::format("{}: axis {} stands twice in the axes {}", function, found, indices_.text()))
          .where(place)
          .expected("each axis once");
    result.shape[static_cast<int>(found)] = 1;
  }
  Labels labels;
  for (int i = 0, from = 0; i < rank; ++i) {
    const bool added = result.shape[i] == 1;
    if (!x.labels.empty()) labels.push_back(added ? 'U' : x.labels[from]);
    if (!added) result.shape[i] = x.shape[from++];
  }
  const Shape order = canonical_permutation(labels);
  for (int i = 0; i < order.rank(); ++i)
    if (order[i] != i) labels = {};
  result.labels = labels;
  return result;
}

TensorSpec Axes::with_labels(const TensorSpec& x, std::string_view function, Place place) const {
  if (x.labels.empty() && x.shape.rank() > 0)
    throw Error(ErrorKind::usage, 148, fmt::format("{}: an axis labelled {} has no place", function, labels_.text()))
        .where(place)
        .got(x.text())
        .expected("a tensor with labels")
        .help("name the place of the axis by its number, or give x labels with reshape");
  const auto all = with_place(place, [&] { return Labels(std::string(x.labels.text()).append(labels_.text())); });
  const Shape order = canonical_permutation(all);
  TensorSpec result = x;
  result.shape = {}, result.labels = permute(all, order);
  for (int64_t from : order) result.shape.push_back(from < x.shape.rank() ? x.shape[static_cast<int>(from)] : 1, place);
  return result;
}

TensorSpec Axes::added_to(const TensorSpec& x, std::string_view function, Place place) const {
  if (empty())
    throw Error(ErrorKind::usage, 114, fmt::format("{}: 0 axes are named", function))
        .where(place)
        .got("none")
        .expected("one axis or more");
  return labels_.empty() ? with_indices(x, function, place) : with_labels(x, function, place);
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

#include "retrace/tensor/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace retrace {
namespace {
constexpr std::string_view kCanonical = "BTSCU";
}

Labels::Labels(std::string_view text) {
  for (char label : text) {
    if (kCanonical.find(label) == std::string_view::npos)
      throw Error(ErrorKind::usage, 110, fmt::format("unknown label '{}' in \"{}\"", label, text))
          .expected("labels B (batch), T (time), S (space), C (channel), U (unspecified)");
    if (label != 'S' && label != 'U' && find(label) >= 0)
      throw Error(ErrorKind::usage, 111, fmt::format("label '{}' stands twice in \"{}\"", label, text))
          .expected("B, T and C at most once; S and U may repeat")
          .help("use U for an axis without a meaning of its own");
    push_back(label);
  }
}

void Labels::push_back(char label) {
  if (size_ == kMaxRank) throw Error(ErrorKind::usage, 101, fmt::format("a tensor has at most {} axes", kMaxRank));
  text_[static_cast<size_t>(size_++)] = label;
}

int Labels::find(char label) const {
  const auto at = text().find(label);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

Shape canonical_permutation(const Labels& labels) {
  std::vector<int64_t> axes(static_cast<size_t>(labels.size()));
  std::iota(axes.begin(), axes.end(), 0);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) {
    return kCanonical.find(labels[static_cast<int>(a)]) < kCanonical.find(labels[static_cast<int>(b)]);
  });
  return Shape(axes);
}

Labels permute(const Labels& labels, const Shape& permutation) {
  Labels result;
  if (labels.empty()) return result;
  for (int64_t axis : permutation) result.push_back(labels[static_cast<int>(axis)]);
  return result;
}

}  // namespace retrace

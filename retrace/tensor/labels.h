#pragma once
// Labels of axes.

#include <array>
#include <string>
#include <string_view>

#include "retrace/tensor/shape.h"

namespace retrace {

// One label for each axis: B batch, T time, S space, C channel, U unspecified. S and U may repeat. Canonical order: B,
// T, S..., C, U...; a tensor made with labels in another order is permuted to it.
class Labels {
 public:
  Labels() = default;  // unlabelled
  // Throws Error(usage) for an unknown label or a repeated B, T or C.
  explicit Labels(std::string_view text);

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char operator[](int i) const { return text_[static_cast<size_t>(i)]; }
  std::string_view text() const { return {text_.data(), static_cast<size_t>(size_)}; }
  // Axis of the first such label, or -1.
  int find(char label) const;
  bool operator==(const Labels& other) const { return text() == other.text(); }
  void push_back(char label);

 private:
  std::array<char, kMaxRank> text_{};
  int size_ = 0;
};

// permutation[i] = axis of the given order that comes i-th in canonical order; stable for equal labels.
Shape canonical_permutation(const Labels& labels);

// Label i of the result is label permutation[i].
Labels permute(const Labels& labels, const Shape& permutation);

}  // namespace retrace

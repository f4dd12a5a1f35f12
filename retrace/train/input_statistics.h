#pragma once
// Statistics of inputs, sample by sample (docs/numerics/training.md 6).

#include <cstdint>
#include <span>
#include <vector>

#include "retrace/nn/layer.h"

namespace retrace {

// Moments and limits of `groups` groups of numbers: element i of a sample belongs to group i mod groups. In binary64;
// samples are added in their order.
class InputMoments {
 public:
  // `size`: the numbers of a sample, a multiple of `groups`.
  InputMoments(int64_t groups, int64_t size);

  void add(std::span<const float> sample);
  // Whether all numbers so far are finite.
  bool is_finite() const;
  // One number for each group, rounded to f32 once. A scale that is 0 or subnormal there is 1.
  std::vector<float> offset(nn::Normalization normalization) const;
  std::vector<float> scale(nn::Normalization normalization) const;

 private:
  struct Group {
    double mean = 0, m2 = 0, low = 0, high = 0;
  };
  double offset_of(const Group& group, nn::Normalization normalization) const;
  double scale_of(const Group& group, nn::Normalization normalization) const;
  void merge(Group& all, const Group& sample) const;

  std::vector<Group> groups_, sample_;
  int64_t in_sample_;    // numbers of a group in one sample
  int64_t samples_ = 0;  // so far
};

}  // namespace retrace

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
  explicit InputMoments(int64_t groups);

  // Of a multiple of `groups` numbers; nothing is added of none.
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
  // `count`: the numbers of a group in the sample.
  void merge(Group& all, const Group& sample, int64_t count) const;

  std::vector<Group> groups_, sample_;
  int64_t count_ = 0;  // numbers of a group so far
};

}  // namespace retrace

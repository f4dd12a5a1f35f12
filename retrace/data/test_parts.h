#pragma once
// The share of a data set that is put aside for tests.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// Which samples train and which test, each in the order of the draw.
struct TestParts {
  std::vector<int64_t> train, test;
};

// What a draw has regard to.
struct TestDraw {
  double share = 0;  // of the samples, above 0 and below 1
  uint64_t seed = 0;
  // The class of each sample: each class gives its share, and keeps one sample in training. Empty: there are none.
  std::span<const int32_t> classes = {};
  // For each column of categories, the number of the category of each sample: one sample of each stays in training.
  std::span<const std::vector<int32_t>> categories = {};
};

// Error(usage) for a share that is not above 0 and below 1.
void check_test_share(double share, Place place);

// How many of so many samples a share is: rounded, at least one, and not all.
int64_t test_samples_of(double share, int64_t samples);

// In a random order of the samples, which depends on their number and the seed alone, those are put aside that come
// first in their class, until each class has given its share. Shares of classes are rounded so that their sum is
// test_samples_of(), or less where classes and categories have too few samples. Error(bad_data) for less than two
// samples, and where no sample may be put aside.
TestParts draw_test_parts(int64_t samples, const TestDraw& draw);

// What variable `variable` of each observation is, a single number of a class; observations are read where their source
// does not know it. Nothing if it is none.
std::optional<std::vector<int32_t>> labels_of(const Datastore& data, int variable);

}  // namespace retrace

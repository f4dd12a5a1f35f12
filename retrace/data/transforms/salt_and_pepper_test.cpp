#include <gtest/gtest.h>

#include "retrace/data/array_store.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

Datastore noisy(double share, uint64_t seed = 3) {
  const Datastore store = array_store({Tensor::full(0.5, {4, 30, 30, 1}), Tensor::full(7, {4}, DType::i32)});
  const auto& kind = kind_of(all_transforms(), "salt-and-pepper", "transform", {});
  return transform(store, kind.make({{"noise_share", share}}), {.seed = seed});
}

std::vector<float> image(const Datastore& store, int64_t sample, int64_t pass = 0) {
  return store.source()->get(sample, pass).at(0).to_vector<float>();
}

TEST(SaltAndPepper, ChangesTheShareOfTheInput) {
  int64_t black = 0, white = 0;
  for (int64_t sample = 0; sample < 4; ++sample)
    for (const float x : image(noisy(0.5), sample)) {
      black += x == 0, white += x == 1;
      EXPECT_TRUE(x == 0 || x == 1 || x == 0.5f) << x;
    }
  EXPECT_NEAR(static_cast<double>(black), 900, 100);
  EXPECT_NEAR(static_cast<double>(white), 900, 100);
  EXPECT_EQ(noisy(0.5).source()->get(1, 0).at(1).item<int32_t>(), 7);
  EXPECT_EQ(image(noisy(0), 0), std::vector<float>(900, 0.5f));
}

TEST(SaltAndPepper, DependsOnSeedSampleAndPass) {
  const auto first = image(noisy(0.5), 0);
  EXPECT_EQ(first, image(noisy(0.5), 0));
  EXPECT_NE(first, image(noisy(0.5), 1));
  EXPECT_NE(first, image(noisy(0.5), 0, 1));
  EXPECT_NE(first, image(noisy(0.5, 4), 0));
}

}  // namespace
}  // namespace retrace

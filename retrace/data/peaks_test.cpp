#include "retrace/data/datasets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/base/hash.h"

namespace retrace {
namespace {

using namespace datasets;

TEST(Peaks, FollowTheFormula) {
  for (double x = -3; x <= 3; x += 0.37)
    for (double y = -3; y <= 3; y += 0.41) {
      const double wanted = 3 * std::pow(1 - x, 2) * std::exp(-x * x - std::pow(y + 1, 2)) -
                            10 * (x / 5 - std::pow(x, 3) - std::pow(y, 5)) * std::exp(-x * x - y * y) -
                            std::exp(-std::pow(x + 1, 2) - y * y) / 3;
      EXPECT_NEAR(peaks_surface(x, y), wanted, 1e-13) << x << " " << y;
    }
}

TEST(Peaks, ObservationsAreThePointsOfAGrid) {
  const Datastore train = peaks(Split::train, 4), test = peaks(Split::test, 4);
  ASSERT_EQ(train.size(), 16);
  ASSERT_EQ(test.size(), 9);
  EXPECT_EQ(train.get(0)[0].to_vector<float>(), (std::vector<float>{-3, -3}));
  EXPECT_EQ(train.get(1)[0].to_vector<float>(), (std::vector<float>{-3, -1}));
  EXPECT_EQ(train.get(15)[0].to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(test.get(3)[0].to_vector<float>(), (std::vector<float>{0, -2}));
  EXPECT_EQ(train.get(1)[1].to_vector<float>(), std::vector<float>{static_cast<float>(peaks_surface(-3, -1))});
  EXPECT_EQ(train.get(1)[0].labels(), "C");
  EXPECT_EQ(train.get(1)[1].labels(), "C");
}

TEST(Peaks, SoManyPointsLieOverTheWholeSurface) {
  const Datastore train = peaks_points(Split::train, 16), test = peaks_points(Split::test, 9);
  ASSERT_EQ(train.size(), 16);
  ASSERT_EQ(test.size(), 9);
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_EQ(train.get(i)[0].to_vector<float>(), peaks(Split::train, 4).get(i)[0].to_vector<float>()) << i;
  for (int64_t i = 0; i < 9; ++i)
    EXPECT_EQ(test.get(i)[0].to_vector<float>(), peaks(Split::test, 4).get(i)[0].to_vector<float>()) << i;
  EXPECT_EQ(peaks_points(Split::test, 1).get(0)[0].to_vector<float>(), (std::vector<float>{0, 0}));
  for (const int64_t all : {int64_t{0}, int64_t{40'000}, int64_t{50'000}, int64_t{1} << 40})
    EXPECT_EQ(peaks_points(Split::train, all).size(), 40'000) << all;
  EXPECT_EQ(peaks_points(Split::test, 39'601).size(), 39'601);
  for (const int64_t none : {-1, 1, 2, 15, 39'999}) EXPECT_THROW(peaks_points(Split::train, none), Error) << none;
  EXPECT_THROW(peaks_points(Split::test, 2), Error);
}

uint64_t hash_of(Split split) {
  const Datastore store = peaks(split);
  std::vector<int64_t> all(static_cast<size_t>(store.size()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  uint64_t hash = 0;
  for (const Tensor& tensor : store.source()->gather(all, 0, 2))
    hash = hash_combine(hash, hash_bytes({static_cast<const char*>(tensor.data()), tensor.spec().bytes()}));
  return hash;
}

// Every machine, compiler and preset computes these very heights.
TEST(Peaks, AreTheSameEverywhere) {
  EXPECT_EQ(hash_of(Split::train), 9373199276531267054u);
  EXPECT_EQ(hash_of(Split::test), 1120044516034540565u);
}

}  // namespace
}  // namespace retrace

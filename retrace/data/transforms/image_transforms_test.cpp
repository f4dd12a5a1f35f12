// Flips, crops and normalization, against closed forms.
#include <gtest/gtest.h>

#include "retrace/data/array_store.h"
#include "retrace/data/transform_kind.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t kCount = 64, kHeight = 3, kWidth = 4;

// Value 1 + 100 n + 10 y + x in the red of image n, its negative in the other channel; the same as second variable.
Datastore numbered() {
  std::vector<float> values;
  for (int64_t n = 0; n < kCount; ++n)
    for (int64_t y = 0; y < kHeight; ++y)
      for (int64_t x = 0; x < kWidth; ++x)
        for (const int sign : {1, -1}) values.push_back(static_cast<float>(sign * (1 + 100 * n + 10 * y + x)));
  const Tensor images = Tensor::from(values, {kCount, kHeight, kWidth, 2}, "BSSC");
  return array_store({images, images, Tensor::zeros({kCount}, DType::i32, "B")});
}

Datastore transformed(const std::string& name, const OptionValues& options = {}, uint64_t seed = 3) {
  const auto& kind = kind_of(all_transforms(), name, "transform", {});
  return transform(numbered(), kind.make(options), {.seed = seed});
}

std::vector<float> image(const Datastore& store, int64_t sample, int64_t pass = 0, size_t variable = 0) {
  return store.source()->get(sample, pass).at(variable).to_vector<float>();
}

// The image n where pixel (y, x) is what was at (y + top, x + left), or x mirrored.
std::vector<float> moved(int64_t n, int64_t top, int64_t left, bool mirrored) {
  std::vector<float> values;
  for (int64_t y = 0; y < kHeight; ++y)
    for (int64_t x = 0; x < kWidth; ++x) {
      const int64_t from_y = y + top, from_x = mirrored ? kWidth - 1 - x : x + left;
      const bool inside = from_y >= 0 && from_y < kHeight && from_x >= 0 && from_x < kWidth;
      for (const int sign : {1, -1})
        values.push_back(inside ? static_cast<float>(sign * (1 + 100 * n + 10 * from_y + from_x)) : 0.0f);
    }
  return values;
}

TEST(RandomHorizontalFlip, MirrorsEverySecondImage) {
  const auto store = transformed("random-horizontal-flip");
  int flips = 0;
  for (int64_t n = 0; n < kCount; ++n) {
    const auto found = image(store, n);
    const bool flipped = found == moved(n, 0, 0, true);
    EXPECT_TRUE(flipped || found == moved(n, 0, 0, false)) << n;
    EXPECT_EQ(image(store, n, 0, 1), found) << "a target that is an image moves with it";
    flips += flipped;
  }
  EXPECT_NEAR(flips, kCount / 2, 12);
}

TEST(RandomCrop, MovesImagesByEveryDistanceInZeros) {
  const auto store = transformed("random-crop", {{"crop_padding", int64_t{1}}});
  std::vector<int> seen(9);
  for (int64_t n = 0; n < kCount; ++n) {
    const auto found = image(store, n);
    bool known = false;
    for (int64_t top = -1; top <= 1; ++top)
      for (int64_t left = -1; left <= 1; ++left)
        if (found == moved(n, top, left, false)) known = true, ++seen[static_cast<size_t>(3 * top + left + 4)];
    EXPECT_TRUE(known) << n;
    EXPECT_EQ(image(store, n, 0, 1), found);
  }
  for (const int times : seen) EXPECT_GT(times, 0);
  // More padding than there is image: nothing is left of some, and nothing else is read.
  const auto far = transformed("random-crop", {{"crop_padding", int64_t{9}}});
  int empty = 0;
  for (int64_t n = 0; n < kCount; ++n) empty += image(far, n) == std::vector<float>(kHeight * kWidth * 2, 0.0f);
  EXPECT_GT(empty, kCount / 2);
}

TEST(ImageTransforms, DependOnSeedSampleAndPass) {
  const OptionValues options{{"crop_padding", int64_t{4}}};
  for (const std::string name : {"random-horizontal-flip", "random-crop"}) {
    const auto all = [&](uint64_t seed, int64_t pass) {
      std::vector<float> values;
      for (int64_t n = 0; n < kCount; ++n)
        for (const float value : image(transformed(name, options, seed), n, pass)) values.push_back(value);
      return values;
    };
    EXPECT_EQ(all(3, 0), all(3, 0));
    EXPECT_NE(all(3, 0), all(4, 0));
    EXPECT_NE(all(3, 0), all(3, 1));
    EXPECT_EQ(error_of([&] {
                const auto& kind = kind_of(all_transforms(), name, "transform", {});
                transform(array_store({Tensor::zeros({2, 5}, DType::f32, "BC")}), kind.make(options)).get(0);
              }).substr(0, 40),
              ("error[RT0345]: transform \"" + name + "\": the input is no image").substr(0, 40));
  }
}

TEST(Normalize, IsOneDifferenceAndOneQuotient) {
  const auto store =
      transformed("normalize", {{"normalize_mean", Numbers{0.1}}, {"normalize_deviation", Numbers{0.3}}});
  const auto before = image(numbered(), 5), after = image(store, 5);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], (before[i] - 0.1f) / 0.3f);
  EXPECT_EQ(image(store, 5, 0, 1), before) << "targets stay";
  EXPECT_TRUE(kind_of(all_transforms(), "normalize", "transform", {}).every_set);
  EXPECT_EQ(error_of([] {
              const auto& kind = kind_of(all_transforms(), "normalize", "transform", {});
              const auto make = kind.make({{"normalize_mean", Numbers{0}}, {"normalize_deviation", Numbers{1}}});
              transform(array_store({Tensor::zeros({2, 5}, DType::u8)}), make).get(0, Place{"train.cpp", 5});
            }),
            "error[RT0346]: transform \"normalize\": the input is not f32\n  where:    train.cpp:5\n  got:      u8[5]");
}

TEST(Normalize, TakesANumberForEachChannel) {
  const auto store =
      transformed("normalize", {{"normalize_mean", Numbers{0.1, -7}}, {"normalize_deviation", Numbers{0.3, 4}}});
  const auto before = image(numbered(), 5), after = image(store, 5);
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], i % 2 ? (before[i] + 7.0f) / 4.0f : (before[i] - 0.1f) / 0.3f) << i;
  const auto error = error_of([] {
    transformed("normalize", {{"normalize_mean", Numbers{1, 2, 3}}, {"normalize_deviation", Numbers{1}}}).get(0);
  });
  EXPECT_TRUE(says(error, "error[RT0348]: transform \"normalize\": normalize_mean has 3 numbers")) << error;
  EXPECT_TRUE(says(error, "got:      f32[3,4,2] \"SSC\"")) << error;
  EXPECT_TRUE(says(error, "expected: 1 number, or 2: one for each channel, the last axis of the input")) << error;
}

}  // namespace
}  // namespace retrace

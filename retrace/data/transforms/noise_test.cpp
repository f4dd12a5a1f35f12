// Noise, element by element, against what docs/numerics/random.md makes of the numbers of its stream.
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/data/array_store.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

constexpr uint64_t kSeed = 11, kSample = 2, kPass = 1;
constexpr int64_t kValues = 3 * 3 * 3;  // an odd number: the last pair has one element
constexpr float kValue = 0.5f;

std::vector<float> noisy(const char* name, const OptionValues& options) {
  const auto& kind = kind_of(all_transforms(), name, "transform", {});
  const Datastore store = transform(array_store({Tensor::full(kValue, {4, 3, 3, 3}, DType::f32, "BSSC")}),
                                    kind.make(with_standard_values(options, kind.options)), {.seed = kSeed});
  return store.source()->get(kSample, kPass).at(0).to_vector<float>();
}

RandomStream stream() { return {kSeed, "transform", kPass, 0, kSample}; }

TEST(GaussianNoise, IsThatOfBoxAndMuller) {
  constexpr double kDeviation = 0.25;
  const auto found = noisy("gaussian-noise", {{"noise_deviation", kDeviation}});
  ASSERT_EQ(found.size(), static_cast<size_t>(kValues));
  RandomStream random = stream();
  for (size_t i = 0; i < found.size(); i += 2) {
    const double u = random.uniform(), v = random.uniform();
    const double r = std::sqrt(-2 * std::log1p(-u)), angle = 2 * M_PI * v;
    // One rounding of the sum to binary32; the functions of the library and of libm differ by far less.
    EXPECT_FLOAT_EQ(found[i], static_cast<float>(kValue + kDeviation * r * std::cos(angle))) << i;
    if (i + 1 < found.size()) {
      EXPECT_FLOAT_EQ(found[i + 1], static_cast<float>(kValue + kDeviation * r * std::sin(angle))) << i;
    }
  }
}

TEST(SaltAndPepper, GoesByOneNumberForEachElement) {
  constexpr double kShare = 0.5;
  const auto found = noisy("salt-and-pepper", {{"noise_share", kShare}});
  RandomStream random = stream();
  std::vector<float> expected;
  for (int64_t i = 0; i < kValues; ++i) {
    const double u = random.uniform();
    expected.push_back(u < kShare / 2 ? 0.0f : u < kShare ? 1.0f : kValue);
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace retrace

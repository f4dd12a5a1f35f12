#include "retrace/data/batch_format.h"

#include <gtest/gtest.h>

namespace retrace {
namespace {

constexpr Place kNowhere{};

TEST(BatchFormat, PutsTheBatchFirst) {
  EXPECT_EQ(stacked_format("SSCB"), "BSSC");
  EXPECT_EQ(stacked_format("CBT"), "BCT");
  EXPECT_EQ(stacked_format("BC"), "BC");
  EXPECT_EQ(stacked_format("UU"), "UU");
  EXPECT_EQ(stacked_format(""), "");
}

TEST(BatchFormat, PermutesEveryType) {
  const auto check = [](const Tensor& x, auto example, auto expected) {
    const Tensor y = with_format(x, "CB", kNowhere);
    EXPECT_EQ(y.labels(), "BC");
    EXPECT_EQ(y.shape(), (Shape{2, 1}));
    EXPECT_EQ(y.to_vector<decltype(example)>(), expected);
  };
  check(Tensor::from<float>({1, 2}, {1, 2}), float(), std::vector<float>{1, 2});
  check(Tensor::from<double>({1, 2}, {1, 2}), double(), std::vector<double>{1, 2});
  check(Tensor::from<int32_t>({1, 2}, {1, 2}), int32_t(), std::vector<int32_t>{1, 2});
  check(Tensor::from<uint8_t>({1, 2}, {1, 2}), uint8_t(), std::vector<uint8_t>{1, 2});
  check(Tensor::from<bool>({true, false}, {1, 2}), uint8_t(), std::vector<uint8_t>{1, 0});
}

TEST(BatchFormat, CopiesNothingInCanonicalOrder) {
  const Tensor x = Tensor::from<float>({1, 2}, {2, 1});
  EXPECT_EQ(with_format(x, "BC", kNowhere).data(), x.data());
  EXPECT_EQ(with_format(x, "BCUU", kNowhere).shape(), (Shape{2, 1, 1, 1}));
  const Tensor labelled = with_format(x, "BC", kNowhere);
  EXPECT_EQ(with_format(labelled, "CB", kNowhere).value(), labelled.value());
}

TEST(BatchFormat, TooFewLabelsAreAnError) { EXPECT_THROW(with_format(Tensor::zeros({2, 2}), "B", kNowhere), Error); }

}  // namespace
}  // namespace retrace

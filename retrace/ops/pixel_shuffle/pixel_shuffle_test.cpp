#include "retrace/ops/pixel_shuffle/pixel_shuffle.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(pixel_shuffle, pixel_shuffle(Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 4}), 2));
OP_EXAMPLE(pixel_unshuffle, pixel_unshuffle(Tensor::from<float>({1, 2, 3, 4}, {1, 2, 2, 1}), 2));

OP_CASES(pixel_shuffle) {
  const auto with = [](const char* name, Shape shape, auto function, int64_t factor, const char* labels = "") {
    return OpCase{
        .op = "transpose",
        .name = name,
        .inputs = {{.shape = shape, .labels = labels}},
        .build = [=](const std::vector<Tensor>& in) { return std::vector{function(in[0], factor, Place())}; }};
  };
  return {with("of_channels", {2, 3, 5, 12}, pixel_shuffle, 2, "BSSC"),
          with("of_channels_by_3", {1, 2, 2, 9}, pixel_shuffle, 3),
          with("of_pixels", {2, 6, 9, 2}, pixel_unshuffle, 3, "BSSC")};
}

// Element (c * factor + i) * factor + j of the channels is pixel (i, j) of channel c.
TEST(PixelShuffle, PutsChannelsWhereTheyBelong) {
  std::vector<float> numbers;
  for (int i = 0; i < 2 * 3 * 8; ++i) numbers.push_back(static_cast<float>(i));
  const Tensor x = Tensor::from<float>(numbers, {1, 2, 3, 8}, "BSSC"), y = pixel_shuffle(x, 2);
  ASSERT_EQ(y.shape(), (Shape{1, 4, 6, 2}));
  EXPECT_EQ(y.labels(), "BSSC");
  const auto made = y.to_vector<float>();
  for (size_t h = 0; h < 4; ++h)
    for (size_t w = 0; w < 6; ++w)
      for (size_t c = 0; c < 2; ++c)
        EXPECT_EQ(made[(h * 6 + w) * 2 + c], numbers[(h / 2 * 3 + w / 2) * 8 + (c * 2 + h % 2) * 2 + w % 2]);
  EXPECT_EQ(pixel_unshuffle(y, 2).to_vector<float>(), numbers);
}

TEST(PixelShuffle, SaysWhatDoesNotFit) {
  const auto text = [](const Shape& shape, int64_t factor) {
    return error_text([&] { pixel_shuffle(Tensor::zeros(shape), factor); });
  };
  EXPECT_NE(text({1, 2, 2, 6}, 2).find("error[RT0541]: pixel_shuffle: x does not fit the factor 2"), std::string::npos);
  EXPECT_NE(text({2, 2, 4}, 2), "");
  EXPECT_NE(text({1, 2, 2, 4}, 0), "");
  EXPECT_NE(error_text([] { pixel_unshuffle(Tensor::zeros({1, 3, 2, 1}), 2); }).find("height and width"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace

#include "retrace/ops/average_pool1d/average_pool1d.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(average_pool1d, average_pool1d(reshape(Tensor::arange(6), {1, 6, 1}), 2));
OP_EXAMPLE(global_average_pool1d, global_average_pool1d(reshape(Tensor::arange(6), {1, 6, 1})));

OP_CASES(average_pool1d) {
  struct Sizes {
    const char* name;
    Shape x;
    int64_t size;
    AveragePool1dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"of_average_pool1d_halves", {2, 8, 5}, 2, {}, "BTC"},
      {"of_average_pool1d_overlapping", {2, 9, 8}, 3, {.stride = 2, .padding = same}},
      {"of_average_pool1d_counting", {1, 5, 2}, 3, {.stride = 2, .padding = same, .count_padding = true}},
      {"of_average_pool1d_causal", {1, 6, 2}, 3, {.stride = 1, .padding = causal}, "BTC"},
      {"of_average_pool1d_empty_batch", {0, 4, 2}, 2}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, size, options, labels] : all)
    cases.push_back({.op = "average_pool2d",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [size = size, options = options](
                                  const auto& in) { return std::vector<Tensor>{average_pool1d(in[0], size, options)}; },
                     .bound = {.ulp = 1, .relative = 4e-6}});
  return cases;
}

using Floats = std::vector<float>;

TEST(AveragePool1d, MovesByItsSizeUnlessItIsTold) {
  const Tensor x = Tensor::from<float>({1, 3, 3, 4}, {1, 4, 1}, "BTC");
  EXPECT_EQ(average_pool1d(x, 2).to_vector<float>(), (Floats{2, 3.5f}));
  EXPECT_EQ(average_pool1d(x, 2).labels(), "BTC");
  EXPECT_EQ(global_average_pool1d(x).to_vector<float>(), (Floats{2.75f}));
  EXPECT_EQ(global_average_pool1d(x).shape(), (Shape{1, 1, 1}));
}

TEST(AveragePool1d, SaysWhatDoesNotFit) {
  EXPECT_NE(error_text([] { average_pool1d(Tensor::zeros({2, 3}), 2); }).find("average_pool1d: x has 2 axes"),
            std::string::npos);
  EXPECT_NE(error_text([] { average_pool1d(Tensor::zeros({2, 3, 4}), 5); }).find("RT0151"), std::string::npos);
}

}  // namespace
}  // namespace retrace

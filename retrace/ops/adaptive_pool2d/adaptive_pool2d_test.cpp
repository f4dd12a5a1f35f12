#include "retrace/ops/adaptive_pool2d/adaptive_pool2d.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(adaptive_average_pool2d, adaptive_average_pool2d(reshape(Tensor::arange(15), {1, 3, 5, 1}), {1, 2}));
OP_EXAMPLE(adaptive_max_pool2d, adaptive_max_pool2d(reshape(Tensor::arange(15), {1, 3, 5, 1}), {2, 3}));

OP_CASES(adaptive_pool2d) {
  struct Sizes {
    const char* name;
    Shape x;
    Pair size;
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"halves", {2, 6, 4, 3}, {3, 2}, "BSSC"}, {"overlapping", {2, 5, 7, 3}, {3, 4}, "BSSC"},
      {"repeated", {1, 10, 9, 8}, {4, 6}},      {"one_axis", {1, 6, 5, 2}, {6, 2}},
      {"larger", {1, 2, 3, 2}, {3, 5}},         {"empty_batch", {0, 5, 7, 3}, {3, 4}}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, size, labels] : all) {
    const std::string named = "of_adaptive_" + std::string(name);
    cases.push_back(
        {.op = "average_pool2d",
         .name = named,
         .inputs = {{.shape = x, .labels = labels}},
         .build = [size = size](const auto& in) { return std::vector{adaptive_average_pool2d(in[0], size)}; },
         .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = "max_pool2d",
                     .name = named,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [size = size](const auto& in) { return std::vector{adaptive_max_pool2d(in[0], size)}; }});
  }
  return cases;
}

using Floats = std::vector<float>;

TEST(AdaptivePool2d, CutsTheImageIntoWindows) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5}, {1, 1, 5, 1}, "BSSC");
  EXPECT_EQ(adaptive_average_pool2d(x, {1, 2}).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(adaptive_average_pool2d(x, {1, 3}).to_vector<float>(), (Floats{1.5f, 3, 4.5f}));
  EXPECT_EQ(adaptive_average_pool2d(x, 1).to_vector<float>(), (Floats{3}));
  EXPECT_EQ(adaptive_max_pool2d(x, {1, 3}).to_vector<float>(), (Floats{2, 4, 5}));
  EXPECT_EQ(adaptive_max_pool2d(x, {2, 2}).spec().text(), "f32[1,2,2,1] \"BSSC\"");
}

// Every pair of sizes, beside the definition.
TEST(AdaptivePool2d, HasTheWindowsOfItsDefinition) {
  for (int64_t n = 1; n <= 12; ++n)
    for (int64_t size = 1; size <= 12; ++size) {
      Floats values, means, maxima;
      for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 5 % 7));
      for (int64_t i = 0; i < size; ++i) {
        const int64_t first = i * n / size, end = ((i + 1) * n + size - 1) / size;
        float sum = 0, most = 0;
        for (int64_t k = first; k < end; ++k)
          sum += values[static_cast<size_t>(k)], most = std::max(most, values[static_cast<size_t>(k)]);
        means.push_back(sum / static_cast<float>(end - first)), maxima.push_back(most);
      }
      const Tensor row = Tensor::from(values, {1, 1, n, 1}), column = reshape(row, {1, n, 1, 1});
      EXPECT_EQ(adaptive_average_pool2d(row, {1, size}).to_vector<float>(), means) << n << " to " << size;
      EXPECT_EQ(adaptive_average_pool2d(column, {size, 1}).to_vector<float>(), means) << n << " to " << size;
      EXPECT_EQ(adaptive_max_pool2d(row, {1, size}).to_vector<float>(), maxima) << n << " to " << size;
      EXPECT_EQ(adaptive_max_pool2d(column, {size, 1}).to_vector<float>(), maxima) << n << " to " << size;
    }
}

TEST(AdaptivePool2d, GivesTheGradientToTheFirstMaximum) {
  const Tensor x = Tensor::from<float>({0, 7, 7, 7, 0, 0, 0, 0, 0}, {1, 3, 3, 1});
  const auto loss = sum(adaptive_max_pool2d(x, {1, 2}));
  EXPECT_EQ(gradients(loss, std::vector<Tensor>{x})[0].to_vector<float>(), (Floats{0, 2, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(AdaptivePool2d, SaysWhatDoesNotFit) {
  EXPECT_EQ(
      error_text([] { adaptive_average_pool2d(Tensor::zeros({1, 4, 4, 1}), {0, 2}, {"model.cpp", 7}); }),
      "error[RT0287]: adaptive_average_pool2d: x cannot become an image of 0 x 2 pixels\n"
      "  where:    model.cpp:7\n"
      "  got:      x f32[1,4,4,1]\n"
      "  expected: x f32 or f64 [batch,height,width,channels], unlabelled or \"BSSC\", with pixels, and sizes from "
      "1 to 4096");
  const auto text = [](const Tensor& x, Pair size) { return error_text([&] { adaptive_max_pool2d(x, size); }); };
  EXPECT_NE(text(Tensor::zeros({4, 4, 1}), 2).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 0, 1}), 2).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 4, 1}, DType::i32), 2).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 4, 1}), {2, 4097}).find("RT0287"), std::string::npos);
}

}  // namespace
}  // namespace retrace

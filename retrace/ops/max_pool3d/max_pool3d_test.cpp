#include "retrace/ops/max_pool3d/max_pool3d.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(max_pool3d, max_pool3d(reshape(Tensor::arange(8), {1, 2, 2, 2, 1}), 2));
OP_EXAMPLE(global_max_pool3d, global_max_pool3d(reshape(Tensor::arange(8), {1, 2, 2, 2, 1})));

OP_CASES(max_pool3d) {
  struct Sizes {
    const char* name;
    Shape x;
    Triple size;
    MaxPool3dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"of_max_pool3d_halves", {2, 4, 4, 6, 8}, 2, {}, "BSSSC"},
      {"of_max_pool3d_overlapping", {1, 5, 4, 5, 3}, {3, 2, 3}, {.stride = {2, 1, 2}, .padding = {1, 1, 0}}},
      {"of_max_pool3d_same", {1, 3, 3, 4, 2}, 2, {.stride = 2, .padding = same}, "BSSSC"},
      {"of_max_pool3d_empty_batch", {0, 2, 4, 2, 2}, 2}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, size, options, labels] : all)
    cases.push_back({.op = "max_pool2d",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [size = size, options = options](
                                  const auto& in) { return std::vector<Tensor>{max_pool3d(in[0], size, options)}; },
                     .bound = {.ulp = 1, .relative = 4e-6}});
  return cases;
}

using Floats = std::vector<float>;

TEST(MaxPool3d, TheFirstMaximumOfTheWindowWins) {
  const Tensor x = Tensor::from<float>({1, 7, 7, 0, 7, 2, 3, 4}, {1, 2, 2, 2, 1}, "BSSSC");
  const Tensor y = max_pool3d(x, 2);
  EXPECT_EQ(y.to_vector<float>(), (Floats{7}));
  EXPECT_EQ(y.labels(), "BSSSC");
  EXPECT_EQ(gradients(sum(max_pool3d(x, 2)), std::vector<Tensor>{x})[0].to_vector<float>(),
            (Floats{0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(max_pool3d(x, {2, 1, 1}).to_vector<float>(), (Floats{7, 7, 7, 4}));
  EXPECT_EQ(global_max_pool3d(x).to_vector<float>(), (Floats{7}));
  EXPECT_EQ(global_max_pool3d(x).spec().text(), "f32[1,1,1,1,1] \"BSSSC\"");
}

TEST(MaxPool3d, SaysWhatDoesNotFit) {
  EXPECT_NE(error_text([] { max_pool3d(Tensor::zeros({2, 3}), 2); }).find("max_pool3d: x has 2 axes"),
            std::string::npos);
  EXPECT_NE(error_text([] { max_pool3d(Tensor::zeros({2, 3, 4, 4, 1}), {5, 2, 2}); }).find("RT0280"),
            std::string::npos);
  EXPECT_EQ(error_text([] { max_pool3d(Tensor::zeros({2, 3, 4, 4, 1}), 2, {.padding = 2}, {"model.cpp", 7}); }),
            "error[RT0280]: max_pool3d: a window of 2 would lie outside of the depth with its padding 2 and 2\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,3,4,4,1]\n"
            "  expected: padding smaller than the window on each side");
  EXPECT_NE(error_text([] { global_max_pool3d(Tensor::zeros({2, 4, 4, 1})); }).find("RT0279"), std::string::npos);
}

}  // namespace
}  // namespace retrace

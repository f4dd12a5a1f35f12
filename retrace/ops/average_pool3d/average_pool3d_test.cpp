#include "retrace/ops/average_pool3d/average_pool3d.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(average_pool3d, average_pool3d(reshape(Tensor::arange(8), {1, 2, 2, 2, 1}), 2));
OP_EXAMPLE(global_average_pool3d, global_average_pool3d(reshape(Tensor::arange(8), {1, 2, 2, 2, 1})));

OP_CASES(average_pool3d) {
  struct Sizes {
    const char* name;
    Shape x;
    Triple size;
    AveragePool3dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"of_average_pool3d_halves", {2, 4, 4, 6, 8}, 2, {}, "BSSSC"},
      {"of_average_pool3d_overlapping", {1, 5, 4, 5, 3}, {3, 2, 3}, {.stride = {2, 1, 2}, .padding = {1, 1, 0}}},
      {"of_average_pool3d_counting", {1, 3, 3, 4, 2}, 2, {.stride = 2, .padding = same, .count_padding = true}},
      {"of_average_pool3d_empty_batch", {0, 2, 4, 2, 2}, 2}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, size, options, labels] : all)
    cases.push_back({.op = "average_pool2d",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [size = size, options = options](
                                  const auto& in) { return std::vector<Tensor>{average_pool3d(in[0], size, options)}; },
                     .bound = {.ulp = 1, .relative = 4e-6}});
  return cases;
}

using Floats = std::vector<float>;

TEST(AveragePool3d, DividesByWhatIsThereOrByTheWindow) {
  const Tensor x = Tensor::from<float>({2, 4, 6}, {1, 3, 1, 1, 1}, "BSSSC");
  EXPECT_EQ(average_pool3d(x, {2, 1, 1}).to_vector<float>(), (Floats{3}));
  const Triple one = 1;
  EXPECT_EQ(average_pool3d(x, {3, 1, 1}, {.stride = one, .padding = same}).to_vector<float>(), (Floats{3, 4, 5}));
  EXPECT_EQ(average_pool3d(x, {3, 1, 1}, {.stride = one, .padding = same, .count_padding = true}).to_vector<float>(),
            (Floats{2, 4, 10.0f / 3}));
  EXPECT_EQ(global_average_pool3d(x).to_vector<float>(), (Floats{4}));
  EXPECT_EQ(global_average_pool3d(x).spec().text(), "f32[1,1,1,1,1] \"BSSSC\"");
}

TEST(AveragePool3d, SaysWhatDoesNotFit) {
  EXPECT_NE(error_text([] { average_pool3d(Tensor::zeros({2, 3}), 2); }).find("average_pool3d: x has 2 axes"),
            std::string::npos);
  EXPECT_NE(error_text([] { average_pool3d(Tensor::zeros({2, 3, 4, 4, 1}), {5, 2, 2}); }).find("RT0280"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace

#include "retrace/ops/group_norm/group_norm.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OpCase with(const char* name, Shape x, int64_t groups, const char* labels = "", const char* labels_of_scale = "") {
  const Shape channels{x.back()};
  return {.op = "group_norm",
          .name = name,
          .inputs = {{.shape = x, .labels = labels},
                     {.shape = channels, .low = 0.5, .labels = labels_of_scale},
                     {.shape = channels}},
          .build = [=](const std::vector<Tensor>& in) { return std::vector{group_norm(in[0], in[1], in[2], groups)}; },
          .bound = {.ulp = 8, .relative = 2e-6},
          .gradient = {.ulp = 8, .relative = 2e-5, .tiny = true}};
}

OP_EXAMPLE(group_norm, group_norm(reshape(Tensor::arange(8), {1, 1, 2, 4}), Tensor::ones({4}), Tensor::zeros({4}), 2));
OP_EXAMPLE(instance_norm,
           instance_norm(reshape(Tensor::arange(8), {1, 2, 2, 2}), Tensor::ones({2}), Tensor::zeros({2})));

OP_CASES(group_norm) {
  std::vector<OpCase> cases{
      with("images", {2, 5, 4, 6}, 3, "BSSC"),    with("labelled_scale", {2, 5, 4, 6}, 2, "BSSC", "C"),
      with("one_group", {3, 4, 3, 4}, 1, "BSSC"), with("sequence", {3, 7, 8}, 4, "BTC"),
      with("unlabelled", {3, 9, 8}, 2),           with("no_positions", {5, 12}, 3),
      with("instances", {2, 6, 5, 3}, 3, "BSSC"), with("wide", {2, 20, 64}, 4)};
  cases.push_back(with("empty", {0, 4, 4}, 2));
  cases.back().differentiable = false;
  return cases;
}

TEST(GroupNorm, IsThatOfPyTorch) {
  std::vector<float> numbers;
  for (int i = 0; i < 16; ++i) numbers.push_back(static_cast<float>(i * i % 11) / 4 - 1);
  const Tensor x = Tensor::from<float>(numbers, {2, 2, 4}, "BSC");
  const Tensor scale = Tensor::from<float>({1, 2, 0.5f, -1}, {4}), offset = Tensor::from<float>({0, 1, 0, 0.5f}, {4});
  const std::vector<float> group{-1.171675f, -0.301861f, -0.274406f, -1.146438f, 1.432047f,  1.781116f,
                                 -0.493932f, 0.609763f,  1.566684f,  0.651848f,  -0.386022f, 1.552787f,
                                 -1.218532f, 0.651848f,  0.736951f,  0.149071f},
      instance{-0.999987f, -0.999840f, 0.499840f,  -0.499980f, 0.999987f,  2.999840f, -0.499840f, 1.499980f,
               0.999995f,  1.000000f,  -0.499997f, 1.499987f,  -0.999995f, 1.000000f, 0.499997f,  -0.499987f};
  const auto expect_near = [](const Tensor& y, const std::vector<float>& wanted) {
    const auto found = y.to_vector<float>();
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5) << i;
  };
  expect_near(group_norm(x, scale, offset, 2), group);
  expect_near(instance_norm(x, scale, offset), instance);
}

TEST(GroupNorm, ArgumentsMustFit) {
  const Tensor one = Tensor::zeros({6});
  const auto text = [&](const Tensor& x, const Tensor& scale, int64_t groups) {
    return error_text([&] { group_norm(x, scale, one, groups, {}, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(Tensor::zeros({2, 6}), one, 4),
            "error[RT0266]: group_norm: 4 groups of 6 channels\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,6]\n"
            "  expected: a number of groups that divides the channels");
  EXPECT_NE(text(Tensor::zeros({6}), one, 1).find("RT0265"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 6}, DType::f32, "CU"), one, 1).find("RT0265"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 6}), Tensor::zeros({5}), 2).find("RT0135"), std::string::npos);
}

}  // namespace
}  // namespace retrace

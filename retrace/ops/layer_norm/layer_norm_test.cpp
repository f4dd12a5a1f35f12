#include "retrace/ops/layer_norm/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OpCase layer_case(const char* name, Shape x, const char* labels = "", const char* labels_of_scale = "") {
  const Shape features{x.back()};
  return {.op = "layer_norm",
          .name = name,
          .inputs = {{.shape = x, .labels = labels},
                     {.shape = features, .low = 0.5, .labels = labels_of_scale},
                     {.shape = features}},
          .build = [](const std::vector<Tensor>& in) { return std::vector{layer_norm(in[0], in[1], in[2])}; },
          .bound = {.ulp = 8, .relative = 2e-6},
          .gradient = {.ulp = 8, .relative = 2e-5, .tiny = true}};
}

OpCase rms_case(const OpCase& like) {
  OpCase one = like;
  one.op = "rms_norm";
  one.inputs.pop_back();
  one.build = [](const std::vector<Tensor>& in) { return std::vector{rms_norm(in[0], in[1])}; };
  return one;
}

OP_EXAMPLE(layer_norm,
           layer_norm(Tensor::from<float>({1, 2, 3, 2, 4, 6}, {2, 3}), Tensor::ones({3}), Tensor::zeros({3})));
OP_EXAMPLE(rms_norm, rms_norm(Tensor::from<float>({1, 2, 3}, {1, 3}), Tensor::ones({3})));

OP_CASES(layer_norm) {
  std::vector<OpCase> cases{layer_case("unlabelled", {50, 5}),
                            layer_case("one_row", {7}),
                            layer_case("sequence", {3, 6, 16}, "BTC"),
                            layer_case("labelled_scale", {3, 6, 16}, "BTC", "C"),
                            layer_case("images", {2, 3, 4, 5}, "BSSC"),
                            layer_case("repeated_label", {2, 3, 4}, "BSS"),
                            layer_case("wide", {20, 300})};
  for (auto one : {layer_case("one_feature", {9, 1}), layer_case("empty", {0, 4})})
    one.differentiable = false, cases.push_back(one);
  const size_t count = cases.size();
  for (size_t i = 0; i < count; ++i) cases.push_back(rms_case(cases[i]));
  // mean 2, deviations -1 and 1: +-1 / sqrt(1 + 1e-5).
  OpCase by_hand = layer_case("by_hand", {1, 2});
  by_hand.inputs[0].values = {1, 3}, by_hand.inputs[1].values = {1, 2}, by_hand.inputs[2].values = {0, 10};
  const float xhat = 1 / std::sqrt(1.0f + 1e-5f);
  by_hand.expected = {-xhat, xhat * 2 + 10};
  by_hand.differentiable = false;  // the gradient of two features is what rounding leaves
  cases.push_back(by_hand);
  return cases;
}

TEST(LayerNorm, ArgumentsMustFit) {
  const auto text = [](const Tensor& x, const Tensor& scale) {
    return error_text([&] { layer_norm(x, scale, Tensor::zeros({4}), {}, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(Tensor::zeros({3, 4}), Tensor::zeros({3})),
            "error[RT0135]: layer_norm: scale does not fit the 4 features of x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[3,4], scale f32[3]\n"
            "  expected: the shape [4]");
  EXPECT_EQ(text(Tensor::zeros({}), Tensor::zeros({4})),
            "error[RT0133]: layer_norm: x has no axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[]\n"
            "  expected: an axis of features\n"
            "  help:     reshape x to [1, features]");
  EXPECT_NE(text(Tensor::zeros({3, 4}, DType::i32), Tensor::zeros({4})).find("RT0131"), std::string::npos);
}

}  // namespace
}  // namespace retrace

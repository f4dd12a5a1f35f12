#include "retrace/ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include <gtest/gtest.h>

#include <bit>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/op_case.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/softmax/softmax.h"

namespace retrace {
namespace {

OP_CASES(softmax_cross_entropy) {
  const auto with = [](const char* name, Shape shape, const char* labels = "") {
    return OpCase{
        .op = "softmax_cross_entropy",
        .name = name,
        .inputs = {{.shape = shape, .low = -3, .high = 3, .labels = labels},
                   {.shape = shape, .low = 0, .high = 1, .labels = labels}},
        .build = two([](const Tensor& x, const Tensor& t, Place place) { return softmax_cross_entropy(x, t, place); }),
        .bound = {.ulp = 4, .relative = 2e-6},
        .gradient = {.ulp = 4, .relative = 4e-6, .tiny = true}};
  };
  std::vector<OpCase> cases{with("unlabelled", {7, 10}),          with("labelled", {7, 10}, "BC"),
                            with("images", {3, 5, 4, 2}, "BSSC"), with("channels_before_u", {2, 5, 3}, "BCU"),
                            with("without_batch", {10}),          with("large", {300, 40})};
  auto far = with("far_from_the_largest", {1, 2});  // log(softmax(x)) would be -inf here
  far.inputs[0].values = {-1000, 0};
  far.inputs[1].values = {1, 0};
  far.expected = {1000};
  far.differentiable = false;
  cases.push_back(far);
  auto special = with("special_values", {4, 16});
  special.inputs[0].values = special_values();
  special.differentiable = false;
  cases.push_back(special);
  return cases;
}

TEST(SoftmaxCrossEntropy, GradientForOneHotTargetsIsSoftmaxMinusTargetOverN) {
  const Tensor x = Tensor::from<float>({1, -2, 0.5f, 3, 0.25f, -1, 2, 2, 2, -7, 4, 0}, {4, 3}, "BC");
  const Tensor t = Tensor::from<float>({1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}, {4, 3}, "BC");
  const auto result = value_and_grad([&](const Tensor& logits) { return softmax_cross_entropy(logits, t); })(x);
  const auto found = result.gradients.to_vector<float>(), y = softmax(x).to_vector<float>(),
             wanted = t.to_vector<float>();
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint32_t>(found[i]), std::bit_cast<uint32_t>((y[i] - wanted[i]) * 0.25f)) << i;
}

TEST(SoftmaxCrossEntropy, WrongArgumentsAreErrors) {
  const auto text = error_text([] { softmax_cross_entropy(Tensor::zeros({4, 10}), Tensor::zeros({4, 9})); });
  EXPECT_NE(text.find("softmax_cross_entropy: prediction and target differ in shape"), std::string::npos) << text;
  EXPECT_NE(text.find("softmax_cross_entropy_test.cpp"), std::string::npos) << text;
  EXPECT_NE(error_text([] { softmax_cross_entropy(Tensor::zeros({}), Tensor::zeros({})); }).find("x has no axes"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace

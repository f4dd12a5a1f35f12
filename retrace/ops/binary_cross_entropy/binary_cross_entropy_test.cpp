#include "retrace/ops/binary_cross_entropy/binary_cross_entropy.h"

#include "retrace/ops/testing/loss_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(binary_cross_entropy,
           binary_cross_entropy(Tensor::from<float>({0, 2}, {2, 1}), Tensor::from<float>({1, 1}, {2, 1})));

OP_CASES(binary_cross_entropy) {
  const auto with = [](const char* name, Shape shape, const char* labels = "") {
    return OpCase{
        .op = "binary_cross_entropy",
        .name = name,
        .inputs = {{.shape = shape, .low = -4, .high = 4, .labels = labels, .avoid = {0}},
                   {.shape = shape, .low = 0, .high = 1, .labels = labels}},
        .build = two([](const Tensor& x, const Tensor& t, Place place) { return binary_cross_entropy(x, t, place); }),
        .bound = {.ulp = 4, .relative = 2e-6}};
  };
  std::vector<OpCase> cases{with("unlabelled", {7, 3}), with("images", {3, 5, 4, 2}, "BSSC"), with("large", {300, 40}),
                            with("rank_0", {})};
  auto far = with("far", {6});  // log(sigmoid(x)) would be -inf; softplus(200) - 200 would be 0
  far.inputs[0].values = {1000, -1000, 1000, -1000, 0, 0};
  far.inputs[1].values = {0, 1, 1, 0, 1, 0};
  far.differentiable = false;
  cases.push_back(far);
  auto special = with("special_values", {4, 16});
  special.inputs[0].values = special_values();
  special.differentiable = false;
  cases.push_back(special);
  return cases;
}

TEST(BinaryCrossEntropy, IsThatOfPyTorch) {
  const Tensor x = Tensor::from<float>({1.5f, -0.25f, 30, -30}, {2, 2});
  const Tensor t = Tensor::from<float>({1, 0.25f, 0, 0}, {2, 2});
  EXPECT_NEAR(binary_cross_entropy(x, t).item<float>(), 7.70996332, 1e-6);
}

TEST(BinaryCrossEntropy, ArgumentsAreChecked) {
  expect_arguments_are_checked("binary_cross_entropy", binary_cross_entropy);
}

}  // namespace
}  // namespace retrace

#include "retrace/ops/kl_divergence/kl_divergence.h"

#include "retrace/ops/testing/loss_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(kl_divergence, kl_divergence(log(Tensor::from<float>({0.5, 0.5, 0.2, 0.8}, {2, 2})),
                                        Tensor::from<float>({0.4, 0.6, 0.2, 0.8}, {2, 2})));

OP_CASES(kl_divergence) {
  const auto with = [](const char* name, Shape shape, const char* labels = "") {
    return OpCase{
        .op = "kl_divergence",
        .name = name,
        .inputs = {{.shape = shape, .low = -4, .high = 0, .labels = labels},
                   {.shape = shape, .low = 0.0625, .high = 1, .labels = labels}},
        .build = two([](const Tensor& y, const Tensor& t, Place place) { return kl_divergence(y, t, place); }),
        .bound = {.ulp = 4, .relative = 4e-6},
        .gradient = {.ulp = 4, .relative = 4e-6, .tiny = true}};
  };
  std::vector<OpCase> cases{with("unlabelled", {7, 10}), with("images", {3, 5, 4, 2}, "BSSC"), with("one_row", {9}),
                            with("large", {300, 40})};
  auto zeros = with("zeros", {1, 3});
  zeros.inputs[0].values = {-__builtin_inf(), -1, 0}, zeros.inputs[1].values = {0, 1, 0};
  zeros.expected = {1};
  zeros.differentiable = false;
  cases.push_back(zeros);
  return cases;
}

TEST(KlDivergence, IsThatOfPyTorch) {
  const Tensor y = Tensor::from<float>({-0.5f, -1.5f, -2, -0.25f}, {2, 2}, "BC");
  const Tensor t = Tensor::from<float>({0.75f, 0.25f, 0, 1}, {2, 2}, "BC");
  EXPECT_NEAR(kl_divergence(y, t).item<float>(), 0.218832418, 1e-6);
}

TEST(KlDivergence, ArgumentsAreChecked) { expect_arguments_are_checked("kl_divergence", kl_divergence); }

}  // namespace
}  // namespace retrace

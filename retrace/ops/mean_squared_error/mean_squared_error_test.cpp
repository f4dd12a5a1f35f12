#include "retrace/ops/mean_squared_error/mean_squared_error.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/loss_cases.h"

namespace retrace {
namespace {

std::vector<OpCase> cases_of(const char* op, Tensor (*loss)(const Tensor&, const Tensor&, Place), double labelled,
                             double unlabelled, double vector) {
  const auto with = [&](const char* name, Shape shape, const char* labels = "") {
    return OpCase{.op = op,
                  .name = name,
                  .inputs = {{.shape = shape, .labels = labels}, {.shape = shape, .labels = labels}},
                  .build = two(loss),
                  .bound = {.ulp = 4, .relative = 1e-6}};
  };
  std::vector<OpCase> cases{with("unlabelled", {7, 10}), with("images", {3, 5, 4, 2}, "BSSC"),
                            with("without_batch", {5, 4}, "SC"), with("large", {300, 40}), with("rank_0", {})};
  // Differences 1 and 3, again and again: squares 1 and 9.
  const auto by_hand = [&](const char* name, Shape shape, const char* labels, double expected) {
    auto one = with(name, shape, labels);
    one.inputs[0].values = {2, -1};
    one.inputs[1].values = {1, 2};
    one.expected = {expected};
    cases.push_back(one);
  };
  by_hand("by_hand_labelled", {4, 2}, "SC", labelled);
  by_hand("by_hand_unlabelled", {4, 2}, "", unlabelled);
  by_hand("by_hand_vector", {2}, "", vector);
  auto special = with("special_values", {16});
  special.inputs[0].values = special_values();
  special.differentiable = false;
  special.bound = {.ulp = 4, .relative = 1e-6};
  special.inputs[0].values[8] = special.inputs[0].values[9] = 1e18;  // squares that f32 holds
  cases.push_back(special);
  return cases;
}

OP_EXAMPLE(half_mean_squared_error, half_mean_squared_error(Tensor::from<float>({1, 2, 3, 4}, {2, 2}),
                                                            Tensor::from<float>({1, 1, 3, 7}, {2, 2})));
OP_EXAMPLE(mean_squared_error,
           mean_squared_error(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), Tensor::from<float>({1, 1, 3, 7}, {2, 2})));

OP_CASES(mean_squared_error) {
  // N = 1 without a batch axis: 40 / 2; N = 4: 40 / 8; elements: 40 / 8.
  auto cases = cases_of("half_mean_squared_error", half_mean_squared_error, 20, 5, 5);
  for (auto& one : cases_of("mean_squared_error", mean_squared_error, 5, 5, 5)) cases.push_back(one);
  return cases;
}

TEST(MeanSquaredError, ArgumentsMustFit) {
  expect_arguments_are_checked("half_mean_squared_error", half_mean_squared_error);
  expect_arguments_are_checked("mean_squared_error", mean_squared_error);
}

}  // namespace
}  // namespace retrace

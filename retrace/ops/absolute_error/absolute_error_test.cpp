#include "retrace/ops/absolute_error/absolute_error.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/loss_cases.h"

namespace retrace {
namespace {

Tensor huber_of_one(const Tensor& y, const Tensor& t, Place place) { return huber(y, t, {}, place); }

std::vector<OpCase> cases_of(const char* op, Tensor (*loss)(const Tensor&, const Tensor&, Place), double by_hand) {
  // Predictions above targets, and below: |d| from 0.25 to 0.75 or from 1.25 on, away from kinks.
  const auto with = [&](const char* name, Shape shape, const char* labels = "") {
    return OpCase{.op = op,
                  .name = name,
                  .inputs = {{.shape = shape, .low = -0.25, .high = 0.25, .labels = labels},
                             {.shape = shape, .labels = labels, .values = {0.5, -0.5, 2, -3, 0.75}}},
                  .build = two(loss),
                  .bound = {.ulp = 4, .relative = 1e-6}};
  };
  std::vector<OpCase> cases{with("unlabelled", {7, 10}), with("images", {3, 5, 4, 2}, "BSSC"), with("large", {300, 40}),
                            with("rank_0", {})};
  // d = 3, -0.5, 0, -2.
  OpCase one = with("by_hand", {4});
  one.inputs[0].values = {2, 1, 3, -1};
  one.inputs[1].values = {-1, 1.5, 3, 1};
  one.expected = {by_hand};
  one.differentiable = false;
  cases.push_back(one);
  OpCase special = with("special_values", {16});
  special.inputs[0].values = special_values();
  special.differentiable = false;
  cases.push_back(special);
  return cases;
}

OP_EXAMPLE(mean_absolute_error,
           mean_absolute_error(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), Tensor::from<float>({1, 1, 3, 7}, {2, 2})));
OP_EXAMPLE(huber, huber(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), Tensor::from<float>({1, 1, 3, 7}, {2, 2})));

OP_CASES(absolute_error) {
  auto cases = cases_of("mean_absolute_error", mean_absolute_error, (3 + 0.5 + 2) / 4);
  for (auto& one : cases_of("huber", huber_of_one, (2.5 + 0.125 + 1.5) / 4)) cases.push_back(one);
  return cases;
}

TEST(AbsoluteError, ArgumentsMustFit) {
  expect_arguments_are_checked("mean_absolute_error", mean_absolute_error);
  expect_arguments_are_checked("huber", huber_of_one);
  EXPECT_EQ(error_text([] { huber(Tensor::zeros({3}), Tensor::zeros({3}), {.delta = 0}, {"model.cpp", 7}); }),
            "error[RT0146]: huber: delta is 0\n"
            "  where:    model.cpp:7\n"
            "  got:      0\n"
            "  expected: a positive number");
}

}  // namespace
}  // namespace retrace

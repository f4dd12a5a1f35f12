#include "retrace/ops/cross_entropy/cross_entropy.h"

#include <gtest/gtest.h>

#include "retrace/base/elementary.h"
#include "retrace/ops/testing/loss_cases.h"

namespace retrace {
namespace {

CaseFunction call() {
  return two([](const Tensor& y, const Tensor& t, Place place) { return cross_entropy(y, t, place); });
}

OP_EXAMPLE(cross_entropy,
           cross_entropy(Tensor::from<float>({0.5, 0.5, 0.2, 0.8}, {2, 2}), Tensor::from<float>({1, 0, 0, 1}, {2, 2})));

OP_CASES(cross_entropy) {
  const auto with = [](const char* name, Shape shape, const char* labels = "", const char* labels_of_t = "") {
    return OpCase{.op = "cross_entropy",
                  .name = name,
                  .inputs = {{.shape = shape, .low = 0.05, .high = 0.95, .labels = labels},
                             {.shape = shape, .low = 0, .high = 1, .labels = labels_of_t}},
                  .build = call(),
                  .bound = {.ulp = 4, .relative = 1e-6}};
  };
  std::vector<OpCase> cases{with("unlabelled", {7, 10}),
                            with("labelled", {7, 10}, "BC", "BC"),
                            with("labels_of_y_count", {7, 10}, "BC"),
                            with("images", {3, 5, 4, 2}, "BSSC", "BSSC"),
                            with("without_batch", {10}),
                            with("space_only", {4, 3}, "SC", "SC"),
                            with("large", {300, 40}),
                            with("rank_0", {})};
  auto hand = with("n_is_the_batch", {4, 2}, "BC");
  hand.inputs[0].values = {0.5, 0.5};
  hand.inputs[1].values = {1, 0};
  hand.expected = {static_cast<double>(-rules::log(0.5f))};
  cases.push_back(hand);
  auto zero = with("zero_is_2_to_the_minus_126", {1, 2});
  zero.inputs[0].values = {0, 1};
  zero.inputs[1].values = {1, 0};
  zero.expected = {static_cast<double>(-rules::log(0x1p-126f))};
  zero.differentiable = false;
  cases.push_back(zero);
  auto special = with("special_values", {16});
  special.inputs[0].values = special_values();
  special.differentiable = false;
  cases.push_back(special);
  auto empty = with("empty", {0, 3});
  empty.differentiable = false;
  cases.push_back(empty);
  return cases;
}

TEST(CrossEntropy, ArgumentsMustFit) { expect_arguments_are_checked("cross_entropy", cross_entropy); }

}  // namespace
}  // namespace retrace

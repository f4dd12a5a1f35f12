#include "retrace/ops/cross_entropy/cross_entropy.h"

#include <gtest/gtest.h>

#include "retrace/base/elementary.h"
#include "retrace/ops/binary_cross_entropy/binary_cross_entropy.h"
#include "retrace/ops/mean_squared_error/mean_squared_error.h"
#include "retrace/ops/one_hot/one_hot.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/softmax_cross_entropy/softmax_cross_entropy.h"
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

TEST(CrossEntropy, ClassNumbersAreToldTheirOp) {
  const Place place{"model.cpp", 7};
  const Tensor y = Tensor::zeros({4, 10});
  for (const DType type : {DType::i32, DType::i64, DType::u8})
    EXPECT_EQ(error_text([&] { cross_entropy(y, Tensor::zeros({4}, type), place); }),
              fmt::format(
                  "error[RT0116]: cross_entropy: the target holds class numbers ({0}), which this loss does not know\n"
                  "  where:    model.cpp:7\n"
                  "  got:      f32[4,10] and the target {0}[4]\n"
                  "  expected: a target f32[4,10]\n"
                  "  help:     softmax_cross_entropy(logits, t) takes class numbers, and scores without softmax; "
                  "one_hot(t, 10) makes targets of class numbers",
                  name_of(type)));
  const auto help = [&](auto&& loss, const Tensor& t) {
    const std::string text = error_text([&] { loss(y, t, place); });
    return text.substr(text.find("help:") + 10);
  };
  const auto softmax_loss = [](const Tensor& x, const Tensor& t, Place at) { return softmax_cross_entropy(x, t, at); };
  EXPECT_EQ(help(softmax_loss, Tensor::zeros({4, 1}, DType::i64)),
            "softmax_cross_entropy(logits, reshape(t, {4})) takes class numbers, and scores without softmax; "
            "one_hot(reshape(t, {4}), 10) makes targets of class numbers");
  EXPECT_EQ(help(mean_squared_error, Tensor::zeros({4}, DType::i32)), "one_hot(t, 10) makes targets of class numbers");
  EXPECT_EQ(help(binary_cross_entropy, Tensor::zeros({4, 10}, DType::i64)), "cast(the target, DType::f32)");
  EXPECT_NEAR(softmax_cross_entropy(y, reshape(Tensor::zeros({4, 1}, DType::i64), {4})).item<float>(), 2.302585f, 1e-5);
  EXPECT_NEAR(softmax_cross_entropy(y, one_hot(Tensor::zeros({4}, DType::i64), 10)).item<float>(), 2.302585f, 1e-5);
}

}  // namespace
}  // namespace retrace

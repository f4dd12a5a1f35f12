#include "retrace/ops/adam/adam_op.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

std::vector<Tensor> step(const std::vector<Tensor>& in) {
  const auto made = adam(in[0], in[1], in[2], in[3], {in[4], in[5], in[6], in[7], in[8], in[9], in[10]});
  return {made.weights, made.mean, made.mean_square};
}

OpCase with(const char* name, const Shape& shape) {
  OpCase made{.op = "adam",
              .name = name,
              .inputs = {{.shape = shape}, {.shape = shape}, {.shape = shape}, {.shape = shape, .low = 0.5, .high = 2}},
              .build = step,
              .bound = {.ulp = 4, .relative = 4e-7, .tiny = true},
              .differentiable = false,
              .no_gradient = "updates stand outside of what is differentiated"};
  for (double number : {0.25, 0.5, 0.875, 0.125, 0.75, 0.25, 0.0625})
    made.inputs.push_back({.shape = {}, .values = {number}});
  return made;
}

OP_CASES(adam) {
  // mean 0.875 * 0 + 0.125 * 8 = 1; square 0.75 * 0 + 0.25 * 64 = 16; 3 - 0.25 * 1 / (4 / 0.5 + 0.0625).
  OpCase by_hand = with("by_hand", {1});
  by_hand.inputs[0].values = {3}, by_hand.inputs[1].values = {8};
  by_hand.inputs[2].values = {0}, by_hand.inputs[3].values = {0};
  by_hand.expected = {3 - static_cast<double>(static_cast<float>(0.25 / 8.0625))};
  by_hand.expected = {static_cast<double>(static_cast<float>(by_hand.expected[0]))};
  return {with("odd", {3, 5, 7}), with("rank_0", {}), with("empty", {0, 3}), by_hand};
}

TEST(Adam, says_what_does_not_fit) {
  const Place place{"train.cpp", 8};
  const Tensor w = Tensor::zeros({2, 3}), n = Tensor::zeros({});
  EXPECT_EQ(error_text([&] { adam(w, w, w, Tensor::zeros({2}), {n, n, n, n, n, n, n}, place); }),
            "error[RT0180]: adam: mean_square has another shape than weights\n"
            "  where:    train.cpp:8\n"
            "  got:      weights f32[2,3], mean_square f32[2]\n"
            "  expected: equal shapes");
}

TEST(Adam, refuses_other_types_and_rates_with_axes) {
  const auto f = Tensor::zeros({2}), d = Tensor::zeros({2}, DType::f64), i = Tensor::zeros({2}, DType::i32);
  const auto n = Tensor::zeros({});
  const auto with_first = [&](const Tensor& weights, const Tensor& gradient, const Tensor& rate) {
    adam(weights, gradient, f, f, {rate, n, n, n, n, n, n}, {"model.cpp", 7});
  };
  EXPECT_EQ(error_text([&] { with_first(i, f, n); }),
            "error[RT0131]: adam: weights is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      weights i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(weights, DType::f32)");
  EXPECT_EQ(error_text([&] { with_first(f, d, n); }),
            "error[RT0132]: adam: the arguments have the types f32 and f64\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and gradient f64[2]\n"
            "  expected: one type\n"
            "  help:     cast(gradient, DType::f32)");
  EXPECT_EQ(error_text([&] { with_first(f, f, f); }),
            "error[RT0133]: adam: rate has 1 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      rate f32[2]\n"
            "  expected: 0 axes (one number)\n"
            "  help:     reshape rate first");
}

}  // namespace
}  // namespace retrace

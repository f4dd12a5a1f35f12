#include "retrace/ops/sgdm/sgdm_op.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

std::vector<Tensor> step(const std::vector<Tensor>& in) {
  const auto made = sgdm(in[0], in[1], in[2], in[3], in[4]);
  return {made.weights, made.velocity};
}

OP_CASES(sgdm) {
  const auto with = [](const char* name, Shape shape, std::vector<double> velocity = {}) {
    return OpCase{.op = "sgdm",
                  .name = name,
                  .inputs = {{.shape = shape},
                             {.shape = shape},
                             {.shape = shape, .values = velocity},
                             {.shape = {}, .values = {0.125}},
                             {.shape = {}, .values = {0.9375}}},
                  .build = step,
                  .bound = {.ulp = 2, .relative = 2e-7, .tiny = true},
                  .differentiable = false,
                  .no_gradient = "updates stand outside of what is differentiated"};
  };
  OpCase exact = with("by_hand", {2}, {2, -4});
  exact.inputs[0].values = {1, 10}, exact.inputs[1].values = {8, 0};
  exact.expected = {1 + 0.9375 * 2 - 1, 10 - 0.9375 * 4};
  return {with("odd", {3, 5, 7}), with("rank_0", {}), with("empty", {0, 3}), exact};
}

TEST(Sgdm, says_what_does_not_fit) {
  const Place place{"train.cpp", 8};
  const Tensor w = Tensor::zeros({2, 3}), number = Tensor::zeros({});
  EXPECT_EQ(error_text([&] { sgdm(w, Tensor::zeros({3, 2}), w, number, number, place); }),
            "error[RT0180]: sgdm: gradient has another shape than weights\n"
            "  where:    train.cpp:8\n"
            "  got:      weights f32[2,3], gradient f32[3,2]\n"
            "  expected: equal shapes");
  EXPECT_EQ(error_text([&] { sgdm(w, w, w, Tensor::zeros({2}), number, place); }),
            "error[RT0133]: sgdm: rate has 1 axes\n"
            "  where:    train.cpp:8\n"
            "  got:      rate f32[2]\n"
            "  expected: 0 axes (one number)\n"
            "  help:     reshape rate first");
  const Tensor integers = Tensor::zeros({2, 3}, DType::i32), wide = Tensor::zeros({2, 3}, DType::f64);
  EXPECT_EQ(error_text([&] { sgdm(integers, w, w, number, number, place); }),
            "error[RT0131]: sgdm: weights is i32\n"
            "  where:    train.cpp:8\n"
            "  got:      weights i32[2,3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(weights, DType::f32)");
  EXPECT_EQ(error_text([&] { sgdm(w, w, wide, number, number, place); }),
            "error[RT0132]: sgdm: the arguments have the types f32 and f64\n"
            "  where:    train.cpp:8\n"
            "  got:      f32[2,3] and velocity f64[2,3]\n"
            "  expected: one type\n"
            "  help:     cast(velocity, DType::f32)");
}

}  // namespace
}  // namespace retrace

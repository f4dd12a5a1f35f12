#include "retrace/ops/custom_gradient/custom_gradient.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/round/round.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Tensors = std::vector<Tensor>;

// exp, whose gradient reads what it made.
Tensor own_exp(const Tensor& x) {
  return custom_gradient([](const Tree& in) -> Tree { return exp(in.tensor()); },
                         [](const Tree&, const Tree& y, const Tree& dy) -> Tree { return dy.tensor() * y.tensor(); },
                         x);
}

// Two results of two arguments, with a tensor from outside.
Tensors products(const Tensors& in) {
  const Tree y = custom_gradient(
      [&](const Tree& x) -> Tree {
        return {{"product", x["a"].tensor() * x["b"].tensor()}, {"scaled", x["a"].tensor() * in[2]}};
      },
      [&](const Tree& x, const Tree&, const Tree& dy) -> Tree {
        const Tensor &of_product = dy["product"], &of_scaled = dy["scaled"];
        return {{"a", of_product * x["b"].tensor() + of_scaled * in[2]}, {"b", of_product * x["a"].tensor()}};
      },
      {{"a", in[0]}, {"b", in[1]}});
  return {y["product"], y["scaled"]};
}

OP_EXAMPLE(custom_gradient,
           custom_gradient([](const Tree& x) { return Tree(exp(x.tensor())); },
                           [](const Tree&, const Tree& y, const Tree& dy) { return Tree(y.tensor() * dy.tensor()); },
                           Tensor::arange(3))
               .tensor());

OP_CASES(custom_gradient) {
  const Bound bound{.ulp = 2, .relative = 1e-7};
  return {{.op = "custom_gradient",
           .name = "exp",
           .inputs = {{.shape = {3, 5}}},
           .build = [](const Tensors& in) { return Tensors{own_exp(in[0])}; },
           .bound = bound},
          {.op = "custom_gradient",
           .name = "of_two_results",
           .inputs = {{.shape = {4}}, {.shape = {4}}, {.shape = {4}, .fixed = true}},
           .build = products,
           .bound = bound}};
}

TEST(CustomGradient, TakesThePlaceOfTheGradient) {
  const auto straight = [](const Tensor& x) {
    return sum(custom_gradient([](const Tree& in) -> Tree { return round(in.tensor()); },
                               [](const Tree&, const Tree&, const Tree& dy) { return dy; }, x)
                   .tensor() *
               3);
  };
  const auto [value, gradient] = value_and_grad(straight)(Tensor::from<float>({0.4, 1.6}, {2}));
  EXPECT_EQ(value.item<float>(), 6);
  EXPECT_EQ(gradient.to_vector<float>(), (std::vector<float>{3, 3}));
}

TEST(CustomGradient, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::ones({3});
  const Place place{"model.cpp", 7};
  const auto same = [](const Tree& in) { return in; };
  EXPECT_EQ(error_of([&] {
              custom_gradient(
                  same, [](const Tree&, const Tree&, const Tree& dy) -> Tree { return sum(dy.tensor()); }, x, place);
            }),
            "error[RT0234]: custom_gradient: backward's gradient does not fit x\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[]\n"
            "  expected: f32[3]");
  EXPECT_THROW(custom_gradient(
                   same, [&](const Tree&, const Tree&, const Tree& dy) -> Tree { return {{"a", dy.tensor()}}; }, x),
               Error);
  EXPECT_EQ(error_of([&] {
              custom_gradient([](const Tree& in) -> Tree { return in.tensor() * in.tensor().to_vector<float>()[0]; },
                              [](const Tree&, const Tree&, const Tree& dy) { return dy; }, x, place);
            }).substr(0, 66),
            "error[RT0259]: a value is read inside the body of custom_gradient\n");
}

}  // namespace
}  // namespace retrace

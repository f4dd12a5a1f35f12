#include "retrace/ops/round/round.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(round, round(Tensor::from<float>({-1.5, -0.5, 0.5, 1.5, 2.5}, {5})));
OP_EXAMPLE(floor, floor(Tensor::from<float>({-1.5, -0.5, 0.5, 1.5, 2.5}, {5})));
OP_EXAMPLE(ceil, ceil(Tensor::from<float>({-1.5, -0.5, 0.5, 1.5, 2.5}, {5})));

OP_CASES(round) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  const std::vector<double> x{0.5, 1.5, 2.5, -0.5, -1.5, 0.75, -0.75, 8388607.5, -0.0, infinity, nan, 0x1p100};
  const auto add = [&](std::vector<OpCase>& cases, const char* op, Tensor (*f)(const Tensor&, Place),
                       std::vector<double> y) {
    const OpCase like{.op = op,
                      .inputs = {{.low = -20, .high = 20}},
                      .build = one(f),
                      .differentiable = false,
                      .no_gradient = "the results are steps"};
    for (auto& one : activation_cases(like)) cases.push_back(one);
    cases.push_back(exact_case(like, x, std::move(y)));
  };
  std::vector<OpCase> cases;
  add(cases, "round", round, {0.0, 2, 2, -0.0, -2, 1, -1, 8388608, -0.0, infinity, nan, 0x1p100});
  add(cases, "floor", floor, {0.0, 1, 2, -1, -2, 0.0, -1, 8388607, -0.0, infinity, nan, 0x1p100});
  add(cases, "ceil", ceil, {1, 2, 3, -0.0, -1, 1, -0.0, 8388608, -0.0, infinity, nan, 0x1p100});
  return cases;
}

}  // namespace
}  // namespace retrace

#include "retrace/ops/isfinite/isfinite.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(isfinite, isfinite(Tensor::from<float>({1, INFINITY, NAN}, {3})));
OP_EXAMPLE(isinf, isinf(Tensor::from<float>({1, INFINITY, NAN}, {3})));
OP_EXAMPLE(isnan, isnan(Tensor::from<float>({1, INFINITY, NAN}, {3})));

OP_CASES(isfinite) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  std::vector<OpCase> cases;
  const auto add = [&](const char* op, Tensor (*f)(const Tensor&, Place), std::vector<double> y) {
    const OpCase like{
        .op = op, .inputs = {{}}, .build = one(f), .differentiable = false, .no_gradient = "the results are bool"};
    for (auto& one : activation_cases(like)) cases.push_back(one);
    cases.push_back(exact_case(like, {1, -0.0, 0x1.fffffep127, infinity, -infinity, nan}, std::move(y)));
  };
  add("isfinite", isfinite, {1, 1, 1, 0, 0, 0});
  add("isinf", isinf, {0, 0, 0, 1, 1, 0});
  add("isnan", isnan, {0, 0, 0, 0, 0, 1});
  return cases;
}

}  // namespace
}  // namespace retrace

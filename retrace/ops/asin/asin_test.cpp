#include "retrace/ops/asin/asin.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

void add_cases(std::vector<OpCase>& cases, const char* op, Tensor (*f)(const Tensor&, Place), std::vector<double> x,
               std::vector<double> y) {
  const OpCase like{.op = op,
                    .inputs = {{.low = -0.875, .high = 0.875}},
                    .build = one(f),
                    .bound = {.ulp = 1.5, .tiny = true},
                    .gradient = {.ulp = 8, .relative = 2e-6, .tiny = true}};
  for (auto& made : pointwise_cases(like)) cases.push_back(made);
  cases.push_back(exact_case(like, std::move(x), std::move(y)));
}

OP_EXAMPLE(asin, asin(Tensor::from<float>({-1, 0, 0.5, 1}, {4})));
OP_EXAMPLE(acos, acos(Tensor::from<float>({-1, 0, 0.5, 1}, {4})));

OP_CASES(asin) {
  const double infinity = __builtin_inf(), nan = __builtin_nan(""), pi = 0x1.921fb54442d18p1;
  std::vector<OpCase> cases;
  add_cases(cases, "asin", asin, {0.0, -0.0, 1, -1, infinity, nan, 0x1.000002p0, -2},
            {0.0, -0.0, pi / 2, -pi / 2, nan, nan, nan, nan});
  add_cases(cases, "acos", acos, {0.0, -0.0, 1, -1, infinity, nan, 0x1.000002p0, -2},
            {pi / 2, pi / 2, 0, pi, nan, nan, nan, nan});
  return cases;
}

}  // namespace
}  // namespace retrace

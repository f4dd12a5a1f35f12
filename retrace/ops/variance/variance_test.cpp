#include "retrace/ops/variance/variance.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

std::vector<Tensor> variances(const Tensor& x, const Reduced& how) {
  return {variance(x, how.axes, {.keep = how.keep})};
}

OP_EXAMPLE(variance, variance(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));

OP_CASES(variance) {
  auto cases = reduction_cases({.op = "variance", .inputs = {{}}, .bound = {.ulp = 2, .relative = 2.5e-6}}, variances);
  std::erase_if(cases,
                [](const OpCase& one) { return one.name.starts_with("special"); });  // squares beyond the largest f32
  cases.push_back({.op = "variance",
                   .name = "is_biased",
                   .inputs = {{.shape = {4}, .values = {1, 2, 3, 6}}},
                   .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{variance(in[0])}; },
                   .bound = {.ulp = 0.5},
                   .expected = {3.5}});
  return cases;
}

TEST(Variance, OfIntegersIsAnError) {
  EXPECT_EQ(error_text([] { variance(Tensor::zeros({3}, DType::i32), {}, {}, {"model.cpp", 7}); }),
            "error[RT0131]: variance: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace

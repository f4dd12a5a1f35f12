#include "retrace/ops/norm/norm.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case_run.h"
#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

std::vector<Tensor> norms(const Tensor& x, const Reduced& how) { return {norm(x, how.axes, {.keep = how.keep})}; }

OP_EXAMPLE(norm, norm(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));

OP_CASES(norm) {
  auto cases = reduction_cases({.op = "sqrt",
                                .name = "of_norm_",
                                .inputs = {{}},
                                .bound = {.ulp = 4, .relative = 2e-6, .tiny = true},
                                .gradient = {.ulp = 8, .relative = 4e-6, .tiny = true}},
                               norms);
  std::erase_if(cases, [](const OpCase& one) { return one.name.find("special") != std::string::npos; });
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  cases.push_back({.op = "sqrt",
                   .name = "of_norm_exact",
                   .inputs = {{.shape = {5, 2}, .values = {3, 4, 0.0, -0.0, -infinity, 1, nan, 1, -5, 12}}},
                   .build = [](const std::vector<Tensor>& in) { return std::vector{norm(in[0], -1)}; },
                   .expected = {5, 0.0, infinity, nan, 13},
                   .differentiable = false});
  return cases;
}

TEST(Norm, HasNoSlopeAtTheZeroVector) {
  const OpCase zero{.op = "",
                    .name = "zero",
                    .inputs = {{.shape = {2, 2}, .values = {0.0, -0.0, 3, 4}}},
                    .build = [](const std::vector<Tensor>& in) { return std::vector{norm(in[0], 1)}; }};
  const auto gradient = loss_gradients(zero, make_inputs(zero, DType::f32))[0].to_vector<float>();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_GT(gradient[2], 0);
}

TEST(Norm, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_text([] { norm(Tensor::zeros({3}, DType::i32), {}, {}, {"model.cpp", 7}); }),
            "error[RT0218]: norm: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_NE(error_text([] { norm(Tensor::zeros({3}), 1); }).find("norm: axis 1 does not exist"), std::string::npos);
}

}  // namespace
}  // namespace retrace

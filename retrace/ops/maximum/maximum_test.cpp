#include "retrace/ops/maximum/maximum.h"

#include <gtest/gtest.h>

#include "retrace/device/device.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

Tensor larger(const Tensor& a, const Tensor& b, Place place) { return maximum(a, b, place); }
Tensor smaller(const Tensor& a, const Tensor& b, Place place) { return minimum(a, b, place); }

void add_cases(std::vector<OpCase>& cases, const char* op, Tensor (*f)(const Tensor&, const Tensor&, Place),
               std::vector<double> exact, std::vector<double> integers) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  for (auto& one : pointwise_cases({.op = op, .inputs = {{}, {}}, .build = two(f)})) cases.push_back(one);
  cases.push_back({.op = op,
                   .name = "exact",
                   .inputs = {{.shape = {8}, .values = {1, -3, 0.0, -0.0, nan, 2, infinity, -infinity}},
                              {.shape = {8}, .values = {2, -4, -0.0, 0.0, 1, nan, 3, 3}}},
                   .build = two(f),
                   .expected = std::move(exact),
                   .differentiable = false});
  cases.push_back({.op = op,
                   .name = "integers",
                   .inputs = {{.shape = {3}, .type = DType::i32, .values = {3, 16777216, -5}},
                              {.shape = {3}, .type = DType::i32, .values = {-4, 16777217, -5}}},
                   .build = two(f),
                   .expected = std::move(integers),
                   .differentiable = false});
}

OP_EXAMPLE(maximum, maximum(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5}), 0));
OP_EXAMPLE(minimum, minimum(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5}), 0));

OP_CASES(maximum) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  std::vector<OpCase> cases;
  add_cases(cases, "maximum", larger, {2, -3, 0.0, -0.0, nan, nan, infinity, 3}, {3, 16777217, -5});
  add_cases(cases, "minimum", smaller, {1, -4, 0.0, -0.0, nan, nan, 3, -infinity}, {-4, 16777216, -5});
  return cases;
}

// The first of equals, and a NaN.
TEST(Maximum, gives_the_gradient_to_the_one_that_was_taken) {
  const double nan = __builtin_nan("");
  for (const bool is_larger : {true, false}) {
    const OpCase ties{
        .op = "",
        .name = "ties",
        .inputs = {{.shape = {5}, .values = {1, -0.0, nan, 2, nan}}, {.shape = {5}, .values = {1, 0.0, 3, nan, nan}}},
        .build = two(is_larger ? larger : smaller)};
    const auto gradients = loss_gradients(ties, make_inputs(ties, DType::f32));
    const auto a = gradients[0].to_vector<float>(), b = gradients[1].to_vector<float>();
    for (size_t i = 0; i < a.size(); ++i) {
      const bool first = i < 3;
      EXPECT_GT(first ? a[i] : b[i], 0) << i;
      EXPECT_EQ(first ? b[i] : a[i], 0) << i;
    }
  }
}

TEST(Maximum, takes_a_number) {
  const Tensor x = Tensor::from<float>({3, -2}, {2});
  EXPECT_EQ(maximum(x, 0).to_vector<float>(), (std::vector<float>{3, 0}));
  EXPECT_EQ(minimum(x, 0.5).to_vector<float>(), (std::vector<float>{0.5f, -2}));
}

TEST(Maximum, integers_are_alike_on_cuda) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  Device& cuda = *gpus()[0];
  const auto a = Tensor::from<int32_t>({1, -2, 2147483647, 16777217}, {4});
  const auto b = Tensor::from<int32_t>({1, 3, -1, 16777216}, {4});
  EXPECT_EQ(bit_difference(maximum(a, b), maximum(a.to(cuda), b.to(cuda))), "");
  EXPECT_EQ(bit_difference(minimum(a, b), minimum(a.to(cuda), b.to(cuda))), "");
}

TEST(Maximum, refuses_two_types) {
  EXPECT_EQ(error_text([] { maximum(Tensor::zeros({2}), Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0132]: maximum: the arguments have the types f32 and i32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and the other argument i32[2]\n"
            "  expected: one type\n"
            "  help:     cast(the other argument, DType::f32)");
}

}  // namespace
}  // namespace retrace

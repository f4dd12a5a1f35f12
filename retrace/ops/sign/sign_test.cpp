#include "retrace/ops/sign/sign.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(sign, sign(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(sign) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  const OpCase like{
      .op = "sign", .inputs = {{}}, .build = one(sign), .differentiable = false, .no_gradient = "the result is a step"};
  auto cases = activation_cases(like);
  cases.push_back(exact_case(like, {2.5, -0x1p-149, 0.0, -0.0, -infinity, nan}, {1, -1, 0.0, -0.0, -1, nan}));
  auto integers = exact_case(like, {7, 0, -2147483648.0}, {1, 0, -1});
  integers.name = "integers";
  integers.inputs[0].type = DType::i32;
  cases.push_back(integers);
  return cases;
}

TEST(Sign, refuses_bytes) {
  EXPECT_EQ(error_text([] { sign(Tensor::zeros({2}, DType::u8), {"model.cpp", 7}); }),
            "error[RT0131]: sign: x is u8\n"
            "  where:    model.cpp:7\n"
            "  got:      x u8[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace

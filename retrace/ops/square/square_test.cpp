#include "retrace/ops/square/square.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(square, square(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(square) {
  auto cases = pointwise_cases({.op = "square", .inputs = {{}}, .build = one(square)});
  cases.push_back({.op = "square",
                   .name = "integers_wrap",
                   .inputs = {{.shape = {4}, .type = DType::i32, .values = {3, -4, 65536, 46341}}},
                   .build = one(square),
                   .expected = {9, 16, 0, -2147479015.0},
                   .differentiable = false});
  cases.push_back({.op = "square",
                   .name = "exact",
                   .inputs = {{.shape = {5}, .values = {-0.0, -__builtin_inf(), 0x1p-75, __builtin_nan(""), 0x1p64}}},
                   .build = one(square),
                   .expected = {0.0, __builtin_inf(), 0x0p0, __builtin_nan(""), __builtin_inf()},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace

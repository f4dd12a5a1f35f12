#include "retrace/ops/negate/negate.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(negate, negate(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));

OP_CASES(negate) {
  auto cases = pointwise_cases({.op = "negate", .inputs = {{}}, .build = one(negate)});
  cases.push_back({.op = "negate",
                   .name = "exact",
                   .inputs = {{.shape = {4}, .values = {0.0, -0.0, __builtin_inf(), 2.5}}},
                   .build = one(negate),
                   .expected = {-0.0, 0.0, -__builtin_inf(), -2.5},
                   .differentiable = false});
  cases.push_back({.op = "negate",
                   .name = "integers_wrap",
                   .inputs = {{.shape = {3}, .type = DType::i32, .values = {5, -2147483648.0, 0}}},
                   .build = one(negate),
                   .expected = {-5, -2147483648.0, 0},
                   .differentiable = false});
  return cases;
}

}  // namespace
}  // namespace retrace

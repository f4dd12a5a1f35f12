#include <gtest/gtest.h>

#include "retrace/ops/op.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction number(double value, DType type) {
  return [=](const std::vector<Tensor>&) { return std::vector<Tensor>{constant(value, type)}; };
}

OP_CASES(constant) {
  const auto make = [](const char* name, double value, DType type, double expected) {
    return OpCase{.op = "constant",
                  .name = name,
                  .build = number(value, type),
                  .expected = {expected},
                  .differentiable = false,
                  .no_gradient = "it has no inputs"};
  };
  return {
      make("f32_rounds_once", 0.1, DType::f32, static_cast<double>(0.1f)),
      make("f64", 0.1, DType::f64, 0.1),
      make("negative_zero", -0.0, DType::f32, -0.0),
      make("i32", -7, DType::i32, -7),
      make("u8", 255, DType::u8, 255),
      make("bool", 1, DType::boolean, 1),
  };
}

}  // namespace
}  // namespace retrace

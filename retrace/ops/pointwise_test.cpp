#include "retrace/ops/pointwise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

std::vector<std::string> float_ops() {
  std::vector<std::string> names;
  for (const Op& op : op_table().all())
    if (op.infer == infer_pointwise_float) names.emplace_back(op.name);
  return names;
}

TEST(Pointwise, OpsOfFloatsRefuseIntegers) {
  const auto names = float_ops();
  for (const char* known : {"exp", "gelu", "pow", "tanh"})
    EXPECT_NE(std::find(names.begin(), names.end(), known), names.end()) << known;
  for (const auto& name : names) {
    const auto inputs = static_cast<size_t>(find_op(name).inputs);
    const TensorSpec integers{DType::i32, {2}, {}, {}};
    EXPECT_EQ(infer_error(name, {}, std::vector<TensorSpec>(inputs, integers)), "error[RT0131]: " + name +
                                                                                    ": x is i32\n"
                                                                                    "  where:    model.cpp:7\n"
                                                                                    "  got:      x i32[2]\n"
                                                                                    "  expected: f32 or f64\n"
                                                                                    "  help:     cast(x, DType::f32)");
  }
}

}  // namespace
}  // namespace retrace

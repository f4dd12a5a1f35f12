#include "retrace/ops/pointwise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

// Ops with a rule and no function of integers, and activations that are defined in others.
std::vector<std::string> float_ops() {
  std::vector<std::string> names{"elu",        "gelu",        "gelu_tanh", "hard_sigmoid", "hard_swish", "hard_tanh",
                                 "leaky_relu", "log_sigmoid", "mish",      "selu",         "silu",       "softsign"};
  for (const Op& op : op_table().all())
    if (op.rule && !op.integer && op.name != "widen") names.emplace_back(op.name);  // widen takes bool and u8 alone
  return names;
}

TEST(Pointwise, OpsOfFloatsRefuseIntegers) {
  const auto names = float_ops();
  for (const char* known : {"exp", "pow", "relu", "tanh"})
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

// Kinds of steps: which one computes a node.
#include "retrace/plan/cpu/step.h"

#include <gtest/gtest.h>

#include <map>

#include "retrace/ops/op.h"
#include "retrace/plan/compile.h"
#include "retrace/plan/layout/launch_order.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

// The kinds of the steps of a planned trace, in order; each node that runs is of one kind alone.
std::vector<std::string_view> kinds_of(const Trace& trace) {
  std::vector<std::string_view> names;
  for (const Node& node : trace.nodes) {
    if (!runs(node)) continue;
    std::vector<std::string_view> found;
    for (const StepKind& kind : step_kinds().all())
      if (kind.takes(trace, node)) found.push_back(kind.name);
    EXPECT_EQ(found.size(), 1u) << node.op->name;
    names.push_back(found.empty() ? "" : found[0]);
  }
  return names;
}

std::vector<std::string_view> planned(const std::string& text) {
  return kinds_of(optimise(parse_trace(text, op_table()), {}));
}

using Kinds = std::vector<std::string_view>;

TEST(Steps, ANodeIsOfOneKind) {
  EXPECT_EQ(planned("%0 = input f32[8]\n%1 = exp(%0)\nreturn %1\n"), Kinds{"chain"});
  EXPECT_EQ(planned("%0 = input f32[8]\n%1 = exp(%0)\n%2 = relu(%1)\nreturn %2\n"), Kinds{"chain"});
  EXPECT_EQ(planned("%0 = input i32[8]\n%1 = add(%0, %0)\nreturn %1\n"), Kinds{"kernel"});
  EXPECT_EQ(planned("%0 = input f64[8]\n%1 = exp(%0)\nreturn %1\n"), Kinds{"kernel"});
  EXPECT_EQ(planned("%0 = input f32[8,3]\n%1 = max(%0) {axes=[0], keep=0}\nreturn %1\n"), Kinds{"kernel"});
  EXPECT_EQ(planned("%0 = input f32[8,3]\n%1 = square(%0)\n%2 = sum(%1) {axes=[0], keep=0}\nreturn %2\n"),
            Kinds{"prologue"});
  EXPECT_EQ(planned("%0 = input f32[3,3]\n%1 = matmul(%0, %0) {transpose_a=0, transpose_b=0}\n%2 = relu(%1)\n"
                    "return %2\n"),
            Kinds{"epilogue"});
  EXPECT_EQ(planned("%0 = input f32[4096,2]\n%1 = input f32[2,20]\n%2 = input f32[20,5]\n"
                    "%3 = matmul(%0, %1) {transpose_a=0, transpose_b=0}\n"
                    "%4 = matmul(%3, %2) {transpose_a=0, transpose_b=0}\nreturn %4\n"),
            Kinds{"row"});
}

TEST(Steps, WhatNoKindTakesIsTold) {
  const Op stranger{.name = "stranger", .inputs = 1};
  Trace trace;
  const TensorSpec spec{DType::f32, {2}, {}, {}};
  trace.add_input(spec);
  Node node;
  node.op = &stranger;
  node.inputs = trace.inputs;
  trace.outputs = {trace.add_node(std::move(node), std::span(&spec, 1))};
  try {
    Plan(std::move(trace), {}, {});
    FAIL() << "a plan was made";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no kind of step computes stranger"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace retrace

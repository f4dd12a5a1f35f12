// What is cut out, joined, put into zeros and added (fuse_parts): one kernel, and the bits of the ops one by one.
#include "retrace/plan/programs/part_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "retrace/ops/op.h"
#include "retrace/plan/compile.h"
#include "retrace/plan/plan.h"
#include "retrace/tensor/tensor.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

// Numbers with zeros of both signs, NaN and infinities among them.
std::vector<float> part_numbers(int64_t count, uint32_t seed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kSpecial[] = {0.0f,      -0.0f,      -0.0f,
                                       kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) {
    seed = seed * 1664525u + 1013904223u;
    number = (seed >> 9) % 3 == 0 ? kSpecial[(seed >> 20) % 6] : static_cast<float>(seed >> 16) / 1024 - 32;
  }
  return numbers;
}

std::vector<std::vector<float>> results_of_parts(const std::string& text, std::vector<std::string> off,
                                                 size_t* kernels) {
  const Trace recorded = parse_trace(text, op_table());
  PlanOptions options;
  options.passes_off = std::move(off);
  Trace planned = optimise(recorded, options);
  if (kernels)
    *kernels = static_cast<size_t>(std::count_if(planned.nodes.begin(), planned.nodes.end(),
                                                 [](const Node& node) { return node.op == &parts_op(); }));
  Plan plan(std::move(planned), options, {});
  std::vector<std::vector<float>> in, out;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (ValueId id : recorded.inputs)
    in.push_back(part_numbers(recorded.spec(id).count(), static_cast<uint32_t>(in.size()) + 1));
  for (ValueId id : recorded.outputs) out.emplace_back(static_cast<size_t>(recorded.spec(id).count()));
  for (auto& each : in) inputs.push_back(each.data());
  for (auto& each : out) outputs.push_back(each.data());
  plan.run(inputs.data(), outputs.data());
  return out;
}

void expect_same_parts(const std::string& text, size_t kernels) {
  size_t found = 0;
  const auto fused = results_of_parts(text, {}, &found), plain = results_of_parts(text, {"fuse_parts"}, nullptr);
  EXPECT_EQ(found, kernels) << text;
  ASSERT_EQ(fused.size(), plain.size());
  for (size_t k = 0; k < fused.size(); ++k)
    for (size_t i = 0; i < fused[k].size(); ++i) {
      if (std::isnan(plain[k][i])) {
        EXPECT_TRUE(std::isnan(fused[k][i])) << text << k << " " << i;
      } else {
        EXPECT_EQ(fused[k][i], plain[k][i]) << text << k << " " << i;
        EXPECT_EQ(std::signbit(fused[k][i]), std::signbit(plain[k][i])) << text << k << " " << i;
      }
    }
}

TEST(PartProgram, Rolls) {
  expect_same_parts(
      "%0 = input f32[20000]\n%1 = slice(%0) {begin=[19993], end=[20000], step=[1]}\n"
      "%2 = slice(%0) {begin=[0], end=[19993], step=[1]}\n%3 = concatenate(%1, %2) {axis=0}\nreturn %3\n",
      1);
  expect_same_parts(
      "%0 = input f32[7,50,60]\n%1 = slice(%0) {begin=[0,40,0], end=[7,50,60], step=[1,1,1]}\n"
      "%2 = input f32[7,3,60]\n%3 = slice(%0) {begin=[0,0,0], end=[7,40,60], step=[1,1,1]}\n"
      "%4 = concatenate(%1, %2, %3) {axis=1}\nreturn %4\n",
      1);
}

TEST(PartProgram, PutsIntoZeros) {
  expect_same_parts(
      "%0 = input f32[3,16,16,32]\n%1 = pad(%0) {shape=[3,16,18,32], begin=[0,0,1,0], step=[1,1,1,1]}\n"
      "return %1\n",
      1);
  expect_same_parts(
      "%0 = input f32[5,7]\n%1 = slice(%0) {begin=[1,2], end=[4,7], step=[1,1]}\n"
      "%2 = pad(%1) {shape=[3,9], begin=[0,3], step=[1,1]}\nreturn %2\n",
      1);
  expect_same_parts("%0 = input f32[5,0]\n%1 = pad(%0) {shape=[6,3], begin=[1,1], step=[1,1]}\nreturn %1\n", 1);
  expect_same_parts("%0 = input f32[5]\n%1 = pad(%0) {shape=[12], begin=[1], step=[2]}\nreturn %1\n", 0);
}

// Zeros of terms that are not there make +0 of -0; where all terms are -0 the sum is.
TEST(PartProgram, AddsFromLeftToRight) {
  const std::string three =
      "%0 = input f32[6,40]\n%1 = input f32[5,50]\n%2 = input f32[7,50]\n"
      "%3 = pad(%0) {shape=[9,50], begin=[1,5], step=[1,1]}\n%4 = pad(%1) {shape=[9,50], begin=[3,0], step=[1,1]}\n"
      "%5 = pad(%2) {shape=[9,50], begin=[2,0], step=[1,1]}\n%6 = add(%3, %4)\n";
  expect_same_parts(three + "%7 = add(%6, %5)\nreturn %7\n", 1);
  expect_same_parts(three + "%7 = input f32[9,50]\n%8 = add(%6, %7)\n%9 = add(%8, %5)\nreturn %9\n", 1);
  expect_same_parts(three + "%7 = add(%5, %6)\nreturn %7, %6\n", 2);
  expect_same_parts(
      "%0 = input f32[30000]\n%1 = slice(%0) {begin=[0], end=[29000], step=[1]}\n"
      "%2 = slice(%0) {begin=[9000], end=[30000], step=[1]}\n"
      "%3 = pad(%1) {shape=[30000], begin=[1000], step=[1]}\n"
      "%4 = pad(%2) {shape=[30000], begin=[0], step=[1]}\n%5 = add(%3, %4)\nreturn %5\n",
      1);
}

}  // namespace
}  // namespace retrace

// Runs every case of every op (op_case.h): the double-precision reference, gradients, equal bits under every
// configuration, and the text form. A test's name is op and case, so that a failure can be run again alone.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "retrace/device/cuda/emulation/emulation.h"
#include "retrace/ops/op.h"
#include "retrace/ops/testing/op_case_run.h"
#include "retrace/trace/text.h"

namespace retrace {

std::vector<OpCase> pointwise_cases(const OpCase& like) {
  std::vector<OpCase> cases;
  const size_t arity = like.inputs.size();
  const auto add = [&](const std::string& name, std::vector<Shape> shapes, std::vector<std::string> labels = {}) {
    OpCase made = like;
    made.name = like.name + name;
    for (size_t i = 0; i < arity; ++i) {
      made.inputs[i].shape = shapes[std::min(i, shapes.size() - 1)];
      if (!labels.empty()) made.inputs[i].labels = labels[std::min(i, labels.size() - 1)];
    }
    cases.push_back(made);
  };
  add("rank_0", {Shape()});
  add("empty", {{0, 3}});
  add("one", {{1}});
  add("odd", {{3, 5, 7}});
  add("long", {{3, 4111}});
  add("labelled", {{2, 3, 3, 5}}, {"BSSC"});
  if (arity == 2) {
    add("by_position", {{3, 1, 7}, {5, 1}});
    add("a_number", {{3, 5}, Shape()});
    add("a_row", {{4, 3, 5}, {5}});
    add("by_label", {{2, 3, 3, 5}, {5}}, {"BSSC", "C"});
  }
  const auto specials = special_values();
  const auto count = static_cast<int64_t>(specials.size());
  add("special_values", arity == 2 ? std::vector<Shape>{{count, 1}, {count}} : std::vector<Shape>{{count}});
  for (auto& input : cases.back().inputs) input.values = specials;
  cases.back().differentiable = false;
  return cases;
}

namespace {

std::vector<OpCase> all_cases() {
  std::vector<OpCase> all;
  for (const auto& [folder, list] : case_lists())
    for (auto& one : list()) all.push_back(std::move(one));
  std::sort(all.begin(), all.end(),
            [](const OpCase& a, const OpCase& b) { return std::pair(a.op, a.name) < std::pair(b.op, b.name); });
  return all;
}

std::string test_name(const OpCase& one) {
  std::string name = one.op + "_" + one.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

class OpCaseTest : public testing::TestWithParam<OpCase> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpCaseTest);
INSTANTIATE_TEST_SUITE_P(Ops, OpCaseTest, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return test_name(info.param); });

bool has_floats(const OpCase& one) {
  return std::any_of(one.inputs.begin(), one.inputs.end(), [](const CaseInput& input) { return is_float(input.type); });
}

TEST_P(OpCaseTest, agrees_with_double_precision) {
  const OpCase& one = GetParam();
  const auto results = one.build(make_inputs(one, DType::f32));
  ASSERT_FALSE(results.empty());
  if (!one.expected.empty()) {
    EXPECT_EQ(inexact(results[0], one.expected), "");
  }
  if (!has_floats(one)) return;  // nothing to widen: `expected` says what is right
  const auto inputs = make_inputs(one, DType::f64);
  const auto references = one.build(inputs);
  std::vector<Tensor> magnitudes;
  if (one.magnitude) magnitudes = one.magnitude(inputs);
  ASSERT_EQ(results.size(), references.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const auto magnitude = magnitudes.empty() ? std::vector<double>() : numbers(magnitudes[i]);
    EXPECT_EQ(outside(numbers(results[i]), numbers(references[i]), one.bound, magnitude), "") << "result " << i;
  }
}

TEST_P(OpCaseTest, gradient_agrees_with_differences) {
  const OpCase& one = GetParam();
  if (!one.differentiable) return;
  constexpr double kStep = 0x1p-13;
  constexpr size_t kElements = 6;  // of each input
  const auto inputs = make_inputs(one, DType::f64);
  const auto gradients = loss_gradients(one, inputs);
  const auto which = differentiated(one);
  ASSERT_EQ(gradients.size(), which.size());
  for (size_t n = 0; n < which.size(); ++n) {
    const Tensor& x = inputs[which[n]];
    const auto found = numbers(gradients[n]);
    const auto values = x.to_vector<double>();
    ASSERT_EQ(found.size(), values.size());
    const size_t elements = std::min(kElements, values.size());
    for (size_t k = 0; k < elements; ++k) {
      const size_t at = k * values.size() / elements;
      const auto loss_at = [&](double value) {
        auto changed = values;
        changed[at] = value;
        auto all = inputs;
        all[which[n]] = Tensor::from_bytes(changed.data(), x.spec());
        return weighted_loss(one.build(all)).item<double>();
      };
      const double difference = (loss_at(values[at] + kStep) - loss_at(values[at] - kStep)) / (2 * kStep);
      EXPECT_NEAR(found[at], difference, 2e-6 * std::max(1.0, std::fabs(difference)))
          << "input " << which[n] << ", element " << at;
    }
  }
}

TEST_P(OpCaseTest, gradient_agrees_with_double_precision) {
  const OpCase& one = GetParam();
  if (!one.differentiable) return;
  const auto gradients = loss_gradients(one, make_inputs(one, DType::f32));
  const auto references = loss_gradients(one, make_inputs(one, DType::f64));
  for (size_t i = 0; i < gradients.size(); ++i)
    EXPECT_EQ(outside(numbers(gradients[i]), numbers(references[i]), one.gradient, {}), "") << "gradient " << i;
}

TEST_P(OpCaseTest, has_the_same_bits_in_every_configuration) {
  const OpCase& one = GetParam();
  std::vector<Tensor> first;
  for (const auto& configuration : configurations()) {
    ConfigurationScope scope(configuration);
    auto inputs = make_inputs(one, DType::f32);
    auto results = one.build(configuration.moved_inputs ? moved(inputs) : inputs);
    evaluate();  // all results in one trace, as a program would ask for them
    if (one.differentiable)
      for (auto& gradient : loss_gradients(one, inputs)) results.push_back(gradient);
    if (first.empty()) first = results;
    ASSERT_EQ(first.size(), results.size());
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(bit_difference(first[i], results[i]), "") << configuration.name << ", result " << i;
  }
}

bool has_op(const Trace& trace, const std::string& op) {
  return std::any_of(trace.nodes.begin(), trace.nodes.end(), [&](const Node& node) { return node.op->name == op; });
}

TEST_P(OpCaseTest, records_its_op_and_reads_back_as_text) {
  const OpCase& one = GetParam();
  RecordingScope scope;
  auto results = one.build(make_inputs(one, DType::f32));
  const Trace trace = scope.recording().take_trace(results);
  EXPECT_TRUE(has_op(trace, one.op)) << print_trace(trace);
  EXPECT_TRUE(parse_trace(print_trace(trace), op_table()) == trace) << print_trace(trace);
}

// Where nobody says otherwise, the CUDA device of this program is the emulated one.
[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

TEST_P(OpCaseTest, has_the_same_bits_on_cuda) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  if (cuda::emulation::set_optimized) cuda::emulation::set_optimized(false);
  const OpCase& one = GetParam();
  Device& cuda = *gpus()[0];
  const auto inputs = make_inputs(one, DType::f32);
  std::vector<Tensor> there;
  for (const Tensor& input : inputs) there.push_back(input.to(cuda));
  try {
    const auto results = one.build(inputs), moved = one.build(there);
    for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(bit_difference(results[i], moved[i]), "") << "result " << i;
    if (!one.differentiable) return;
    // A loss would be one more kernel for the compiler, the same for each op.
    const auto gradients = gradients_alone(one, inputs), moved_gradients = gradients_alone(one, there);
    ASSERT_EQ(gradients.size(), moved_gradients.size());
    for (size_t i = 0; i < gradients.size(); ++i)
      EXPECT_EQ(bit_difference(gradients[i], moved_gradients[i]), "") << "gradient " << i;
  } catch (const Error& error) {
    if (error.code() != 620) throw;
    GTEST_SKIP() << error.message();
  }
}

TEST(Ops, each_has_a_cuda_kernel) {
  for (const auto& op : op_table().all()) {
    const bool needs_one = !op.rule && !op.view && !op.lower && op.inputs != 0;
    EXPECT_TRUE(op.cuda || !needs_one || op.collective) << op.name;
  }
}

TEST(Ops, each_has_a_case_and_a_decision_about_its_gradient) {
  std::set<std::string> cases, differentiated_ops, without;
  for (const auto& one : all_cases()) {
    cases.insert(one.op);
    if (one.differentiable || !one.gradient_test.empty()) differentiated_ops.insert(one.op);
    if (!one.no_gradient.empty()) without.insert(one.op);
  }
  for (const auto& op : op_table().all()) {
    const std::string name(op.name);
    EXPECT_TRUE(cases.contains(name)) << name << " has no case: add one to its folder's test file";
    EXPECT_TRUE(op.gradient ? differentiated_ops.contains(name) && !without.contains(name) : without.contains(name))
        << name << (op.gradient ? " has no differentiated case" : " does not say why it has no gradient (no_gradient)");
    EXPECT_TRUE(op.infer) << name;
  }
  for (const auto& name : cases) EXPECT_TRUE(op_table().find(name)) << name << " is no op";
}

}  // namespace
}  // namespace retrace

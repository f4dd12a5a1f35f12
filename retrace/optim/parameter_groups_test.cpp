// Groups of parameters in loops of one's own: which leaf is in which, what it does to a step, what is refused.

#include <gtest/gtest.h>

#include "retrace/optim/regularize.h"
#include "retrace/run/accelerate.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

Tree grouped_tree(double value) {
  const auto leaf = [&](double at) { return Tensor::from<double>({value + at, value - at}, {2}); };
  return {{"stem", {{"conv2d_1", {{"weights", leaf(0.5)}, {"bias", leaf(0.25)}}}}},
          {"batch_norm_1", {{"scale", leaf(0.125)}, {"offset", leaf(1)}}},
          {"class", {{"weights", leaf(2)}, {"bias", leaf(3)}}}};
}

Tree grouped_steps(const Solver& solver, int steps = 3) {
  Tree parameters = grouped_tree(1), state = solver_state(parameters, solver);
  for (int i = 0; i < steps; ++i) {
    const auto made = solver_update(parameters, grouped_tree(0.1 * i), state, 0.125, solver);
    parameters = made.parameters, state = made.state;
  }
  return parameters;
}

std::vector<double> leaf_of(const Tree& tree, const std::string& path) {
  for (const auto& [name, tensor] : leaves(tree))
    if (name == path) return tensor.to_vector<double>();
  ADD_FAILURE() << path;
  return {};
}

// What each leaf takes is what it would take if it were trained alone with the options of its group.
TEST(ParameterGroups, EachLeafStepsByItsOwnOptions) {
  const Solver grouped{"adamw",
                       {{"weight_decay", 0.5}},
                       {{.parameters = {"*bias", "batch_norm_*"}, .options = {{"weight_decay", 0}}},
                        {.parameters = {"stem/*"}, .learn_rate_factor = 0.5, .options = {{"gradient_decay", 0.5}}}}};
  const Tree made = grouped_steps(grouped);
  const Tree decays = grouped_steps({"adamw", {{"weight_decay", 0.5}}});
  const Tree keeps = grouped_steps({"adamw", {{"weight_decay", 0.0}}});
  for (const auto& [path, tensor] : leaves(made)) {
    if (path == "stem/conv2d_1/weights") continue;
    const bool spared = path.ends_with("bias") || path.starts_with("batch_norm");
    EXPECT_EQ(tensor.to_vector<double>(), leaf_of(spared ? keeps : decays, path)) << path;
    EXPECT_NE(tensor.to_vector<double>(), leaf_of(spared ? decays : keeps, path)) << path;
  }
  Tree alone{{"w", grouped_tree(1)["stem"]["conv2d_1"]["weights"].tensor()}}, state;
  const Solver own{"adamw", {{"weight_decay", 0.5}, {"gradient_decay", 0.5}}};
  for (int i = 0; i < 3; ++i) {
    const Tree gradient{{"w", grouped_tree(0.1 * i)["stem"]["conv2d_1"]["weights"].tensor()}};
    const auto step = solver_update(alone, gradient, state, 0.0625, own);
    alone = step.parameters, state = step.state;
  }
  EXPECT_EQ(leaf_of(made, "stem/conv2d_1/weights"), alone["w"].tensor().to_vector<double>());
}

TEST(ParameterGroups, TheFirstThatMatchesTakesALeafAndFrozenOnesStay) {
  const Solver solver{"sgdm",
                      {{"momentum", 0.0}},
                      {{.parameters = {"class/?eights"}, .learn_rate_factor = 2},
                       {.parameters = {"class*"}, .frozen = true},
                       {.parameters = {"*"}, .learn_rate_factor = 0.5}}};
  const Tree made = grouped_steps(solver, 1), start = grouped_tree(1);
  EXPECT_EQ(leaf_of(made, "class/bias"), leaf_of(start, "class/bias"));
  EXPECT_EQ(leaf_of(made, "class/weights")[0], 3 - 0.25 * 2);
  EXPECT_EQ(leaf_of(made, "batch_norm_1/scale")[0], 1.125 - 0.0625 * 0.125);
  EXPECT_EQ(leaves(solver_state(start, solver)).size(), 5u) << "nothing is kept for what is frozen";
  EXPECT_EQ(leaf_of(grouped_steps({"sgdm", {{"momentum", 0.0}}}, 1), "class/bias")[0], 4 - 0.125 * 3);
}

TEST(ParameterGroups, L2HasTheFactorOfTheGroup) {
  const std::vector<ParameterGroup> groups{{.parameters = {"class/*"}, .l2_factor = 0.5},
                                           {.parameters = {"batch_norm*"}, .frozen = true}};
  const Tree made = l2_regularization(grouped_tree(1), grouped_tree(0), 0.25, groups);
  EXPECT_EQ(leaf_of(made, "class/weights")[0], 2 + 0.125 * 3);
  EXPECT_EQ(leaf_of(made, "class/bias")[0], 3);
  EXPECT_EQ(leaf_of(made, "stem/conv2d_1/weights")[0], 0.5 + 0.25 * 1.5);
}

// The same bits where the step is recorded and replayed.
TEST(ParameterGroups, AnAcceleratedStepHasTheSameBits) {
  const Solver solver{
      "adam", {}, {{.parameters = {"*bias"}, .learn_rate_factor = 0.3, .options = {{"epsilon", 1e-3}}}}};
  const auto step = accelerate([&](const Tree& p, const Tree& g, const Tree& s, const Operand& rate) {
    const auto made = solver_update(p, g, s, rate, solver);
    return Tree{{"parameters", made.parameters}, {"state", made.state}};
  });
  Tree plain = grouped_tree(1), plain_state = solver_state(plain, solver), fast = plain, fast_state = plain_state;
  for (int i = 0; i < 4; ++i) {
    const auto made = solver_update(plain, grouped_tree(0.1 * i), plain_state, 0.125f, solver);
    plain = made.parameters, plain_state = made.state;
    const Tree replayed = step(fast, grouped_tree(0.1 * i), fast_state, 0.125f);
    fast = replayed["parameters"], fast_state = replayed["state"];
  }
  EXPECT_EQ(fingerprint(fast), fingerprint(plain));
}

std::string refused_groups(const std::vector<ParameterGroup>& groups) {
  return error_of([&] { solver_state(grouped_tree(1), {"adamw", {}, groups}); });
}

TEST(ParameterGroups, WhatFitsNothingIsRefused) {
  const auto near = [](const char* pattern) { return refused_groups({{.parameters = {pattern}}}); };
  EXPECT_TRUE(says(near("*bais"), "error[RT0461]: the pattern \"*bais\" of a group matches no parameter"));
  EXPECT_TRUE(says(near("*bais"), "did you mean \"*bias\"?")) << near("*bais");
  EXPECT_TRUE(says(near("stem"), "did you mean \"stem/*\"?")) << near("stem");
  EXPECT_TRUE(says(near("conv2d_1/*"), "did you mean \"*/conv2d_1/*\"?")) << near("conv2d_1/*");
  EXPECT_TRUE(says(near("clas/bias"), "did you mean \"class/bias\"?")) << near("clas/bias");
  EXPECT_TRUE(says(near("nothing like it"), "batch_norm_1/offset, batch_norm_1/scale, class/bias"));
  EXPECT_TRUE(says(refused_groups({{.parameters = {"*"}}, {.parameters = {"*bias"}}}), "error[RT0462]"));
  EXPECT_TRUE(says(refused_groups({{.learn_rate_factor = 2}}), "error[RT0462]: a group of parameters has no patterns"));
  EXPECT_TRUE(says(refused_groups({{.parameters = {"*"}, .learn_rate_factor = -1}}), "error[RT0462]"));
  EXPECT_TRUE(says(refused_groups({{.parameters = {"*"}, .frozen = true}}), "error[RT0463]"));
  const auto unknown = refused_groups({{.parameters = {"*"}, .options = {{"weight_decya", 0.0}}}});
  EXPECT_TRUE(says(unknown, "error[RT0432]")) << unknown;
  EXPECT_TRUE(says(unknown, "weight_decay")) << unknown;
}

}  // namespace
}  // namespace retrace

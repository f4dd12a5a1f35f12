#include "retrace/optim/solver.h"

#include <gtest/gtest.h>

namespace retrace {
namespace {

Tree sgdm_weight(float value) { return {{"w", Tensor::from<float>({value}, {1})}}; }
float sgdm_weight_of(const Tree& tree) { return tree["w"].tensor().item<float>(); }

TEST(SgdmUpdate, three_steps_by_hand_with_a_falling_rate) {
  // v = 0.9 v - rate g; w = w + v. The drop of the rate leaves the old velocity as it is: with the rate outside of the
  // velocity the third step would lead to 0.9082.
  const float gradients[] = {0.5f, -0.25f, 2.0f}, rates[] = {0.1f, 0.1f, 0.01f};
  const float weights[] = {0x1.e66666p-1f, 0x1.dc28f6p-1f, 0x1.c8b43ap-1f};
  const float velocities[] = {-0x1.99999ap-5f, -0x1.47ae12p-6f, -0x1.374bc4p-5f};
  Tree parameters = sgdm_weight(1);
  SgdmState state;
  for (int i = 0; i < 3; ++i) {
    auto updated =
        sgdm_update(parameters, sgdm_weight(gradients[i]), state, {.learn_rate = rates[i], .momentum = 0.9f});
    parameters = updated.parameters, state = updated.state;
    EXPECT_EQ(sgdm_weight_of(parameters), weights[i]) << i;
    EXPECT_EQ(sgdm_weight_of(state.velocity), velocities[i]) << i;
  }
}

TEST(SgdmUpdate, options_are_rounded_to_the_type_of_the_parameter) {
  const auto wide = [](double value) { return Tree{{"w", Tensor::from<double>({value}, {1})}}; };
  const auto made = sgdm_update(wide(1), wide(0.5), {wide(-0.25)}, {.learn_rate = 0.1, .momentum = 0.9});
  EXPECT_EQ(made.state.velocity["w"].tensor().item<double>(), 0.9 * -0.25 - 0.1 * 0.5);
  EXPECT_EQ(made.parameters["w"].tensor().item<double>(), 1 + (0.9 * -0.25 - 0.1 * 0.5));
}

TEST(SgdmUpdate, idle_velocity_becomes_zero) {
  Tree parameters = sgdm_weight(1);
  SgdmState state{sgdm_weight(1)};
  for (int i = 0; i < 5000; ++i) {
    auto updated = sgdm_update(parameters, sgdm_weight(0), state);
    parameters = updated.parameters, state = updated.state;
    if (i % 100 == 0) sgdm_weight_of(parameters);
  }
  EXPECT_EQ(sgdm_weight_of(state.velocity), 0);
}

TEST(SgdmUpdate, keeps_nesting_and_types) {
  const Tree parameters{{"a", {{"bias", Tensor::zeros({2})}, {"weights", Tensor::zeros({2, 2}, DType::f64)}}},
                        {"b", Tensor::zeros({})}};
  const auto updated = sgdm_update(parameters, parameters, {});
  check_same_structure(parameters, updated.parameters, "test");
  check_same_structure(parameters, updated.state.velocity, "test");
  EXPECT_EQ(updated.parameters["a"]["weights"].tensor().type(), DType::f64);
  EXPECT_EQ(to_tree(updated.state)["velocity"]["b"].tensor().item<float>(), 0);
  EXPECT_EQ(sgdm_state(to_tree(updated.state)).velocity["b"].tensor().item<float>(), 0);
}

TEST(SgdmUpdate, says_what_does_not_fit) {
  std::string text;
  try {
    sgdm_update(sgdm_weight(1), sgdm_weight(1), {}, {.momentum = -0.5f}, Place{"train.cpp", 12});
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_EQ(text,
            "error[RT0182]: sgdm_update: momentum is -0.5\n"
            "  where:    train.cpp:12\n"
            "  expected: a number from 0 to below 1");
}

}  // namespace
}  // namespace retrace

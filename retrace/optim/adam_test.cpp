#include "retrace/optim/solver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "retrace/trace/record.h"

namespace retrace {
namespace {

Tree one(float value) { return {{"w", Tensor::from<float>({value}, {1})}}; }
float value_of(const Tree& tree) { return tree["w"].tensor().item<float>(); }

std::string error_text(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AdamUpdate, three_steps_by_hand) {
  // Gradients 0.5, -0.25, 2 from w = 1 with rate 0.1; each f32 operation of adam.h was rounded by hand (in binary64,
  // then to f32). The formula in exact arithmetic gives 0.90000000051, 0.87336629813, 0.80630153140.
  const float gradients[] = {0.5f, -0.25f, 2.0f};
  const float weights[] = {0x1.ccccccp-1f, 0x1.bf29dep-1f, 0x1.9cd38ep-1f};
  const float means[] = {0x1.9999ap-5f, 0x1.47ae18p-6f, 0x1.be76dp-3f};
  const float squares[] = {0x1.0624p-12f, 0x1.4769e4p-12f, 0x1.1a9562p-8f};
  Tree parameters = one(1);
  AdamState adam;
  for (int i = 0; i < 3; ++i) {
    auto updated = adam_update(parameters, one(gradients[i]), adam, {.learn_rate = 0.1f});
    parameters = updated.parameters, adam = updated.state;
    EXPECT_EQ(value_of(parameters), weights[i]) << i;
    EXPECT_EQ(value_of(adam.mean), means[i]) << i;
    EXPECT_EQ(value_of(adam.mean_square), squares[i]) << i;
    EXPECT_EQ(adam.step.item<int32_t>(), i + 1);
  }
}

TEST(AdamUpdate, double_precision_follows_the_formula) {
  Tree parameters{{"w", Tensor::from<double>({1}, {1})}};
  AdamState adam;
  double w = 1, mean = 0, square = 0;
  const double b1 = 0.9, b2 = 0.999;
  for (int t = 1; t <= 20; ++t) {
    const double g = t % 3 - 0.75;
    auto updated = adam_update(parameters, {{"w", Tensor::from<double>({g}, {1})}}, adam, {.learn_rate = 0.125});
    parameters = updated.parameters, adam = updated.state;
    mean = b1 * mean + (1 - b1) * g, square = b2 * square + (1 - b2) * g * g;
    w -= 0.125 * (mean / (1 - std::pow(b1, t))) / (std::sqrt(square / (1 - std::pow(b2, t))) + 1e-8);
    EXPECT_NEAR(parameters["w"].tensor().item<double>(), w, 1e-13) << t;
  }
}

TEST(AdamUpdate, idle_states_become_zero_and_cost_nothing) {
  const int64_t size = 20'000;
  Tree parameters{{"w", Tensor::full(1, {size})}};
  const Tree zero{{"w", Tensor::zeros({size})}};
  AdamState adam{{{"w", Tensor::full(1, {size})}}, {{"w", Tensor::full(0x1p-120, {size})}}, Tensor::scalar(int32_t{0})};
  double first = 0, last = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto start = std::chrono::steady_clock::now();
    auto updated = adam_update(parameters, zero, adam);
    parameters = updated.parameters, adam = updated.state;
    evaluate();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i >= 100 && i < 600) first += seconds;
    if (i >= 4500) last += seconds;
  }
  EXPECT_EQ(adam.mean["w"].tensor().to_vector<float>(), std::vector<float>(size, 0));
  EXPECT_EQ(adam.mean_square["w"].tensor().to_vector<float>(), std::vector<float>(size, 0));
  EXPECT_LT(last, 3 * first) << "subnormal numbers make a step 14 to 26 times slower";
}

TEST(AdamUpdate, the_rate_is_no_part_of_the_recorded_work) {
  const auto recorded = [](const Operand& rate) {
    RecordingScope scope;
    auto updated = adam_update(one(1), one(2), {}, {.learn_rate = rate});
    const Tensor outputs[] = {updated.parameters["w"], updated.state.step};
    return scope.recording().take_trace(outputs);
  };
  EXPECT_TRUE(recorded(0.5f) == recorded(0.25f));
  EXPECT_TRUE(recorded(0.5f) == recorded(Tensor::scalar(0.25f)));
}

TEST(AdamUpdate, the_first_step_records_what_later_ones_record) {
  const auto recorded = [](const AdamState& state) {
    RecordingScope scope;
    auto updated = adam_update(one(1), one(2), state);
    const Tensor outputs[] = {updated.parameters["w"], updated.state.step};
    return scope.recording().take_trace(outputs);
  };
  AdamState second = adam_update(one(1), one(2), {}).state;
  evaluate();
  EXPECT_TRUE(recorded({}) == recorded(second));
}

TEST(AdamUpdate, takes_a_rate_from_a_tensor) {
  const auto with = [](const Operand& rate) {
    return value_of(adam_update(one(1), one(2), {}, {.learn_rate = rate}).parameters);
  };
  EXPECT_EQ(with(0.25f), with(Tensor::scalar(0.25f)));
  EXPECT_EQ(with(0.25f), with(Tensor::scalar(0.25)));
}

TEST(AdamUpdate, its_state_is_a_tree_for_files) {
  const AdamState state = adam_update(one(1), one(2), {}).state;
  const AdamState back = adam_state(to_tree(state));
  EXPECT_EQ(value_of(back.mean), value_of(state.mean));
  EXPECT_EQ(value_of(back.mean_square), value_of(state.mean_square));
  EXPECT_EQ(back.step.item<int32_t>(), 1);
}

TEST(AdamUpdate, says_what_does_not_fit) {
  const Place place{"train.cpp", 12};
  const Tree parameters{{"conv2d_1", {{"weights", Tensor::zeros({3})}}}};
  EXPECT_EQ(error_text([&] { adam_update(parameters, one(1), {}, {}, place); }),
            "error[RT0123]: adam_update, parameters and gradients: the trees differ at \"conv2d_1\"\n"
            "  where:    train.cpp:12\n"
            "  expected: two trees with the same names and nesting");
  EXPECT_EQ(
      error_text([&] { adam_update(parameters, {{"conv2d_1", {{"weights", Tensor::zeros({2})}}}}, {}, {}, place); }),
      "error[RT0181]: adam_update: the gradient of \"conv2d_1/weights\" has another shape or type\n"
      "  where:    train.cpp:12\n"
      "  got:      f32[2]\n"
      "  expected: f32[3], as the parameter");
  EXPECT_EQ(error_text([&] { adam_update(parameters, parameters, {one(1), {}, {}}, {}, place); }),
            "error[RT0123]: adam_update, parameters and mean: the trees differ at \"conv2d_1\"\n"
            "  where:    train.cpp:12\n"
            "  expected: two trees with the same names and nesting");
  EXPECT_EQ(error_text([&] { adam_update(parameters, parameters, {}, {.gradient_decay = 1}, place); }),
            "error[RT0182]: adam_update: gradient_decay is 1\n"
            "  where:    train.cpp:12\n"
            "  expected: a number from 0 to below 1");
  EXPECT_EQ(error_text([&] { adam_update(parameters, parameters, {}, {.epsilon = -1}, place); }),
            "error[RT0182]: adam_update: epsilon is -1\n"
            "  where:    train.cpp:12\n"
            "  expected: 0 or a positive number");
  const Tree integers{{"w", Tensor::zeros({1}, DType::i32)}};
  EXPECT_EQ(error_text([&] { adam_update(integers, integers, {}, {}, place); }),
            "error[RT0183]: adam_update: the parameter \"w\" is not a float tensor\n"
            "  where:    train.cpp:12\n"
            "  got:      i32[1]\n"
            "  expected: f32 or f64");
}

}  // namespace
}  // namespace retrace

#include "retrace/nn/networks.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/nn/models.h"
#include "retrace/nn/network_kind.h"
#include "retrace/ops/random/random.h"
#include "retrace/optim/solver.h"

namespace retrace::nn {
namespace {

int64_t count_of(const Tree& tree) {
  int64_t sum = 0;
  for (const auto& tensor : leaf_tensors(tree)) sum += tensor.size();
  return sum;
}

TEST(Networks, have_the_published_numbers_of_learnables) {
  EXPECT_EQ(count_of(models::digits(random_key(1)).parameters), 84'075);
  EXPECT_EQ(count_of(models::digits(random_key(1), {.heads = {"class"}}).parameters), 84'075 - 6'273);
  EXPECT_EQ(count_of(models::peaks(random_key(1)).parameters), 171);
  EXPECT_EQ(count_of(models::autoencoder(random_key(1)).parameters), 12'609);
  EXPECT_EQ(count_of(models::cifar10(random_key(1)).parameters), 677'610);
}

TEST(Networks, digits_has_the_names_of_the_walk_through) {
  const auto network = models::digits(random_key(1));
  std::string names, states;
  for (const auto& [name, child] : network.parameters.children()) names += name + " ";
  for (const auto& [name, child] : network.state.children()) states += name + " ";
  EXPECT_EQ(
      names,
      "angle batch_norm_1 batch_norm_2 batch_norm_3 batch_norm_skip class conv2d_1 conv2d_2 conv2d_3 conv2d_skip ");
  EXPECT_EQ(states, "batch_norm_1 batch_norm_2 batch_norm_3 batch_norm_skip ");
  EXPECT_EQ(network.parameters["conv2d_1"]["weights"].tensor().shape(), (Shape{5, 5, 1, 16}));
  EXPECT_EQ(network.parameters["conv2d_skip"]["weights"].tensor().shape(), (Shape{1, 1, 16, 32}));
  EXPECT_EQ(network.parameters["class"]["weights"].tensor().shape(), (Shape{10, 6272}));
}

// Inputs and targets of a small batch, as its outputs say.
struct Batch {
  Tensor x;
  Tree targets;
};

Batch batch_of(const Network& network, int64_t size) {
  Shape shape{size};
  for (int64_t axis : network.sample) shape.push_back(axis);
  Batch batch{uniform(shape, random_key(5), {.labels = shape.rank() == 4 ? "BSSC" : "BC"}), {}};
  for (const auto& output : network.outputs) {
    Tree& target = batch.targets[output.name];
    switch (output.kind) {
      case OutputKind::class_scores: target = integers({size}, 10, random_key(6), {.labels = "B"}); break;
      case OutputKind::position_scores:
      case OutputKind::series_scores:
      case OutputKind::series_values:
      case OutputKind::pixel_scores:
      case OutputKind::token_scores: ADD_FAILURE() << "no built-in network has such outputs"; break;
      case OutputKind::image: target = batch.x; break;
      case OutputKind::values: target = normal({size, 1}, random_key(7), {.labels = "BC"}); break;
    }
  }
  return batch;
}

TEST(Networks, learn_a_small_batch) {
  for (const auto& name : names_of(all_networks())) {
    const Network network = make_network(random_key(3), {.name = name});
    const Batch batch = batch_of(network, name == "cifar10" ? 2 : 6);
    auto step = value_and_grad([&](const Tree& p, const Tensor& x, const Tree& targets, const Tree& state) {
      auto [y, moments] = network.forward(x, p, state, Phase::train);
      return WithAux{network.loss(y, targets), moments};
    });
    Tree parameters = network.parameters, state = network.state;
    AdamState adam;
    float first = 0, last = 0;
    for (int i = 0; i < 6; ++i) {
      auto [loss, gradients, moments] = step(parameters, batch.x, batch.targets, state);
      auto updated = adam_update(parameters, gradients, adam, {.learn_rate = name == "peaks" ? 0.05f : 0.002f});
      parameters = updated.parameters, adam = updated.state;
      state = update_statistics(state, moments);
      (i == 0 ? first : last) = loss.item<float>();
    }
    EXPECT_LT(last, first) << name;
    EXPECT_GT(last, 0) << name;
    const Tree y = network.forward(batch.x, parameters, state, Phase::inference).y;
    for (const auto& output : network.outputs)
      EXPECT_EQ(y[output.name].tensor().shape()[0], batch.x.shape()[0]) << name;
  }
}

std::string refusal(const NetworkOptions& options) {
  try {
    make_network(random_key(1), options, Place{"job.toml", 3});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Networks, an_unknown_name_lists_the_known) {
  EXPECT_EQ(refusal({.name = "digit"}),
            "error[RT0196]: there is no network \"digit\"\n"
            "  where:    job.toml:3\n"
            "  expected: autoencoder, cifar10, digits, peaks\n"
            "  help:     did you mean \"digits\"?");
}

TEST(Networks, options_that_do_not_fit_are_refused) {
  EXPECT_EQ(refusal({.name = "digits", .heads = {"class", "angel"}}),
            "error[RT0196]: there is no output of network \"digits\" \"angel\"\n"
            "  where:    job.toml:3\n"
            "  expected: class, angle\n"
            "  help:     did you mean \"angle\"?");
  EXPECT_EQ(refusal({.name = "digits", .heads = {"angle"}}),
            "error[RT0198]: network \"digits\" always trains the output \"class\"\n"
            "  where:    job.toml:3");
  EXPECT_EQ(refusal({.name = "peaks", .width = 3}),
            "error[RT0199]: network \"peaks\": width is 3\n"
            "  where:    job.toml:3\n"
            "  expected: at least 4");
  EXPECT_EQ(refusal({.name = "peaks", .options = {{"depth", 3}}}),
            "error[RT0432]: network \"peaks\" has no option \"depth\"\n"
            "  where:    job.toml:3\n"
            "  expected: no options");
}

}  // namespace
}  // namespace retrace::nn

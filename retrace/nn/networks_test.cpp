#include "retrace/nn/networks.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/random/random.h"
#include "retrace/optim/adam.h"

namespace retrace::nn {
namespace {

int64_t count(const Tree& tree) {
  int64_t sum = 0;
  for (const auto& tensor : leaf_tensors(tree)) sum += tensor.size();
  return sum;
}

TEST(Networks, have_the_published_numbers_of_learnables) {
  EXPECT_EQ(count(digits(random_key(1)).parameters), 84'075);
  EXPECT_EQ(count(digits(random_key(1), {.angle = false}).parameters), 84'075 - 6'273);
  EXPECT_EQ(count(peaks(random_key(1)).parameters), 171);
  EXPECT_EQ(count(autoencoder(random_key(1)).parameters), 12'609);
  EXPECT_EQ(count(cifar10(random_key(1)).parameters), 677'610);
}

TEST(Networks, digits_has_the_names_of_the_walk_through) {
  const auto network = digits(random_key(1));
  std::string names, states;
  for (const auto& [name, child] : network.parameters.children()) names += name + " ";
  for (const auto& [name, child] : network.state.children()) states += name + " ";
  EXPECT_EQ(names, "angle class conv1 conv2 conv3 conv_skip norm1 norm2 norm3 norm_skip ");
  EXPECT_EQ(states, "norm1 norm2 norm3 norm_skip ");
  EXPECT_EQ(network.parameters["conv1"]["weights"].tensor().shape(), (Shape{5, 5, 1, 16}));
  EXPECT_EQ(network.parameters["conv_skip"]["weights"].tensor().shape(), (Shape{1, 1, 16, 32}));
  EXPECT_EQ(network.parameters["class"]["weights"].tensor().shape(), (Shape{10, 6272}));
}

// Inputs and targets of a small batch, as the table of networks.h says.
struct Batch {
  Tensor x;
  Tree targets;
};

Batch batch_of(const Network& network, int64_t size) {
  Shape shape{size};
  for (int64_t axis : network.sample) shape.push_back(axis);
  Batch batch{uniform(shape, random_key(5), {.labels = shape.rank() == 4 ? "BSSC" : "BC"}), {}};
  for (const auto& name : network.outputs) {
    if (name == "class")
      batch.targets[name] = integers({size}, 10, random_key(6), {.labels = "B"});
    else if (name == "image")
      batch.targets[name] = batch.x;
    else
      batch.targets[name] = normal({size, 1}, random_key(7), {.labels = "BC"});
  }
  return batch;
}

TEST(Networks, learn_a_small_batch) {
  for (const auto& name : network_names()) {
    const Network network = make_network(name, random_key(3));
    const Batch batch = batch_of(network, name == "cifar10" ? 2 : 6);
    auto step = value_and_grad([&](const Tree& p, const Tensor& x, const Tree& targets, const Tree& state) {
      auto [y, moments] = network.model(p, x, state, Phase::train);
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
    const Tree y = network.model(parameters, batch.x, state, Phase::inference).y;
    for (const auto& output : network.outputs) EXPECT_EQ(y[output].tensor().shape()[0], batch.x.shape()[0]) << name;
  }
}

TEST(Networks, an_unknown_name_lists_the_known) {
  std::string text;
  try {
    make_network("digit", random_key(1), {}, Place{"job.toml", 3});
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_EQ(text,
            "error[RT0196]: there is no network \"digit\"\n"
            "  where:    job.toml:3\n"
            "  expected: digits, peaks, autoencoder, cifar10\n"
            "  help:     did you mean \"digits\"?");
}

}  // namespace
}  // namespace retrace::nn

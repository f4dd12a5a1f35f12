// Activation layers: each computes its op, in a program and as a job writes it.
#include <gtest/gtest.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/ops.h"

namespace retrace::nn {
namespace {

using Floats = std::vector<float>;

struct Activation {
  const char* name;
  Layer layer;
  Tensor (*op)(const Tensor& x);
};

#define RT_ACTIVATION(name) {#name, name(), [](const Tensor& x) { return retrace::name(x); }}
std::vector<Activation> activations() {
  return {RT_ACTIVATION(elu),        RT_ACTIVATION(gelu),      RT_ACTIVATION(gelu_tanh),  RT_ACTIVATION(hard_sigmoid),
          RT_ACTIVATION(hard_swish), RT_ACTIVATION(hard_tanh), RT_ACTIVATION(leaky_relu), RT_ACTIVATION(log_sigmoid),
          RT_ACTIVATION(mish),       RT_ACTIVATION(selu),      RT_ACTIVATION(sigmoid),    RT_ACTIVATION(silu),
          RT_ACTIVATION(softplus),   RT_ACTIVATION(softsign),  RT_ACTIVATION(tanh)};
}
#undef RT_ACTIVATION

Floats output(const Layer& layer, const Tensor& x) {
  return layer.forward(x, {}, {}, Phase::train).y.tensor().to_vector<float>();
}

TEST(Activations, AreTheirOps) {
  const Tensor x = Tensor::from<float>({-4, -2.5f, -0.5f, 0, 0.5f, 2.5f, 4}, {1, 7}, "BC");
  for (const auto& one : activations()) {
    const Floats expected = one.op(x).to_vector<float>();
    EXPECT_EQ(output(one.layer, x), expected) << one.name;
    LayerText text{.type = one.name};
    std::vector<Error> errors;
    const LayerKind& kind = kind_of(all_layers(), one.name, "layer", {});
    EXPECT_EQ(output(kind.layer(completed_options(text, one.name, errors)), x), expected) << one.name;
    EXPECT_TRUE(errors.empty()) << one.name;
  }
}

// At -1, 0 and 1, from their definitions.
TEST(Activations, HaveTheirValues) {
  const Tensor x = Tensor::from<float>({-1, 0, 1}, {1, 3}, "BC");
  const auto near = [&](const Layer& layer, Floats expected) {
    const Floats found = output(layer, x);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
  };
  near(elu(), {-0.63212056f, 0, 1});
  near(elu(0.5), {-0.31606028f, 0, 1});
  near(gelu(), {-0.15865525f, 0, 0.84134475f});
  near(gelu_tanh(), {-0.15880801f, 0, 0.84119199f});
  near(hard_sigmoid(), {0.33333333f, 0.5f, 0.66666667f});
  near(hard_swish(), {-0.33333333f, 0, 0.66666667f});
  near(hard_tanh(), {-1, 0, 1});
  near(softsign(), {-0.5f, 0, 0.5f});
  near(leaky_relu(), {-0.01f, 0, 1});
  near(leaky_relu(0.25), {-0.25f, 0, 1});
  near(log_sigmoid(), {-1.3132617f, -0.69314718f, -0.31326169f});
  near(mish(), {-0.30340146f, 0, 0.86509839f});
  near(selu(), {-1.1113307f, 0, 1.0507010f});
  near(sigmoid(), {0.26894142f, 0.5f, 0.73105858f});
  near(silu(), {-0.26894142f, 0, 0.73105858f});
  near(softplus(), {0.31326169f, 0.69314718f, 1.3132617f});
  near(tanh(), {-0.76159416f, 0, 0.76159416f});
}

TEST(Activations, KeepTheirFactorInTheText) {
  EXPECT_EQ(leaky_relu(0.25).made_from()->options.number("slope"), 0.25);
  EXPECT_EQ(elu(0.5).made_from()->options.number("alpha"), 0.5);
}

}  // namespace
}  // namespace retrace::nn

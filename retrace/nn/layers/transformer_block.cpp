#include "retrace/nn/layers/transformer_block.h"

#include "retrace/base/kinds.h"
#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layers/dropout.h"
#include "retrace/nn/layers/gelu.h"
#include "retrace/nn/layers/gelu_tanh.h"
#include "retrace/nn/layers/layer_norm.h"
#include "retrace/nn/layers/linear.h"
#include "retrace/nn/layers/relu.h"
#include "retrace/nn/layers/rms_norm.h"
#include "retrace/nn/layers/self_attention.h"
#include "retrace/nn/layers/silu.h"

namespace retrace::nn {
namespace {

const std::vector<std::string> kBlockNorms{"layer", "rms"}, kBlockActivations{"gelu", "gelu_tanh", "relu", "silu"};

Layer norm_of_block(const std::string& name, Place place) {
  if (name == "layer") return layer_norm({}, place);
  if (name == "rms") return rms_norm({}, place);
  throw_unknown("norm of transformer_block", name, kBlockNorms, place);
}

Layer activation_of_block(const std::string& name, Place place) {
  if (name == "gelu") return gelu(place);
  if (name == "gelu_tanh") return gelu_tanh(place);
  if (name == "relu") return relu(place);
  if (name == "silu") return silu(place);
  throw_unknown("activation of transformer_block", name, kBlockActivations, place);
}

// x + dropout(part(norm(x))).
Tree with_part(Walk& walk, const Tree& x, const Layer& norm, const Layer& part, double probability, Place place) {
  const Layer last = probability == 0 ? Sequential{} : Layer(dropout(probability, {}, place));
  return residual(Sequential{norm, part, last}, place).apply(walk, x);
}

OptionValues values_of_block(const TransformerBlockOptions& options) {
  return {{"heads", options.heads},
          {"key_value_heads", options.key_value_heads},
          {"causal", options.causal},
          {"rotary", options.rotary},
          {"rotary_base", options.rotary_base},
          {"hidden", options.hidden},
          {"activation", options.activation},
          {"norm", options.norm},
          {"dropout", options.dropout}};
}

}  // namespace

Layer transformer_block(const TransformerBlockOptions& options, const ParameterOptions& parameters, Place place) {
  const Layer norm = norm_of_block(options.norm, place), activation = activation_of_block(options.activation, place);
  const Layer attention = self_attention({.heads = options.heads,
                                          .key_value_heads = options.key_value_heads,
                                          .causal = options.causal,
                                          .rotary = options.rotary,
                                          .rotary_base = options.rotary_base},
                                         parameters, place);
  const auto block = [=](Walk& walk, const Tree& x) {
    const Tree h =
        with_part(walk, x, norm.named("attention_norm"), attention.named("attention"), options.dropout, place);
    const int64_t features = h.tensor().shape().back();
    const auto rows = [&](int64_t outputs) { return linear(outputs, {.flatten = false}, parameters, place); };
    const Layer mlp = Sequential{rows(options.hidden == 0 ? 4 * features : options.hidden).named("hidden"), activation,
                                 rows(features).named("output")};
    return with_part(walk, h, norm.named("mlp_norm"), mlp.named("mlp"), options.dropout, place);
  };
  return Layer("transformer_block", block).with_options(with_parameter_values(values_of_block(options), parameters));
}

namespace {

std::vector<OptionRule> rules_of_block() {
  return with_parameter_rules(
      {count_rule("heads", "that divide the features"),
       {.name = "key_value_heads",
        .help = "heads of keys and values; 0: as many",
        .standard = int64_t{0},
        .low = 0,
        .high = 1e6},
       {.name = "causal", .help = "whether a position sees only itself and those before it", .standard = false},
       {.name = "rotary", .help = "whether queries and keys turn by their positions", .standard = false},
       {.name = "rotary_base", .help = "of the angles", .standard = 10000.0, .high = 1e12, .above_low = true},
       {.name = "hidden",
        .help = "features between the two linear layers; 0: four times those of the input",
        .standard = int64_t{0},
        .low = 0,
        .high = 1e6},
       {.name = "activation",
        .help = "behind the first linear layer",
        .standard = std::string("gelu"),
        .choices = kBlockActivations},
       {.name = "norm",
        .help = "in front of attention and linear layers",
        .standard = std::string("layer"),
        .choices = kBlockNorms},
       {.name = "dropout",
        .help = "the probability with which numbers become 0 in training",
        .standard = 0.0,
        .high = 1}});
}

TransformerBlockOptions options_of_block(const OptionValues& options) {
  return {.heads = options.integer("heads"),
          .key_value_heads = options.integer("key_value_heads"),
          .causal = options.truth("causal"),
          .rotary = options.truth("rotary"),
          .rotary_base = options.number("rotary_base"),
          .hidden = options.integer("hidden"),
          .activation = options.text("activation"),
          .norm = options.text("norm"),
          .dropout = options.number("dropout")};
}

}  // namespace

LayerKind transformer_block_layer() {
  return {.name = "transformer_block",
          .help = "self-attention and two linear layers, each behind a norm and added to its input",
          .options = rules_of_block(),
          .required = {"heads"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return transformer_block(options_of_block(options), parameters_of(options));
          }};
}

}  // namespace retrace::nn

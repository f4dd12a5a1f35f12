#include "retrace/nn/layers/self_attention.h"

#include "retrace/nn/attention_heads.h"
#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

OptionValues values_of_attention(const SelfAttentionOptions& options) {
  return {{"heads", options.heads},
          {"key_value_heads", options.key_value_heads},
          {"causal", options.causal},
          {"rotary", options.rotary},
          {"rotary_base", options.rotary_base}};
}

}  // namespace

Layer self_attention(const SelfAttentionOptions& options, const ParameterOptions& parameters, Place place) {
  return Layer("self_attention",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 return Tree(attention_by_heads(walk, "self_attention", x, x, options, parameters, place));
               })
      .with_options(with_parameter_values(values_of_attention(options), parameters));
}

LayerKind self_attention_layer() {
  return {.name = "self_attention",
          .help = "each position is a weighted mean of what others say, learnt by heads",
          .options = with_parameter_rules(
              {count_rule("heads", "that divide the features"),
               {.name = "key_value_heads",
                .help = "heads of keys and values; 0: as many",
                .standard = int64_t{0},
                .low = 0,
                .high = 1e6},
               {.name = "causal", .help = "whether a position sees only itself and those before it", .standard = false},
               {.name = "rotary", .help = "whether queries and keys turn by their positions", .standard = false},
               {.name = "rotary_base", .help = "of the angles", .standard = 10000.0, .high = 1e12, .above_low = true}}),
          .required = {"heads"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return self_attention({.heads = options.integer("heads"),
                                   .key_value_heads = options.integer("key_value_heads"),
                                   .causal = options.truth("causal"),
                                   .rotary = options.truth("rotary"),
                                   .rotary_base = options.number("rotary_base")},
                                  parameters_of(options));
          }};
}

}  // namespace retrace::nn

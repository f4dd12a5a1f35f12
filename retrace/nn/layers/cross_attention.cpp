#include "retrace/nn/layers/cross_attention.h"

#include <fmt/format.h>

#include "retrace/nn/attention_heads.h"
#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer cross_attention(const CrossAttentionOptions& options, const ParameterOptions& parameters, Place place) {
  const SelfAttentionOptions heads{.heads = options.heads, .key_value_heads = options.key_value_heads};
  return Layer(
             "cross_attention",
             [=](Walk& walk, const Tree& input) {
               const auto inputs = leaf_tensors(input);
               if (inputs.size() != 2)
                 throw Error(ErrorKind::usage, 543, fmt::format("cross_attention: it takes {} inputs", inputs.size()))
                     .where(place)
                     .expected("two: the sequence that asks, and the one that it looks at")
                     .help("in a job: {type = \"cross_attention\", heads = 4, from = [\"x\", \"memory\"]}");
               return Tree(attention_by_heads(walk, "cross_attention", inputs[0], inputs[1], heads, parameters, place));
             })
      .with_options(
          with_parameter_values({{"heads", options.heads}, {"key_value_heads", options.key_value_heads}}, parameters));
}

LayerKind cross_attention_layer() {
  return {.name = "cross_attention",
          .help = "each position of one sequence is a weighted mean of what those of another say, learnt by heads",
          .options = with_parameter_rules({count_rule("heads", "that divide the features"),
                                           {.name = "key_value_heads",
                                            .help = "heads of keys and values; 0: as many",
                                            .standard = int64_t{0},
                                            .low = 0,
                                            .high = 1e6}}),
          .required = {"heads"},
          .learns = true,
          .joins = true,
          .layer = [](const OptionValues& options) {
            return cross_attention(
                {.heads = options.integer("heads"), .key_value_heads = options.integer("key_value_heads")},
                parameters_of(options));
          }};
}

}  // namespace retrace::nn

#pragma once
// Layers by name: retrace/nn/layers/NAME.cpp defines `LayerKind NAME_layer()`, which makes it of a job's text.

#include <functional>

#include "retrace/base/error.h"
#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/nn/layer_text.h"
#include "retrace/nn/parameters.h"

namespace retrace::nn {

struct LayerKind {
  std::string name;                        // that of the function: "conv2d"
  std::string_view help;                   // one line
  std::vector<OptionRule> options = {};    // a list of whole numbers may be one number, or one of the rule's choices
  std::vector<std::string> required = {};  // options without a default
  bool learns = false;                     // has parameters
  bool joins = false;                      // takes several inputs: x is a branch of them, in their order
  // The layer for options that are complete.
  std::function<Layer(const OptionValues& options)> layer;
};

// Every layer, in the order of the files. Generated.
const std::vector<LayerKind>& all_layers();

// The options of a layer in the types of their rules, with the standard values. What is wrong goes to `errors`, each
// with the layer's place, and stays as it is; `label` is the layer in messages. The layer's type must be known.
OptionValues completed_options(const LayerText& text, const std::string& label, std::vector<Error>& errors);

// Rules and values that layers share. Sizes: one number, or [height, width].
OptionRule size_rule(std::string_view name, std::string_view help, int64_t standard, int64_t low = 1);
Pair pair_of(const OptionValues& options, std::string_view name);
// How far the window of a pooling moves: "pool", by its own size, or as size_rule().
OptionRule pool_stride_rule();
PoolStride pool_stride_of(const OptionValues& options);
// "same", one number, [height, width], or [top, bottom, left, right].
OptionRule padding_rule(std::string_view name, std::string_view help);
Padding padding_of(const OptionValues& options, std::string_view name);
// A number of channels or features.
OptionRule count_rule(std::string_view name, std::string_view help);
// The groups of a convolution's channels.
OptionRule groups_rule();
// `initializer`.
OptionRule initializer_rule();
Initializer initializer_of(const OptionValues& options);
// `initializer` and `bias`.
std::vector<OptionRule> with_parameter_rules(std::vector<OptionRule> rules);
ParameterOptions parameters_of(const OptionValues& options);
// The values of these options, for Layer::with_options(); an initializer that no text names is left out.
OptionValue size_value(Pair size);
OptionValue stride_value(const PoolStride& stride);
OptionValue padding_value(const Padding& padding);
OptionValues with_initializer_value(OptionValues values, const Initializer& initializer);
OptionValues with_parameter_values(OptionValues values, const ParameterOptions& parameters);

}  // namespace retrace::nn

#pragma once
// Options of layers that normalise their input by statistics of the training data, for their files in
// retrace/nn/layers.

#include <string>
#include <vector>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

// `normalization`, and `normalization_by` with those of its choices that the layer has; without `by`, a channel's.
OptionRule normalization_rule();
OptionRule normalization_by_rule(const std::vector<NormalizeBy>& by);
// The first one of each (none, channel) for the empty text of an option that nobody gave.
Normalization normalization_of(const OptionValues& options);
NormalizeBy normalize_by_of(const OptionValues& options);
// Empty for the first one, as where nobody gave the option.
std::string text_of(Normalization normalization);
std::string text_of(NormalizeBy by);

}  // namespace retrace::nn

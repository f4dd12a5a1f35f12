#pragma once
// Options of layers over sequences, for their files in retrace/nn/layers.

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/parameters.h"

namespace retrace::nn {

// A whole number from 1 on.
OptionRule length_rule(std::string_view name, std::string_view help, int64_t standard);
// "same", "causal", one number or [front, behind].
OptionRule end_padding_rule(std::string_view name = "padding", std::string_view help = "at the ends of the sequence");
EndPadding end_padding_of(const OptionValues& options, std::string_view name = "padding");
OptionValue end_padding_value(const EndPadding& padding);
// `stride` of a pooling; 0, which is the size of the window.
OptionRule pool_length_rule();

// Throws Error(usage) that names the layer unless x is [batch,length,channels].
void check_sequence(const Tensor& x, const char* layer, Place place);

}  // namespace retrace::nn

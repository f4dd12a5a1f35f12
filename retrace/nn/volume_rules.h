#pragma once
// Options that layers over volumes share, as rules and as values.

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

// Three sizes: one number, or [depth, height, width].
OptionRule triple_rule(std::string_view name, std::string_view help, int64_t standard, int64_t low = 1);
Triple triple_of(const OptionValues& options, std::string_view name);
OptionValue triple_value(Triple size);
// "same", one number, [depth, height, width], or [front, back, top, bottom, left, right].
OptionRule volume_padding_rule(std::string_view name = "padding", std::string_view help = "around the volume");
VolumePadding volume_padding_of(const OptionValues& options, std::string_view name = "padding");
OptionValue volume_padding_value(const VolumePadding& padding);

}  // namespace retrace::nn

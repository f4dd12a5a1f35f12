#pragma once
// Values, layers and outputs as TOML.

#include <string>
#include <vector>

#include "retrace/nn/networks.h"

namespace retrace {

// Text in quotes; numbers so that they read back to the same bits; a list of one whole number as that number.
std::string toml_text(const OptionValue& value);
// One layer a line, a block on several; empty for no layers.
std::string toml_text(const std::vector<nn::LayerText>& layers);
// One output a line; empty for none.
std::string toml_text(const std::vector<nn::NetworkOutput>& outputs);

}  // namespace retrace

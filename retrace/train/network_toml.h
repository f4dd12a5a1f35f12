#pragma once
// Values, layers, outputs and groups of parameters as TOML.

#include <string>
#include <vector>

#include "retrace/nn/networks.h"
#include "retrace/optim/solver.h"

namespace retrace {

// Text in quotes; numbers so that they read back to the same bits; a list of one whole number as that number.
std::string toml_text(const OptionValue& value);
// One layer a line, a block on several; empty for no layers.
std::string toml_text(const std::vector<nn::LayerText>& layers);
// One output a line; empty for none.
std::string toml_text(const std::vector<nn::NetworkOutput>& outputs);
// One group a line; empty for none.
std::string toml_text(const std::vector<ParameterGroup>& groups);

}  // namespace retrace

#pragma once
// A network of layers that are described one by one (retrace/nn/layer_text.h; docs/networks.md).

#include "retrace/nn/network_kind.h"

namespace retrace::nn {

// The layers with the standard values of their options. What is wrong goes to `errors`, each with its layer's place:
// unknown types, options and names, values out of range, inputs that are missing. Shapes are looked at by analyze().
std::vector<LayerText> checked_layers(std::vector<LayerText> layers, const std::vector<NetworkOutput>& outputs,
                                      std::vector<Error>& errors);

// The network of the options' layers. Its layers() throws Error(usage) unless checked_layers() finds nothing wrong.
NetworkKind layered_network(const NetworkOptions& options);

// The same layers, of which nothing follows the outputs that are class scores. Errors: the same.
Layer plain_layers(const NetworkOptions& options);

// How the layers with factors, or frozen, are trained, in the order of the layers; empty if none is. Throws
// Error(usage) if all parameters are frozen. The options must be those of a network that analyze() accepts.
std::vector<TrainingFactors> training_factors(const NetworkOptions& options);

// "layer 2.3 (conv2d "name")": the layer at that place of its list, the third of the second.
std::string label_of(const LayerText& layer, const std::string& outer, size_t index);

}  // namespace retrace::nn

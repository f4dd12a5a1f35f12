#pragma once
// Networks that were made in code, as the text that job files have (docs/networks.md).

#include "retrace/nn/layer_text.h"
#include "retrace/nn/networks.h"

namespace retrace::nn {

struct NetworkText {
  std::vector<LayerText> layers;
  std::vector<NetworkOutput> outputs;  // those of the network, each with the layer that makes it; empty: the last one
};

// The network as text: plain_layers() makes layers of it that have the same parameters and compute the same ops in
// inference. Starting values that no text names are left out, and so are factors that layers made in code do not have.
// Error(usage) names a layer that is not one of retrace/nn/layers, or what else no text can say.
NetworkText text_of(const Network& network);

// Whether the loss of the network is that which its outputs name.
bool has_named_loss(const Network& network);

}  // namespace retrace::nn

#pragma once
// Layers as text: what job files say of a network (docs/networks.md).

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/base/option_values.h"

namespace retrace::nn {

// One layer, or a block of layers.
struct LayerText {
  std::string type = {};               // of retrace/nn/layers: "conv2d"; empty for a block
  std::string name = {};               // default: the type and a number. That of a block is a level of the tree
  std::vector<std::string> from = {};  // the layers whose outputs it takes; default: the layer before it
  OptionValues options = {};           // of the type
  // Of layers with parameters, and of blocks for all layers in them (factors multiply):
  double learn_rate_factor = 1;        // of the learn rate
  double l2_factor = 1;                // of training.l2_regularization
  bool frozen = false;                 // training leaves the parameters as they are
  int64_t repeat = 1;                  // of a block: how often it stands there, each time with parameters of its own
  std::vector<LayerText> layers = {};  // of a block
  std::string place = {};              // for messages: "jobs/x.toml:3:5"
};

}  // namespace retrace::nn

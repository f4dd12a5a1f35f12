#pragma once
// What a layer was made of, for its text (retrace/nn/network_text.h).

#include "retrace/nn/layer_text.h"
#include "retrace/nn/networks.h"

namespace retrace::nn {

struct LayerMade {
  enum class Form {
    kind,   // a layer of retrace/nn/layers
    chain,  // one part after another
    sum,    // of the parts, which take the same input
    heads,  // an output for each part, by its name, from the same input
    text,   // layers as job files say them
  };
  Form form = Form::kind;
  std::string type = {};      // of a kind
  OptionValues options = {};  // of a kind
  std::vector<std::pair<std::string, Layer>> parts = {};
  std::vector<LayerText> texts = {};
  std::vector<NetworkOutput> outputs = {};  // of texts: each has its name, and the layer that makes it
  std::vector<bool> softmaxes = {};         // whether one follows, of each output
};

}  // namespace retrace::nn

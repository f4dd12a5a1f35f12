#pragma once
// What a network is made of, without its values: nothing is computed, and no parameter is drawn.

#include <string>
#include <vector>

#include "retrace/nn/networks.h"

namespace retrace::nn {

// One layer that is no container.
struct LayerSummary {
  std::string name, type;          // "conv2d_1", "conv2d"; a layer without an entry in the trees has a name, too
  Shape output;                    // of one sample, without the batch axis
  std::vector<std::string> parts;  // its parameters and state: "weights [3,3,1,8]"
  int64_t learnables = 0;          // numbers that training changes
  int64_t state = 0;               // numbers that it keeps beside them: running statistics
  int64_t output_bytes = 0;        // of one sample
};

// The layers in the order in which they are computed.
struct Analysis {
  Shape input;  // of one sample
  std::vector<LayerSummary> layers;
  Tree outputs;                                             // specs for one sample, with the batch axis; no values
  int64_t learnables = 0, state = 0, activation_bytes = 0;  // sums; the last one of one sample

  // A table for people, one layer a line, and the sums.
  std::string text() const;
};

// Of layers that are given samples of that shape. Throws Error(usage) where the shapes do not fit, naming the layer.
Analysis analyze(const Layer& layers, const Shape& sample, Place place = Place::here());
Analysis analyze(const Network& network, Place place = Place::here());
// The same without making the network's values. Errors as make_network().
Analysis analyze(const NetworkOptions& options, Place place = Place::here());

}  // namespace retrace::nn

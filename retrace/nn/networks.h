#pragma once
// Networks of jobs: built-in ones, one file each in retrace/nn/networks, and those that a job describes layer by layer.

#include "retrace/base/option_values.h"
#include "retrace/nn/layer_text.h"
#include "retrace/nn/layers.h"
#include "retrace/nn/output.h"

namespace retrace::nn {

// How a layer's parameters are trained, where that is not as the job says for all.
struct TrainingFactors {
  std::string path;  // of the layer's entry: "conv2d_1"
  double learn_rate = 1, l2 = 1;
  bool frozen = false;
};

// A network with its starting values and its loss.
struct Network {
  std::string name;
  Shape sample;  // without the batch axis
  std::vector<NetworkOutput> outputs;
  Layer layers;
  Tree parameters, state;  // starting values

  Output forward(const Tensor& x, const Tree& p, const Tree& s, Phase phase, Place place = Place::here()) const {
    return layers.forward(x, p, s, phase, place);
  }
  // What the network makes of x in inference, with its own parameters and state: of one output its tensor, of several
  // their tensors by name.
  Tree predict(const Tensor& x, Place place = Place::here()) const;
  // The same network with its parameters and state on another device: see Tensor::to.
  Network to(DeviceRef device, Place place = Place::here()) const;
  // One number; y and targets by the names of `outputs`.
  std::function<Tensor(const Tree& y, const Tree& targets)> loss;
  std::vector<TrainingFactors> factors = {};  // of the layers that have some
};

// Options of make_network.
struct NetworkOptions {
  std::string name = "digits";          // of retrace/nn/networks
  std::optional<int64_t> width = {};    // of the first stage, others follow from it; default: the network's own
  std::vector<std::string> heads = {};  // names of the outputs that are trained, the first among them; default: all
  OptionValues options = {};            // of this network alone

  // Or a network layer by layer, as docs/networks.md says: what stands above has no meaning then.
  std::vector<LayerText> layers = {};
  Shape input = {};                         // of one sample: [height,width,channels] or [features]
  std::vector<NetworkOutput> outputs = {};  // one at least
};

// The options with the network's own defaults. Throws Error(usage) for an unknown name or head, with the nearest one;
// for heads without the network's first output; for a width that is too small; as completed(). Of layers: for all their
// mistakes at once.
NetworkOptions resolved(const NetworkOptions& options, Place place = Place::here());

// Starting values are functions of the key and of each parameter's path. Errors as resolved().
Network make_network(RandomKey key, const NetworkOptions& options, Place place = Place::here());
// The network of layers made in code, for samples of that shape. Of one output the layers may make a tensor; of several
// they make one for each, under its name. Errors: as Layer::initial() and loss_of(); Error(usage) for no outputs, and
// for those that the layers do not make.
Network make_network(RandomKey key, const Layer& layers, const Shape& sample, std::vector<NetworkOutput> outputs,
                     Place place = Place::here());

}  // namespace retrace::nn

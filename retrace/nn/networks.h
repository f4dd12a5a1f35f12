#pragma once
// The four networks that jobs name.
//
//   name         sample      outputs y, targets            loss
//   digits       [28,28,1]   class [n,10] (and angle [n,1])  cross_entropy + 0.1 * half_mean_squared_error of the angle
//   peaks        [2]         value [n,1]                   mean_squared_error
//   autoencoder  [32,32,1]   image [n,32,32,1]             mean_squared_error
//   cifar10      [32,32,3]   class [n,10]                  cross_entropy
//
// A class output holds probabilities; its target holds class numbers (i32 or u8, [n]). Other targets look as the
// outputs.

#include "retrace/nn/layers.h"

namespace retrace::nn {

struct Network {
  std::string name;
  Shape sample;                      // without the batch axis
  std::vector<std::string> outputs;  // entries of y and of the targets
  Layer layers;
  Tree parameters, state;  // starting values

  Output model(const Tree& p, const Tensor& x, const Tree& s, Phase phase) const {
    return layers.forward(p, x, s, phase);
  }
  // One number; targets by the names of `outputs`.
  std::function<Tensor(const Tree& y, const Tree& targets)> loss;
};

struct NetworkOptions {
  bool angle = true;            // digits: with the second head
  int width = 0;                // of the first stage; 0: default_width(). Other counts follow from it
  bool published_fans = false;  // digits: starting values of the published program (glorot_uniform_published)
};

std::vector<std::string> network_names();
// Channels (peaks: features) of the first stage; 16 for a name that is none.
int default_width(std::string_view name);
// Throws Error(usage) that lists the names for an unknown one.
Network make_network(std::string_view name, RandomKey key, const NetworkOptions& options = {},
                     Place place = Place::here());

// Two residual branches after a first convolution; entries conv1, norm1, conv2, norm2, conv3, norm3, conv_skip,
// norm_skip, class, angle: 84,075 numbers with both heads.
Network digits(RandomKey key, const NetworkOptions& options = {});
// 2-20-5-1 with relu: 171 numbers.
Network peaks(RandomKey key, const NetworkOptions& options = {});
// Three convolutions with pooling, three transposed ones: 12,609 numbers.
Network autoencoder(RandomKey key, const NetworkOptions& options = {});
// Twelve convolutions of 32, 64 and 128 filters with batch norm: 677,610 numbers.
Network cifar10(RandomKey key, const NetworkOptions& options = {});

}  // namespace retrace::nn

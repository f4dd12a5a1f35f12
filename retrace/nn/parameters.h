#pragma once
// What layers with weights share.

#include "retrace/nn/layer.h"

namespace retrace::nn {

// How the parameters of a layer begin.
struct ParameterOptions {
  Initializer initializer = glorot_uniform;  // of the weights
  bool bias = true;                          // whether there is one; it starts at 0
};

// What a recurrent layer makes of a sequence.
struct RecurrentOptions {
  bool last = false;           // the state behind the last position alone, not those of all positions
  bool bidirectional = false;  // a second state goes from the end to the start; both stand behind each other
};

// {weights, bias} or {weights}, as ops take them: the bias is a parameter of the walk's current layer.
Tree with_bias(Walk& walk, const Tensor& weights, bool bias, int64_t outputs);

// Throws Error(usage) that names the layer unless x is [batch,height,width,channels].
void check_image(const Tensor& x, const char* layer, Place place);

}  // namespace retrace::nn

#ifndef RETRACE_NN_LAYERS_TRANSFORMER_BLOCK_H
#define RETRACE_NN_LAYERS_TRANSFORMER_BLOCK_H
// A block of a transformer.

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// Options of transformer_block. heads to rotary_base: those of self_attention. hidden: features between the two linear
// layers, 0: four times those of x. activation: the name of a layer, "gelu", "gelu_tanh", "relu" or "silu". norm:
// "layer" or "rms". dropout: the probability with which numbers of both parts become 0 in training.
struct TransformerBlockOptions {
  int64_t heads = 1;
  int64_t key_value_heads = 0;
  bool causal = false;
  bool rotary = false;
  double rotary_base = 10000;
  int64_t hidden = 0;
  std::string activation = "gelu";
  std::string norm = "layer";
  double dropout = 0;
};

// The block with its norms in front (Xiong et al. 2020), for x [batch,length,features]:
//   h = x + dropout(attention(attention_norm(x)))
//   y = h + dropout(mlp(mlp_norm(h)))          mlp(h) = output(activation(hidden(h)))
// attention is the layer self_attention, the norms layer_norm or rms_norm, hidden and output linear layers of the last
// axis. Parameters, each under the entry of the block: attention_norm, attention/query, key, value and output,
// mlp_norm, mlp/hidden and mlp/output; `parameters` are of all linear layers. y has the shape and labels of x.
// Error(usage) for other ranks, heads that do not divide the features, and names of no norm or activation.
Layer transformer_block(const TransformerBlockOptions& options, const ParameterOptions& parameters = {},
                        Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_TRANSFORMER_BLOCK_H

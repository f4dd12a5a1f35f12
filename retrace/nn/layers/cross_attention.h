#ifndef RETRACE_NN_LAYERS_CROSS_ATTENTION_H
#define RETRACE_NN_LAYERS_CROSS_ATTENTION_H
// Attention of one sequence to another.

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// Options of cross_attention. heads: of queries; key_value_heads: of keys and values, a divisor of heads (0: as many).
struct CrossAttentionOptions {
  int64_t heads = 1;
  int64_t key_value_heads = 0;
};

// Takes a branch of two tensors, in the order of their names: x [batch,length,features] and memory
// [batch,positions,numbers]. y = output(attention(query(x), key(memory), value(memory))) (Vaswani et al. 2017): each
// position of x sees all positions of memory. Everything else as of self_attention; y has the shape and labels of x.
//
//   nn::Sequential{nn::parallel({{"0", queries}, {"1", encoder}}), nn::cross_attention({.heads = 4})}
//
// Error(usage) for other ranks, and if the heads do not divide the features.
Layer cross_attention(const CrossAttentionOptions& options, const ParameterOptions& parameters = {},
                      Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CROSS_ATTENTION_H

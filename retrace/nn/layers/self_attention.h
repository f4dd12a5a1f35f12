#ifndef RETRACE_NN_LAYERS_SELF_ATTENTION_H
#define RETRACE_NN_LAYERS_SELF_ATTENTION_H
// Self-attention with several heads.

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// Options of self_attention. heads: of queries; key_value_heads: of keys and values, a divisor of heads (0: as many).
// causal: a position sees itself and those before it. rotary: queries and keys of each head are turned by their
// positions (rotary_embedding, pairs of halves, with this base).
struct SelfAttentionOptions {
  int64_t heads = 1;
  int64_t key_value_heads = 0;
  bool causal = false;
  bool rotary = false;
  double rotary_base = 10000;
};

// y = output(attention(query(x), key(x), value(x))) for x [batch,length,features] (Vaswani et al. 2017): four linear
// layers of the last axis, named query, key, value and output, with the op attention between them. Each head has
// features / heads of the features, in their order. y has the shape and the labels of x. Error(usage) for other ranks,
// and if the heads do not divide the features.
Layer self_attention(const SelfAttentionOptions& options, const ParameterOptions& parameters = {},
                     Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SELF_ATTENTION_H

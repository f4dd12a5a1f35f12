#pragma once
// What self_attention and cross_attention share.

#include "retrace/nn/layers/self_attention.h"

namespace retrace::nn {

// output(attention(query(x), key(memory), value(memory))) for x [batch,length,features] and memory
// [batch,positions,numbers]: four linear layers of the walk's current layer, with the op attention between them; x and
// memory may be one tensor. The mask of the walk that fits memory says which of its positions count. Error(usage) that
// begins with the layer's name where heads or ranks do not fit.
Tensor attention_by_heads(Walk& walk, const char* layer, const Tensor& x, const Tensor& memory,
                          const SelfAttentionOptions& options, const ParameterOptions& parameters, Place place);

}  // namespace retrace::nn

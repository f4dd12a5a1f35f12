#ifndef RETRACE_NN_LAYERS_EMBEDDING_H
#define RETRACE_NN_LAYERS_EMBEDDING_H

#include "retrace/nn/layer.h"
#include "retrace/ops/embedding/embedding.h"

namespace retrace::nn {

// Options of embedding. padding_token: the class number that fills samples up to the length of the longest; -1: none.
struct EmbeddingOptions {
  int64_t padding_token = -1;
};

// The op embedding: class numbers from 0 to vocabulary - 1 become rows of features. Parameter: weights
// [vocabulary,features], which begin with `features` for both fans, so that the vocabulary does not make them small.
// With a padding_token, x is [batch,length], and the layers behind it get the mask x != padding_token (Walk::set_mask).
// Error(usage) where x has other axes.
Layer embedding(int64_t vocabulary, int64_t features, const Initializer& initializer = glorot_uniform,
                Place place = Place::here());
Layer embedding(int64_t vocabulary, int64_t features, const EmbeddingOptions& options,
                const Initializer& initializer = glorot_uniform, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_EMBEDDING_H

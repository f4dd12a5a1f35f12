#ifndef RETRACE_NN_LAYERS_EMBEDDING_H
#define RETRACE_NN_LAYERS_EMBEDDING_H

#include "retrace/nn/layer.h"
#include "retrace/ops/embedding/embedding.h"

namespace retrace::nn {

// The op embedding: class numbers from 0 to vocabulary - 1 become rows of features. Parameter: weights
// [vocabulary,features], which begin with `features` for both fans, so that the vocabulary does not make them small.
Layer embedding(int64_t vocabulary, int64_t features, const Initializer& initializer = glorot_uniform,
                Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_EMBEDDING_H

#pragma once
// What recurrent layers share.

#include <functional>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

// The hidden states [batch,length,hidden] of x [batch,length,features], with parameters of the walk's current layer;
// with `reverse` from the last position to the first.
using Recurrence = std::function<Tensor(Walk& walk, const Tensor& x, bool reverse)>;

// The layer of that kind: both directions and the position that is kept, by the options.
Layer recurrent_layer(const char* kind, int64_t hidden, const RecurrentOptions& options, const Initializer& initializer,
                      const Recurrence& run, Place place);
// The same of a job's text.
LayerKind recurrent_kind(const char* kind, const char* help,
                         Layer (*make)(int64_t, const RecurrentOptions&, const Initializer&, Place));

}  // namespace retrace::nn

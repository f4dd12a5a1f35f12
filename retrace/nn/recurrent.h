#pragma once
// What recurrent layers share.

#include <functional>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

// The hidden states of all positions, and that behind the last one.
struct Recurred {
  Tensor y;  // [batch,length,hidden]
  Tensor h;  // [batch,hidden]
};

// The hidden states of x [batch,length,features], with parameters of the walk's current layer and these options.
using Recurrence = std::function<Recurred(Walk& walk, const Tensor& x, const RecurrenceOptions& options)>;

// The layer of that kind: both directions and the position that is kept, by the options.
Layer recurrent_layer(const char* kind, int64_t hidden, const RecurrentOptions& options, const Initializer& initializer,
                      const Recurrence& run, Place place);
// The same of a job's text.
LayerKind recurrent_kind(const char* kind, const char* help,
                         Layer (*make)(int64_t, const RecurrentOptions&, const Initializer&, Place));

}  // namespace retrace::nn

#pragma once
// Stores made of stores.

#include <functional>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/data/random_stream.h"

namespace retrace {

// What a transform may depend on besides the observation.
struct TransformContext {
  int64_t sample;       // number of the observation in the data set, also in a shuffled store
  int64_t pass;         // which run over the data
  RandomStream random;  // belongs to (seed, pass, depth of the transform, sample)
};

using TransformFunction = std::function<Observation(const Observation&, TransformContext&)>;

// Options of transform.
struct TransformOptions {
  // Two transforms of one seed and depth draw the same numbers for the same sample: so an input and a target, each in
  // its store, can be rotated alike. Give other transforms other seeds.
  uint64_t seed = 0;
  int64_t variables = 0;  // of the results; 0: as many as the store has
};

// Applies `function` to each observation when it is read. It must depend on its arguments only: then no result
// depends on mini-batch size, order, worker or thread. Error(usage), when it is read, if it returns another number
// of variables.
Datastore transform(const Datastore& store, TransformFunction function, const TransformOptions& options = {},
                    Place place = Place::here());

// How combine() puts stores together.
enum class CombineOrder {
  associated,  // observation i is the i-th of every store: the variables stand side by side
  sequential,  // all of the first store, then all of the second, ...: the same variables
};

// Makes one store of several. It can be partitioned, subset and shuffled if all of them can. Error(usage) for no
// stores, for unequal sizes (associated) and for unequal numbers of variables (sequential).
Datastore combine(const std::vector<Datastore>& stores, CombineOrder order = CombineOrder::associated,
                  Place place = Place::here());

}  // namespace retrace

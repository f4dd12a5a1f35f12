#pragma once
// Series of different lengths as a store.

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// A series, and the class that it belongs to.
struct LabelledSeries {
  std::vector<float> values;  // position by position
  int32_t number = 0;         // of the class
};

// A store of series of `features` numbers at each position: the first `length` positions, f32[length,features] "TC",
// with NaN behind a series that has fewer, and the number of the class, i32[]. `files`: those that they were read from.
Datastore padded_series(std::vector<LabelledSeries> series, int64_t length, int64_t features,
                        std::vector<std::string> files = {});

}  // namespace retrace

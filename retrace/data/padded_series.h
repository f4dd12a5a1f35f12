#pragma once
// Series of different lengths as a store.

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// What is learned of a series.
enum class SeriesTarget {
  series_class,      // i32[]
  series_values,     // f32[width] "C"
  position_classes,  // i32[length] "T", -1 behind the end of the series
  position_values,   // f32[length,width] "TC", NaN behind it
  tokens,            // i32[width] "T", -1 behind the last token of the series
};

// A series and its target.
struct TargetedSeries {
  std::vector<float> values;     // position by position
  std::vector<int32_t> numbers;  // of a class, of one at each position, or of tokens
  std::vector<float> targets;    // values: of the series, or position by position
};

// What all series of a store are filled up to.
struct SeriesForm {
  int64_t length = 1, features = 1;
  SeriesTarget target = SeriesTarget::series_class;
  int64_t width = 1;  // of values; the most tokens
};

// A store of series of `features` numbers at each position: the first `length` positions, f32[length,features] "TC",
// with NaN behind a series that has fewer, and the target; targets at positions are cut with them. `files`: those that
// they were read from.
Datastore padded_series(std::vector<TargetedSeries> series, const SeriesForm& form,
                        std::vector<std::string> files = {});

}  // namespace retrace

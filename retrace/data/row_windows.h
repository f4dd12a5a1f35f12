#pragma once
// Windows over the rows of a table that follow each other in time.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

struct WindowForm {
  int64_t length = 1;   // rows that a sample sees
  int64_t horizon = 1;  // rows from the last of them to the first that is learned
  int64_t steps = 1;    // rows that are learned, one after another
  int64_t features = 1;
  std::vector<int64_t> targets = {};  // the features that are learned

  // How many windows so many rows have; of those without what is learned, as for predictions.
  int64_t windows(int64_t rows) const { return std::max<int64_t>(0, rows - length - horizon - steps + 2); }
  int64_t open_windows(int64_t rows) const { return std::max<int64_t>(0, rows - length + 1); }
};

// Sample i: the rows i, i + 1, ..., f32[length,features] "TC"; then the targets of the rows i + length - 1 + horizon
// and of the steps - 1 behind it, row by row, f32[steps * targets] "C". `values`: row by row. open: samples without
// targets, whose second variable is zeros. `files`: those that the rows were read from.
Datastore row_windows(std::vector<float> values, const WindowForm& form, bool open = false,
                      std::vector<std::string> files = {});

}  // namespace retrace

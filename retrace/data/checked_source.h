#pragma once
// Checks the results of sources: sources are written by users.

#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// source.get(index, pass). Error(usage) that names the source, the observation and the variable unless there is a
// tensor with a value for each of source.variables().
Observation checked_get(const DataSource& source, int64_t index, int64_t pass);
// source.gather(indices, pass, variables). The same errors, and for a tensor without a row for each index.
std::vector<Tensor> checked_gather(const DataSource& source, std::span<const int64_t> indices, int64_t pass,
                                   int variables);
// Error(usage) unless there is a source, with a size, variables, and at most 1000 stores on each other.
void check_source(const DataSource* source, Place place);

}  // namespace retrace

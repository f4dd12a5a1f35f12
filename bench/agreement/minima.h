#pragma once
// What our minimizers make of problems whose minimum others find, too.

#include <nlohmann/json.hpp>

namespace retrace::bench {

// For each problem: its name, the solver, the data, the parameters and the loss at the end, iterations and evaluations.
nlohmann::json minima();

}  // namespace retrace::bench

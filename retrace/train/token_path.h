#pragma once
// Sequences of tokens that scores at positions say.

#include <cstdint>
#include <span>
#include <vector>

namespace retrace {

// The best path (Graves et al. 2006): the class of the highest score at each position of `classes` scores, the first of
// equal ones; repetitions are one, and the blank, class 0, is left out.
std::vector<int32_t> best_path(std::span<const float> scores, int64_t classes);

// The edit distance (Levenshtein 1966): the least number of tokens that are put in, taken out or replaced.
int64_t edit_distance(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace retrace

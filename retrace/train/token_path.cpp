#include "retrace/train/token_path.h"

#include <algorithm>
#include <numeric>

#include "retrace/train/metric_kind.h"

namespace retrace {

std::vector<int32_t> best_path(std::span<const float> scores, int64_t classes) {
  std::vector<int32_t> tokens;
  int64_t before = 0;
  const auto size = static_cast<size_t>(classes);
  for (; size > 0 && scores.size() >= size; scores = scores.subspan(size)) {
    const int64_t best = highest(scores.first(size));
    if (best != 0 && best != before) tokens.push_back(static_cast<int32_t>(best));
    before = best;
  }
  return tokens;
}

int64_t edit_distance(std::span<const int32_t> a, std::span<const int32_t> b) {
  std::vector<int64_t> row(b.size() + 1);  // of the beginning of a: to each beginning of b
  std::iota(row.begin(), row.end(), int64_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t corner = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t replaced = corner + (a[i] != b[j]);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

}  // namespace retrace

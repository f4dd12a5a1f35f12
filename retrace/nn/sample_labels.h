#pragma once
// Labels of what layers make that change the axes of a sample.

#include <string>

#include "retrace/tensor/tensor.h"

namespace retrace::nn {

// Of a batch of that rank: those that a batch of samples mostly has (BC, BTC, BSSC, BSSSC, else B and U); none if x has
// none.
inline std::string sample_labels(const Tensor& x, int rank) {
  if (x.labels().empty()) return "";
  if (rank == 2) return "BC";
  if (rank == 3) return "BTC";
  if (rank == 4 || rank == 5) return "B" + std::string(static_cast<size_t>(rank - 2), 'S') + "C";
  return "B" + std::string(static_cast<size_t>(rank - 1), 'U');
}

}  // namespace retrace::nn

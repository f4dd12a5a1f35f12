#pragma once
// Samples of different lengths without the padding that all samples of a mini-batch have.

#include <optional>

#include "retrace/nn/networks.h"

namespace retrace {

// What stands behind short samples (a token, or NaN), where a network of layers masks it at once and makes one result
// of each sample: then a result is the same bits whatever its padding (docs/networks.md 7). None for other networks.
std::optional<double> masked_padding(const nn::NetworkOptions& options, const std::vector<nn::NetworkOutput>& outputs);

// x [batch,length] or [batch,length,features] without positions behind its longest sample. A half or a quarter of the
// length is left, so that few lengths are recorded. x itself on a device other than the CPU, and where more is needed.
Tensor without_padding(const Tensor& x, std::optional<double> padding);

}  // namespace retrace

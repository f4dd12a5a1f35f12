#pragma once
// load_into(), with what it has not found.

#include <cstddef>
#include <string>
#include <vector>

#include "retrace/nn/networks.h"
#include "retrace/train/save.h"

namespace retrace {

struct LoadedNetwork {
  nn::Network network;
  size_t taken = 0;                    // tensors of the file
  std::vector<std::string> kept = {};  // paths of those that the file lacks, or has in another shape
};

// As load_into().
LoadedNetwork load_parts_into(const nn::Network& network, const std::string& path, const LoadOptions& options);

}  // namespace retrace

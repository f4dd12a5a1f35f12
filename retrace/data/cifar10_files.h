#pragma once
// The files of CIFAR-10.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "retrace/data/image_set.h"

namespace retrace {

struct Cifar10File {
  std::filesystem::path path;
  int64_t images = 0;  // by its size
};

constexpr int64_t kCifar10Side = 32, kCifar10Classes = 10;

// Those of a split, in their order. Errors: as datasets::cifar10, but for labels.
std::vector<Cifar10File> cifar10_files(const std::filesystem::path& folder, Split split);

}  // namespace retrace

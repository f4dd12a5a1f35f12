#pragma once
// The files of MNIST and of sets like it.

#include <filesystem>

#include "retrace/data/image_set.h"

namespace retrace {

// Number and sizes of the images, [images,height,width], from the headers of the two files alone. Errors: those of
// read_image_set() that the headers show.
Shape read_image_sizes(const std::filesystem::path& images, const std::filesystem::path& labels);

namespace datasets {

// The paths of one split.
struct MnistFiles {
  std::filesystem::path images, labels;
};
// The two files of a split in `folder`, each with or without ".gz"; Error(missing) if there is no such folder.
MnistFiles mnist_files(const std::filesystem::path& folder, Split split);

}  // namespace datasets
}  // namespace retrace

#pragma once
// MNIST and other data sets in its four files.

#include <filesystem>

#include "retrace/data/array_store.h"

namespace retrace {

// Images u8[n,height,width] and labels u8[n] from two IDX files, compressed or not. Errors as read_idx; bad_data, with
// the file, for other types or axes, unequal counts, no image, or a label that is not below `classes`.
ImageSet read_image_set(const std::filesystem::path& images, const std::filesystem::path& labels, int classes = 10);

namespace datasets {

// The paths of one split.
struct MnistFiles {
  std::filesystem::path images, labels;
};
// The two files of a split in `folder`, each with or without ".gz".
MnistFiles mnist_files(const std::filesystem::path& folder, Split split);

// The files train-images-idx3-ubyte and train-labels-idx1-ubyte (for the test split t10k-...) in `folder`, each with
// or without ".gz". Error(missing) names what is not there and what is near.
ImageSet read_mnist(const std::filesystem::path& folder, Split split);

// The same as a store: image f32[28,28,1] "SSC" between 0 and 1; label, a single i32.
Datastore mnist(const std::filesystem::path& folder, Split split);

}  // namespace datasets

}  // namespace retrace

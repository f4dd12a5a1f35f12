#pragma once
// MNIST and other data sets in its four files.

#include <string>

#include "retrace/data/array_store.h"

namespace retrace {

// Images u8[n,height,width] and labels u8[n] from two IDX files, compressed or not. Errors as read_idx; bad_data, with
// the file, for other types or axes, unequal counts, no image, or a label that is not below `classes`.
ImageSet read_image_set(const std::string& images, const std::string& labels, int classes = 10);

namespace datasets {

// The files train-images-idx3-ubyte and train-labels-idx1-ubyte (for the test split t10k-...) in `folder`, each with
// or without ".gz". Error(missing) names what is not there and what is near.
ImageSet read_mnist(const std::string& folder, Split split);

// The same as a store: image f32[28,28,1] "SSC" between 0 and 1; label, a single i32.
Datastore mnist(const std::string& folder, Split split);

}  // namespace datasets

}  // namespace retrace

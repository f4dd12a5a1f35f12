#pragma once
// Tensors in memory as a store.

#include <string>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/data/image_set.h"
#include "retrace/tensor/axes.h"

namespace retrace {

// Options of array_store.
struct ArrayStoreOptions {
  // The one axis that counts the observations, the same for all arrays; none named: the axis B of an array that has it,
  // else the first.
  Axes iteration_axis = {};
  // u8 arrays are delivered as f32, each value divided by 255: images between 0 and 1 in a quarter of the memory.
  bool scale_bytes = false;
  // The files that the arrays were read from, if a run is to keep their sizes and hashes.
  std::vector<std::string> files = {};
};

// One variable for each array; observation i is the i-th slice of each, without the iteration axis. Batches get the
// labels B and then those of the slice. Values are shared, not copied, if the iteration axis is the first. Error(usage)
// for no arrays, for an axis that an array lacks, and for arrays of unequal length.
Datastore array_store(std::vector<Tensor> arrays, const ArrayStoreOptions& options = {}, Place place = Place::here());

// Variables: image f32[height,width,1] "SSC" from 0 to 1; label, a single i32; where angles are known, angle f32[1]
// "C". `files`: those that the images were read from.
Datastore image_set_store(const ImageSet& images, std::vector<std::string> files = {});

// `count` images from index `first` on, as a mini-batch of that store: f32 [count,height,width,1] "BSSC".
Tensor image_batch(const ImageSet& images, int64_t first, int64_t count);

}  // namespace retrace

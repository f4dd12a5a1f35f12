#pragma once
// Trees in files.

#include <string>

#include "retrace/tensor/tree.h"

namespace retrace {

// Writes the tensors of a tree to a safetensors file, which other frameworks read; the name of each is its path
// ("conv2d_1/weights"). The fingerprint of every tensor stands in the metadata. The file is written whole or not at
// all, and equal trees give equal bytes. Pending values are computed now. Marks and labels are not kept. Errors: usage
// for a tree that is a single tensor; output.
void save(const Tree& tree, const std::string& path, Place place = Place::here());

// The tree of a safetensors file, on the CPU. A '/' in a name begins a branch, so that what save() wrote is read as it
// was. The file of a training's run folder, weights.safetensors, has the branches "parameters" and "state". Errors:
// missing; bad_data for a damaged file, other values than those that were written, types that tensors do not have, and
// names that are no paths of one tree.
Tree load(const std::string& path, Place place = Place::here());

}  // namespace retrace

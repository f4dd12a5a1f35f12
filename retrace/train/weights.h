#pragma once
// Trees and weight files: names are parameters/... and state/....

#include "retrace/tensor/tree.h"
#include "retrace/train/safetensors.h"

namespace retrace {

std::vector<std::pair<std::string, Tensor>> named_weights(const Tree& parameters, const Tree& state);
SafeTensors to_safetensors(const Tree& parameters, const Tree& state);
// The tree with the structure of `like` and the values of the file. Throws Error(bad_data) that lists what is missing
// or has another shape.
Tree from_safetensors(const SafeTensors& file, const Tree& like, const std::string& prefix, const std::string& path);

}  // namespace retrace

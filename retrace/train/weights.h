#pragma once
// Trees and weight files: names are parameters/... and state/....

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "retrace/tensor/tree.h"
#include "retrace/train/safetensors.h"

namespace retrace {

// The format's name of a type.
const char* file_type(DType type);

std::vector<std::pair<std::string, Tensor>> named_weights(const Tree& parameters, const Tree& state);
// With the fingerprint of every tensor in the metadata.
SafeTensors to_safetensors(const Tree& parameters, const Tree& state);
// Any tree, by the paths of its leaves.
SafeTensors to_safetensors(const Tree& tree);
// The tensor of a file, on the CPU. Throws Error(bad_data) for a type that tensors do not have, and for too many axes.
Tensor tensor_of(const SafeTensor& tensor, const std::string& path);

// Writes the fingerprint of every tensor (tensor/fingerprint.h) into the metadata, as "fingerprint NAME".
void add_fingerprints(SafeTensors& file);
// Compares the tensors with the fingerprints of the metadata; false if there are none. Throws Error(bad_data) that
// names the tensors that are not what was written, are missing or were never there; `path` is the file's.
bool check_fingerprints(const SafeTensors& file, const std::string& path);
// The same with fingerprints from elsewhere.
void check_fingerprints(const SafeTensors& file, const std::map<std::string, uint64_t>& fingerprints,
                        const std::string& path);

// The names of the tensors that hold a NaN or infinity.
std::vector<std::string> not_finite(const SafeTensors& file);

struct NetworkWeights {
  Tree parameters, state;
};
// Trees with the structure of those in `like` and the values of the file. Throws Error(bad_data) that lists what is
// missing, has another shape, is of no use to such a network, or is not finite.
NetworkWeights from_safetensors(const SafeTensors& file, const NetworkWeights& like, const std::string& path);
// The same of any tree, by the paths of its leaves, whose values may be what they are. It is on the CPU.
Tree from_safetensors(const SafeTensors& file, const Tree& like, const std::string& path);

}  // namespace retrace

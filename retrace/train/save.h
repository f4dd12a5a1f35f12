#pragma once
// Trees in files.

#include <string>
#include <utility>
#include <vector>

#include "retrace/tensor/tree.h"

namespace retrace {

namespace nn {
struct Network;
}

// Writes the tensors of a tree to a file that other frameworks read: NPZ (numpy.load) where the path ends in .npz, else
// safetensors. The name of each is its path ("conv2d_1/weights"). A safetensors file has the fingerprint of every
// tensor in its metadata. The file is written whole or not at all, and equal trees give equal bytes. Pending values are
// computed now. Marks and labels are not kept. Errors: usage for a tree that is a single tensor, for the ending of a
// file of another framework (.pt, .h5), and for an NPZ file of 4 GiB or more; output.
void save(const Tree& tree, const std::string& path, Place place = Place::here());

// The tree of a file, on the CPU: NPZ (stored or deflated, in C or Fortran order) where the path ends in .npz, else
// safetensors. A '/' in a name begins a branch, so that what save() wrote is read as it was. Whole numbers of an NPZ
// file other than u1 become i32. The file of a training's run folder, weights.safetensors, has the branches
// "parameters" and "state". Errors: missing; bad_data for a damaged file, other values than those that were written,
// types and numbers that tensors do not have, and names that are no paths of one tree.
Tree load(const std::string& path, Place place = Place::here());

// How load_into() finds the tensors of a network in a file from elsewhere.
struct LoadOptions {
  // What the network calls a tensor or a layer, and what the file does: {"conv2d_1", "stem.conv"}. Of layers that are
  // not named here it is the same name.
  std::vector<std::pair<std::string, std::string>> names = {};
  // Whose names and shapes the file has:
  // retrace: those of save(), also below "parameters" and "state", as in run folders.
  // pytorch: those of a state_dict, "stem.conv.weight". Weights of convolutions are [out,in,h,w] there.
  // keras: "stem/kernel", "stem/gamma", "stem/moving_mean". Weights of linear layers are [in,out] there.
  std::string layout = "retrace";
  // What the file lacks keeps its values, and what the network lacks is passed over.
  bool partial = false;
  // With partial: of another shape as well, as those of a last layer for other classes.
  bool other_shapes = false;
};

// The network with parameters and state of a file as load() reads, on the CPU. f64 is rounded to f32, and bf16 and f16
// become f32. Errors: those of load(); bad_data with one list of all tensors that are missing, unexpected, of another
// shape or type, or not finite; usage for another layout, and for names that the network does not have.
nn::Network load_into(const nn::Network& network, const std::string& path, const LoadOptions& options = {},
                      Place place = Place::here());

}  // namespace retrace

#pragma once
// The arrays of an NPZ file, of numpy.savez, where they lie: "mnist.npz/x_train.npy" is the path of one of them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace retrace {

// An NPZ file, and its array that a path names.
struct NpzPlace {
  std::filesystem::path file;
  std::string array;  // without ".npy"
};

// Nothing where the path leads through no file whose name ends in .npz.
std::optional<NpzPlace> npz_place(const std::filesystem::path& path);

// Whether it is a file whose name ends in .npz.
bool is_npz(const std::filesystem::path& path);

// The names of the arrays in their order, without ".npy". Errors: missing; bad_data for a damaged archive.
std::vector<std::string> npz_names(const std::filesystem::path& file);

// At most the first `most` bytes of an array, as an NPY file has them. Errors: as npz_names; bad_data for a name that
// is not there.
std::string npz_bytes(const NpzPlace& place, uint64_t most = ~uint64_t{0});

// What an array of a data set is.
enum class NpzPart { inputs, targets };

// The array that is called as one of that part and set: x_train, X_train, train_images, y_train, train_labels, ...; for
// a `set` that is empty x, images, y, labels, ... Nothing where none is.
std::optional<std::string> npz_array_of(const std::vector<std::string>& names, const std::string& set, NpzPart part);

}  // namespace retrace

#pragma once
// Files made of image sets: IDX, and a picture to look at.

#include <filesystem>

#include "retrace/data/image_set.h"

namespace retrace {

// A grey PNG of the first `count` images in reading order, `columns` in a row, one pixel of space between them.
// The labels of digits are 0 1 2 ... 9 in each row of ten. Errors: usage if the set is empty or columns < 1; output.
void write_contact_sheet(const std::filesystem::path& path, const ImageSet& images, int64_t count = 200,
                         int64_t columns = 20);

// Throws Error(usage) if `path` exists.
void check_contact_sheet(const std::filesystem::path& path);

// Whether all files of write_image_set() are in the folder with this content, compressed or not. Throws Error(usage)
// for one of these names with another content, which write_image_set() would replace or which would be read in its
// place.
bool check_image_set(const std::filesystem::path& folder, Split split, const ImageSet& images);

// IDX files in the existing folder: train-images-idx3-ubyte, train-labels-idx1-ubyte and, where angles are known,
// train-angles-idx1-float; with the prefix t10k for the test split, as MNIST has it. Errors: output.
void write_image_set(const std::filesystem::path& folder, Split split, const ImageSet& images, bool compressed = true);

}  // namespace retrace

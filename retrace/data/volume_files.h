#pragma once
// Volumes in NPY files as a store.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/data/class_folders.h"
#include "retrace/data/datastore.h"

namespace retrace {

// [depth,height,width,channels] of the array in an NPY file, which may lack the channels: then there is one. From its
// header. Errors: bad_data for another number of axes and for one of size 0; those of NPY files.
Shape volume_shape(const std::filesystem::path& file);

// A store of volumes of one shape: f32[depth,height,width,channels] "SSSC", and the class, i32[]. Files are read when
// they are needed; u1 is divided by 255. Errors, when they are read: bad_data for another shape and for numbers that
// are not finite; those of NPY files.
Datastore volume_files(std::vector<ClassFile> files, const Shape& shape);

}  // namespace retrace

#pragma once
// NPY files, of numpy.save, as stores.

#include <string>

#include "retrace/data/datastore.h"

namespace retrace {

// Options of npy_store.
struct NpyStoreOptions {
  Task task = Task::classification;  // what the targets are
  bool scale_bytes = false;          // images of u1 are divided by 255: values between 0 and 1
};

// A store in memory of the array in the file `inputs`, whose first axis counts the observations: features,
// [n,features], each observation f32[features] "C", or images, [n,height,width,channels] or [n,height,width] for one
// channel, each f32 "SSC". Values are rounded once to f32. `targets`, if there is such a file, is the second variable:
// numbers of classes, whole numbers [n] or [n,1] from 0 on, each a single i32; or, for Task::regression, values, [n] or
// [n,m], each f32[m] "C". Read are f4, f8, i1 to i8, u1 to u8 and b1, little-endian, in C and Fortran order;
// "mnist.npz/x_train.npy" is an array of an NPZ file. Errors:
// missing; bad_data, with the file, for other types, damage, other axes, unequal counts, values that are not finite,
// and classes that are not whole numbers of 0 to 65535.
Datastore npy_store(const std::string& inputs, const std::string& targets = "", const NpyStoreOptions& options = {},
                    Place place = Place::here());

}  // namespace retrace

#pragma once
// CIFAR-10 in its binary layout.

#include <string>

#include "retrace/data/array_store.h"

namespace retrace::datasets {

// The files data_batch_1.bin to data_batch_5.bin (for the test split test_batch.bin) in `folder`, or in the folder
// cifar-10-batches-bin in it: records of a label and the red, green and blue of 32 x 32 pixels. Variables: image
// f32[32,32,3] "SSC" between 0 and 1; label, a single i32 of 0 to 9. Errors: missing, with what is near; bad_data, with
// the file, for a size that is no number of records, and for another label.
Datastore cifar10(const std::string& folder, Split split);

}  // namespace retrace::datasets

#pragma once
// Indices that come as data: labels, rows of tables. They can only be checked where they are computed with.

#include "retrace/trace/op.h"

namespace retrace {

// Throws Error(usage) that names the first value outside of 0..limit-1 and its position; `indices` is i32 or u8.
void check_indices(std::string_view op, std::string_view what, const KernelInput& indices, int64_t limit,
                   std::string_view help);
// Element i of an i32 or u8 tensor.
int64_t read_index(const KernelInput& indices, int64_t i);

// The labels of something shaped like `labels` with further axes behind: C where the canonical order allows it and no
// C is there yet, else U; none where `labels` is empty.
Labels with_new_axes(const Labels& labels, int count);

}  // namespace retrace

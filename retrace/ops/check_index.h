#pragma once
// Indices that come as data: labels, rows of tables. They can only be checked when a kernel runs.

#include "retrace/base/error.h"
#include "retrace/trace/op.h"

namespace retrace {

// The words by which errors name an op's indices.
struct IndexNames {
  std::string_view op, what, help;
};

// Throws the error of the first value outside of 0..limit-1; `indices` is i32 or u8.
void check_indices(const IndexNames& names, const KernelInput& indices, int64_t limit);
// Whether `count` indices are all in 0..limit-1.
bool indices_exist(const int32_t* indices, int64_t count, int64_t limit);
// The Error(usage) that names the value and its position.
Error index_error(const IndexNames& names, const TensorSpec& indices, int64_t limit, int64_t position, int64_t value);
// Element i of an i32 or u8 tensor.
int64_t read_index(const KernelInput& indices, int64_t i);

// Whether indices may have this type: i32, u8 or i64.
constexpr bool is_index_type(DType type) { return type == DType::i32 || type == DType::u8 || type == DType::i64; }
// Indices as i32; one of i64 that does not fit becomes the nearest number, which is no index either.
Tensor as_index(const Tensor& indices, Place place);

// The labels of something shaped like `labels` with further axes behind: C where the canonical order allows it and no
// C is there yet, else U; none where `labels` is empty.
Labels with_new_axes(const Labels& labels, int count);

}  // namespace retrace

#pragma once
// Shared by op definitions: the table, and the checks that their infer functions make.

#include <fmt/format.h>

#include "retrace/trace/op.h"
#include "retrace/trace/record.h"

namespace retrace {

// Every op, in the order of the folder names (retrace/ops/op_folders.h). It is filled on first use.
const OpTable& op_table();
// Throws Error(usage) with the nearest name for an unknown op.
const Op& find_op(std::string_view name);

// Throws Error(usage) with op, argument, rule, place and remedy: "relu: x must be f32 or f64". The checks below throw
// by it.
[[noreturn]] void op_error(const InferCall& call, int code, const std::string& message, const std::string& got,
                           const std::string& expected, const std::string& help = "");

// The input is f32 or f64.
void check_float(const InferCall& call, int input, const char* argument);

// The input has that type.
void check_type(const InferCall& call, int input, const char* argument, DType type);

// The input has the type of input 0.
void check_same_type(const InferCall& call, int input, const char* argument);

// The input has so many axes; `axes` names them in the message: "[n,h,w,c]".
void check_rank(const InferCall& call, int input, const char* argument, int rank, const char* axes);

// An axis from -rank to rank - 1.
void check_axis(const InferCall& call, int64_t axis, int rank);
// The attribute "labels": none, or one for each axis of `shape`.
Labels checked_labels(const InferCall& call, const Shape& shape);

// Throws Error(usage) that names the op if the tensor holds nothing. Functions of ops call it before they look at an
// argument.
void check_defined(std::string_view op, const Tensor& argument, Place place);

// The least power of two of samples, of so many positions each, that makes an aligned subtree of the tree over items of
// `item` positions (Op::subtree); 0 if there is none.
inline int64_t samples_of_subtree(int64_t positions, int64_t item) {
  if (positions <= 0 || (positions & (positions - 1)) != 0) return 0;
  return positions >= item ? 1 : item / positions;
}

// A number of an op's definition or gradient rule: a constant of the plan. Rank 0.
Tensor constant(double value, DType type);

// The same in the type of x.
inline Tensor constant_like(const Tensor& x, double value) { return constant(value, x.type()); }
// As that op writes it to memory: rounded once.
void store_number(double value, DType type, void* to);
// Appends the nodes that make an array whose elements are one number.
ValueId add_number(Trace& trace, double value, const TensorSpec& spec, Place place);

}  // namespace retrace

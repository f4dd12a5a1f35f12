#pragma once
// Matrix products over float arrays on a CPU, in the fixed order of docs/numerics.md 2.

#include <cstdint>

#include "retrace/base/function_ref.h"
#include "retrace/trace/op.h"

namespace retrace {

// C[rows,columns] = op(A) op(B) with depth terms a sum; A is [rows,depth] or, if transpose_a, [depth,rows]; B is
// [depth,columns] or, if transpose_b, [columns,depth]; all dense. `count` independent products follow each other
// stride_a and stride_b floats apart (0: the same factor again); their results are dense.
struct MatmulShape {
  int64_t rows = 0, columns = 0, depth = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t count = 1, stride_a = 0, stride_b = 0;
};

// Bytes that `workspace` must have, at alignment 64.
int64_t matmul_workspace(const MatmulShape& shape);
// Bytes that products with one and the same B keep of it, at alignment 64; 0: they keep nothing.
int64_t matmul_kept(const MatmulShape& shape);
// `done` (may be null) is called after each range [begin, end) of elements of C is final, on the thread that wrote
// it: ranges are disjoint, cover C, and consist of whole rows. `kept`: matmul_kept() bytes, which hold the packed B of
// an earlier call of the same shape and B, or which this call fills.
void matmul(const MatmulShape& shape, const float* a, const float* b, float* c, void* workspace,
            FunctionRef<void(int64_t begin, int64_t end)>* done, KeptFactor kept = {});

}  // namespace retrace

#ifndef RETRACE_OPS_ATTENTION_H
#define RETRACE_OPS_ATTENTION_H
// Scaled dot-product attention.

#include <optional>

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of attention.
struct AttentionOptions {
  bool causal = false;               // query i sees keys 0 to i; there are as many keys as queries
  std::optional<double> scale = {};  // none: 1 / sqrt(depth), rounded to the type of q
};

// y = softmax((q * scale) k^T) v (Vaswani et al. 2017): q is [n...,queries,depth], k [n...,keys,depth], v
// [n...,keys,features], floats of one type (bf16 and f16 are computed in f32, y rounded once); y is
// [n...,queries,features]. Each operation rounds as the op of its name, in this order: product with the scale, matmul,
// where, softmax along the keys, matmul; a key that is not seen has the score -inf. The axis before the queries counts
// heads. k and v may have fewer of them: heads h * n to h * n + n - 1 of q then share head h, and nothing is copied
// (grouped queries). Other leading axes as in matmul. mask: bool, broadcast to [n...,queries,keys]; true where a query
// sees a key. A query that sees no key makes NaN. Gradients: those of these ops. Memory: of more than 512 queries and
// keys in f32 the scores of 256 queries at a time, which the backward pass computes again, so that it grows with the
// length and not with its square (the idea is that of Dao et al. 2022); where causal, of the keys that one of them
// sees. The bits are the same where k and v are finite. No labels are kept. Error(usage) where types or sizes do not
// fit.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {},
                 Place place = Place::here());
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                 const AttentionOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ATTENTION_H

#ifndef RETRACE_OPS_ROTARY_EMBEDDING_H
#define RETRACE_OPS_ROTARY_EMBEDDING_H
// Positions as rotations of pairs of features.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of rotary_embedding. base: of the angles. first: the position of the first row, for sequences that go on.
// interleaved: which features are a pair, neighbours (true) or those of the two halves (false).
struct RotaryEmbeddingOptions {
  double base = 10000;
  int64_t first = 0;
  bool interleaved = false;
};

// Rotary positions (Su et al. 2021): each pair (a, b) of the d features of row p turns by an angle of its own,
//   angle = (first + p) * base^(-2 i / d)          i = 0 .. d/2 - 1
//   a' = a * cos(angle) - b * sin(angle)           b' = b * cos(angle) + a * sin(angle)
// so that the product of a query and a key depends on how far apart they stand. Pair i are the features i and i + d/2
// (LLaMA, GPT-NeoX), or 2 i and 2 i + 1 with `interleaved` (RoFormer, GPT-J). Power, product, cosine and sine are
// computed in binary64 (docs/numerics/elementary.md 7) and cosine and sine then rounded once to the type of x; of the
// formula above each operation rounds once. x is [..,length,features], f32 or f64, of 2 axes or more; y has its shape
// and labels. Gradient: dy turned back, by the negative angles. Error(usage) for another rank or type, labels in which
// the axis before the last is not T, an odd number of features, a base that is not finite and above 0, and positions
// that are negative or beyond 2^30.
Tensor rotary_embedding(const Tensor& x, const RotaryEmbeddingOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ROTARY_EMBEDDING_H

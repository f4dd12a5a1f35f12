#ifndef RETRACE_OPS_EMBEDDING_H
#define RETRACE_OPS_EMBEDDING_H
// Rows of a table for class numbers.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y[i...,:] = table[x[i...],:]: the row of each class number in a table [vocabulary,features]. x is i32 or u8, or f32
// or f64 with whole numbers, as loaders of tables give them. The table is f32 or f64. y has the axes of x, then one of
// features, labelled C; axes of x that are labelled "BC" are samples and positions, and y is "BTC". Other labels as
// gather_rows. A number outside of 0 to vocabulary - 1 throws Error(usage) of gather_rows with the number and its
// position when y is computed; one that is no whole number is looked up as -1, and so an error, too. Gradient for the
// table: scatter_rows, in the order stated there; none for x.
Tensor embedding(const Tensor& x, const Tensor& table, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_EMBEDDING_H

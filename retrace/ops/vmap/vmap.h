#ifndef RETRACE_OPS_VMAP_H
#define RETRACE_OPS_VMAP_H
// A function of one element, for all elements of a batch.

#include <string>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/tensor/axes.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// Options of vmap.
struct VmapOptions {
  Axes axis = {};                      // of the elements; none named: B of leaves with labels, axis 0 of those without
  std::vector<std::string> same = {};  // paths of leaves, or of trees of them, that every element gets whole
};

// y[i] = f(x[i]) for each element i of x, in one go (JAX: vmap). A tensor is a tree of one leaf. f is called once, with
// tensors that lack the axis of the elements and have no values yet, and is recorded; what it uses from outside is the
// same for each element. With gradients inside, those of each sample:
//
//   auto step = value_and_grad(loss);
//   Tree each = vmap([&](const Tree& s) -> Tree { return step(parameters, s["x"].tensor(), s["t"].tensor()).gradients;
//   },
//                    {{"x", x}, {"t", t}})                       // leaves [samples,...]
//
// All mapped leaves have one number of elements. Results get the axis of the elements in front; where the axis has a
// label and a result has labels without it, at the place of that label. f64, f32, i32, u8, bool.
//
// Element i has the bits of f(x[i]) alone: an op computes all elements at once where that changes no order of a sum,
// else one element after another (filter gradients of convolutions, scans, sorts). Gradients through vmap, of any
// order: for x[i] those of f, of what f uses from outside the sum over the elements. Same bits for any number of
// threads, and on a CUDA device. Error(usage): no leaf is mapped; numbers of elements differ; a path of `same` is not
// there; a value is read, or random numbers are drawn without a key, inside f.
Tree vmap(FunctionRef<Tree(const Tree& x)> f, const Tree& x, const VmapOptions& options = {},
          Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_VMAP_H

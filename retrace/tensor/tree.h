#pragma once
// Nested names to tensors: parameters, states, gradients, optimiser states. A tree is a leaf (holds a tensor) or
// a branch (holds trees by name, sorted bytewise). Copies are cheap: tensors are shared handles.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/base/recycle.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

class Tree {
 public:
  using Branch = std::vector<std::pair<std::string, Tree>, Recycled<std::pair<std::string, Tree>>>;

  Tree() = default;
  Tree(Tensor leaf) : leaf_(std::move(leaf)) {}
  Tree(std::initializer_list<std::pair<std::string, Tree>> children);

  bool is_leaf() const { return leaf_.defined(); }
  bool empty() const { return !is_leaf() && children_.empty(); }

  // The child of that name. The const form throws Error(usage) with the nearest name if there is none; the other
  // makes an empty one.
  const Tree& operator[](std::string_view name) const;
  Tree& operator[](std::string_view name);
  bool contains(std::string_view name) const;
  const Branch& children() const { return children_; }

  // The tensor of a leaf; throws Error(usage) for a branch.
  const Tensor& tensor() const;
  operator const Tensor&() const { return tensor(); }

  // A mark names what a subtree means to a rule: batch statistics are marked "moments" ({count, mean, m2}).
  const std::string& mark() const { return mark_; }
  Tree& set_mark(std::string mark) & { return mark_ = std::move(mark), *this; }
  Tree set_mark(std::string mark) && { return mark_ = std::move(mark), std::move(*this); }

  // Every tensor on that device: see Tensor::to.
  Tree to(Device& device, Place place = Place::here()) const;
  // Calls f with the tensor of every leaf, in the order of leaves(); f may put another one in its place.
  void visit_leaves(FunctionRef<void(Tensor&)> f);

 private:
  Tensor leaf_;
  Branch children_;
  std::string mark_;
};

// Path ("conv1/weights") and tensor of every leaf, in name order, depth first.
std::vector<std::pair<std::string, Tensor>> leaves(const Tree& tree);
std::vector<Tensor> leaf_tensors(const Tree& tree);
// The same structure with the tensors replaced, in the order of leaves().
Tree with_leaves(const Tree& structure, std::span<const Tensor> tensors);
// f(tensor) at each leaf; f(a, b) at each leaf of two trees of one structure (else Error(usage) naming the path).
Tree map(const Tree& tree, const std::function<Tensor(const Tensor&)>& f);
Tree map(const Tree& a, const Tree& b, const std::function<Tensor(const Tensor&, const Tensor&)>& f);
// Throws Error(usage) that names the first path at which the structures differ; what says where this matters.
void check_same_structure(const Tree& a, const Tree& b, const char* what, Place place = Place::here());

}  // namespace retrace

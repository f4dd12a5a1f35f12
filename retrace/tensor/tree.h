#pragma once
// Trees of tensors.

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/base/recycle.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The name of an entry, and the line that asks for it.
struct EntryName {
  template <class Text>
    requires(std::is_convertible_v<const Text&, std::string_view>)
  EntryName(const Text& name, Place asked_at = Place::here()) : text(name), place(asked_at) {}
  std::string_view text;
  Place place;
};

// Nested names to tensors: parameters, states, gradients, solver states. A tree is a leaf (holds a tensor) or a branch
// (holds trees by name, sorted bytewise). Copies are cheap: tensors are shared handles.
//
// A reference to a child stays valid while its tree grows; assigning to a tree ends the children that it had. A tree
// may be assigned from within itself: t = t["x"], t["a"] = t.
class Tree {
 public:
  using Entry = std::pair<std::string, Tree>;
  class Children;

  Tree() = default;
  Tree(Tensor leaf) : leaf_(std::move(leaf)) {}
  Tree(std::initializer_list<Entry> children, Place place = Place::here());
  Tree(const Tree& other);
  Tree(Tree&& other) noexcept;
  Tree& operator=(const Tree& other);
  Tree& operator=(Tree&& other);
  ~Tree();

  bool is_leaf() const { return leaf_.defined(); }
  bool empty() const;

  // The child of that name. Reading one that does not exist throws Error(usage) with the nearest name. Of a tree that
  // is not const, operator[] also makes room for a new child, which exists once something is assigned to it or below
  // it; until then it is seen nowhere, and using or copying it is that error. Error(usage) for a new name that is empty
  // or holds a '/', below a single tensor, or more than 1000 levels deep.
  const Tree& operator[](EntryName name) const;
  Tree& operator[](EntryName name);
  bool contains(std::string_view name) const;
  // Name and tree of each child. A loop over them sees those that there are when it begins, also if it adds some.
  Children children() const;

  // The tensor of a leaf; throws Error(usage) for a branch.
  const Tensor& tensor(Place place = Place()) const;
  operator const Tensor&() const { return tensor(); }

  // A mark names what a subtree means to a rule: batch statistics are marked "moments" ({count, mean, m2}).
  const std::string& mark() const;
  Tree& set_mark(std::string mark) &;
  Tree set_mark(std::string mark) && { return std::move(set_mark(std::move(mark))); }

  // Every tensor on that device, tree.to("cuda"): see Tensor::to.
  Tree to(DeviceRef device, Place place = Place::here()) const;
  // Calls f with the tensor of every leaf, in the order of leaves(); f may put another one in its place.
  void visit_leaves(FunctionRef<void(Tensor&)> f);

 private:
  struct Node;
  struct Missing;
  struct Release {  // into recycled memory
    void operator()(Node* node) const noexcept;
    void operator()(Missing* missing) const noexcept;
  };
  using NodePointer = std::unique_ptr<Node, Release>;

  size_t find(std::string_view name) const;  // the child of that name, or where it belongs
  const Tree* child(std::string_view name) const;
  Tree& add_child(const EntryName& name, size_t at);
  void copy_from(const Tree& other);
  void take(Tree& other) noexcept;
  void own_missing() noexcept;
  // Made by operator[], and nothing was assigned to it or below it.
  bool is_missing() const;
  [[noreturn]] void refuse_missing() const;
  bool holds(const Tree& other) const;
  void check_levels(int level) const;
  void set_level(int level);
  void set_children_level(int level);

  Tensor leaf_;
  std::vector<NodePointer, Recycled<NodePointer>> children_;  // sorted by name; a node stays where it is
  std::shared_ptr<const std::string> mark_;                   // null: none
  std::unique_ptr<Missing, Release> missing_;                 // until something is assigned to it
  int level_ = 0;                                             // counted from the tree without a parent
  bool has_missing_ = false;                                  // of the children, one may be
};

// The children that exist, in the order of their names.
class Tree::Children {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    Iterator() = default;
    reference operator*() const;
    pointer operator->() const { return &**this; }
    Iterator& operator++();
    Iterator operator++(int) { return std::exchange(*this, ++Iterator(*this)); }
    bool operator==(const Iterator& other) const { return node_ == other.node_; }

   private:
    friend class Children;
    Iterator(const Tree& tree, size_t count) : tree_(&tree), count_(count) { settle(); }
    void settle();  // on the first child from at_ on that is seen
    const Tree* tree_ = nullptr;
    const Node* node_ = nullptr;
    size_t at_ = 0, count_ = 0;
  };

  explicit Children(const Tree& tree) : tree_(&tree), count_(tree.children_.size()) {}
  Iterator begin() const { return Iterator(*tree_, count_); }
  Iterator end() const { return Iterator(); }
  size_t size() const;
  bool empty() const { return begin() == end(); }

 private:
  const Tree* tree_;
  size_t count_;  // of children, seen or not, when this was made
};

inline Tree::Children Tree::children() const { return Children(*this); }

// Path ("conv2d_1/weights") and tensor of every leaf, in name order, depth first.
std::vector<std::pair<std::string, Tensor>> leaves(const Tree& tree);

// The tensor of every leaf, in the same order.
std::vector<Tensor> leaf_tensors(const Tree& tree);
// The same structure with the tensors replaced, in the order of leaves(). Error(usage) unless there is one for each.
Tree with_leaves(const Tree& structure, std::span<const Tensor> tensors, Place place = Place::here());
// Computes every tensor now that is only recorded.
void evaluate(const Tree& tree, Place place = Place::here());
// f(tensor) at each leaf; f(a, b) at each leaf of two trees of one structure (else Error(usage) naming the path).
Tree map(const Tree& tree, const std::function<Tensor(const Tensor&)>& f);
Tree map(const Tree& a, const Tree& b, const std::function<Tensor(const Tensor&, const Tensor&)>& f,
         Place place = Place::here());
// Throws Error(usage) that names the first path at which the structures differ; what says where this matters.
void check_same_structure(const Tree& a, const Tree& b, const char* what, Place place = Place::here());

// {conv2d_1/bias f32[8], conv2d_1/weights f32[3,3,1,8]}: the paths of the leaves and what is there; computes nothing.
std::ostream& operator<<(std::ostream& out, const Tree& tree);

}  // namespace retrace

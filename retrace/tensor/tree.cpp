#include "retrace/tensor/tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace retrace {
namespace {

template <class Children>
auto find_child(Children& children, std::string_view name) {
  return std::lower_bound(children.begin(), children.end(), name,
                          [](const auto& child, std::string_view key) { return child.first < key; });
}

std::string join(const std::string& path, const std::string& name) { return path.empty() ? name : path + "/" + name; }

void collect(const Tree& tree, const std::string& path, std::vector<std::pair<std::string, Tensor>>& out) {
  if (tree.is_leaf()) out.emplace_back(path, tree.tensor());
  for (const auto& [name, child] : tree.children()) collect(child, join(path, name), out);
}

void collect(const Tree& tree, std::vector<Tensor>& out) {
  if (tree.is_leaf()) out.push_back(tree.tensor());
  for (const auto& child : tree.children()) collect(child.second, out);
}

bool same_structure(const Tree& a, const Tree& b) {
  return a.is_leaf() == b.is_leaf() && std::equal(a.children().begin(), a.children().end(), b.children().begin(),
                                                  b.children().end(), [](const auto& x, const auto& y) {
                                                    return x.first == y.first && same_structure(x.second, y.second);
                                                  });
}

// The first path at which they differ.
std::string difference(const Tree& a, const Tree& b, const std::string& path) {
  if (a.is_leaf() != b.is_leaf()) return path.empty() ? "(the root)" : path;
  for (const auto& [name, child] : a.children()) {
    if (!b.contains(name)) return join(path, name);
    if (auto found = difference(child, b[name], join(path, name)); !found.empty()) return found;
  }
  for (const auto& [name, child] : b.children())
    if (!a.contains(name)) return join(path, name);
  return "";
}

}  // namespace

Tree::Tree(std::initializer_list<std::pair<std::string, Tree>> children) {
  for (const auto& [name, child] : children) (*this)[name] = child;
}

const Tree& Tree::operator[](std::string_view name) const {
  const auto at = find_child(children_, name);
  if (at != children_.end() && at->first == name) return at->second;
  std::vector<std::string> names;
  for (const auto& child : children_) names.push_back(child.first);
  const auto near = nearest(name, names);
  throw Error(ErrorKind::usage, 120, fmt::format("the tree has no entry \"{}\"", name))
      .got(is_leaf()       ? "a single tensor " + leaf_.spec().text()
           : names.empty() ? std::string("an empty tree")
                           : "entries " + fmt::format("{}", fmt::join(names, ", ")))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

Tree& Tree::operator[](std::string_view name) {
  if (is_leaf())
    throw Error(ErrorKind::usage, 121, fmt::format("\"{}\" is asked of a tree that is a single tensor", name))
        .got(leaf_.spec().text());
  auto at = find_child(children_, name);
  if (at == children_.end() || at->first != name) at = children_.emplace(at, std::string(name), Tree());
  return at->second;
}

bool Tree::contains(std::string_view name) const {
  const auto at = find_child(children_, name);
  return at != children_.end() && at->first == name;
}

const Tensor& Tree::tensor() const {
  if (!is_leaf())
    throw Error(ErrorKind::usage, 122, "a tensor is asked of a tree that is a branch")
        .help("name the entry: tree[\"name\"]");
  return leaf_;
}

Tree Tree::to(Device& device, Place place) const {
  return map(*this, [&](const Tensor& tensor) { return tensor.to(device, place); });
}

void Tree::visit_leaves(FunctionRef<void(Tensor&)> f) {
  if (is_leaf()) f(leaf_);
  for (auto& child : children_) child.second.visit_leaves(f);
}

std::vector<std::pair<std::string, Tensor>> leaves(const Tree& tree) {
  std::vector<std::pair<std::string, Tensor>> out;
  collect(tree, "", out);
  return out;
}

std::vector<Tensor> leaf_tensors(const Tree& tree) {
  std::vector<Tensor> out;
  collect(tree, out);
  return out;
}

Tree with_leaves(const Tree& structure, std::span<const Tensor> tensors) {
  size_t next = 0;
  Tree result = structure;
  result.visit_leaves([&](Tensor& leaf) {
    ensure(next < tensors.size(), "with_leaves has a tensor for each leaf");
    leaf = tensors[next++];
  });
  ensure(next == tensors.size(), "with_leaves uses every tensor");
  return result;
}

Tree map(const Tree& tree, const std::function<Tensor(const Tensor&)>& f) {
  auto tensors = leaf_tensors(tree);
  for (auto& tensor : tensors) tensor = f(tensor);
  return with_leaves(tree, tensors);
}

Tree map(const Tree& a, const Tree& b, const std::function<Tensor(const Tensor&, const Tensor&)>& f) {
  check_same_structure(a, b, "map");
  auto tensors = leaf_tensors(a);
  const auto others = leaf_tensors(b);
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i] = f(tensors[i], others[i]);
  return with_leaves(a, tensors);
}

void check_same_structure(const Tree& a, const Tree& b, const char* what, Place place) {
  if (same_structure(a, b)) return;
  throw Error(ErrorKind::usage, 123, fmt::format("{}: the trees differ at \"{}\"", what, difference(a, b, "")))
      .where(place)
      .expected("two trees with the same names and nesting");
}

}  // namespace retrace

#include "retrace/tensor/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "retrace/base/joined.h"

namespace retrace {
namespace {

constexpr int kMostLevels = 1000;  // walks over trees are recursive

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
  if (a.is_leaf() != b.is_leaf()) return false;
  auto x = a.children().begin(), y = b.children().begin();
  const Tree::Children::Iterator end;
  for (; x != end && y != end; ++x, ++y)
    if (x->first != y->first || !same_structure(x->second, y->second)) return false;
  return x == end && y == end;
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

Error no_entry(const std::string& name, const Tree* tree, Place place) {
  Error error(ErrorKind::usage, 120, fmt::format("the tree has no entry \"{}\"", name));
  error.where(place);
  if (!tree) return error;
  std::vector<std::string> names;
  for (const auto& child : tree->children()) names.push_back(child.first);
  const auto near = nearest(name, names);
  return error
      .got(tree->is_leaf() ? "a single tensor " + tree->tensor().spec().text()
           : names.empty() ? std::string("an empty tree")
                           : "entries " + joined(names, ", "))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

[[noreturn]] void too_deep(Place place) {
  throw Error(ErrorKind::usage, 124, fmt::format("a tree has more than {} levels", kMostLevels))
      .where(place)
      .help("make it flatter: the entries of one level may be many");
}

template <class T, class... Arguments>
T* make_recycled(Arguments&&... arguments) {
  void* block = take_block(sizeof(T));
  try {
    return new (block) T(std::forward<Arguments>(arguments)...);
  } catch (...) {
    give_block(block, sizeof(T));
    throw;
  }
}

template <class T>
void give_recycled(T* object) noexcept {
  object->~T();
  give_block(object, sizeof(T));
}

}  // namespace

struct Tree::Node {
  Node(std::string_view name, size_t before, int level)
      : entry(std::piecewise_construct, std::tie(name), std::tuple()), number(before) {
    entry.second.level_ = level;
  }
  Entry entry;
  size_t number;  // of the children that came before
};

// The entry that operator[] was asked for.
struct Tree::Missing {
  Missing(const Tree* tree, std::string text, Place asked_at) : parent(tree), name(std::move(text)), place(asked_at) {}
  const Tree* parent;  // null where it is no longer known
  std::string name;
  Place place;
};

void Tree::Release::operator()(Node* node) const noexcept { give_recycled(node); }
void Tree::Release::operator()(Missing* missing) const noexcept { give_recycled(missing); }

Tree::~Tree() = default;

Tree::Tree(std::initializer_list<Entry> children, Place place) {
  for (const auto& [name, child] : children) (*this)[EntryName(name, place)] = child;
}

Tree::Tree(const Tree& other) { copy_from(other); }

Tree::Tree(Tree&& other) noexcept {
  take(other);
  if (other.level_ > 0) set_level(0);
}

Tree& Tree::operator=(const Tree& other) {
  Tree copy;
  copy.level_ = level_;
  copy.copy_from(other);
  take(copy);
  return *this;
}

Tree& Tree::operator=(Tree&& other) {
  if (this == &other) return *this;
  if (!other.children_.empty()) {
    if (level_ != 0 && other.holds(*this)) return *this = std::as_const(other);
    if (level_ > other.level_) other.check_levels(level_);
    if (level_ != other.level_) other.set_children_level(level_ + 1);
  }
  take(other);
  return *this;
}

void Tree::copy_from(const Tree& other) {
  if (other.is_missing()) other.refuse_missing();
  leaf_ = other.leaf_, mark_ = other.mark_;
  if (other.children_.empty()) return;
  if (level_ == kMostLevels) too_deep({});
  children_.reserve(other.children_.size());
  for (const auto& child : other.children_) {
    const Tree& tree = child->entry.second;
    if (tree.is_missing()) continue;
    children_.emplace_back(make_recycled<Node>(child->entry.first, children_.size(), level_ + 1));
    children_.back()->entry.second.copy_from(tree);
  }
}

// Takes the contents of the other tree, which may be inside of this one; it is empty afterwards. Levels belong to
// places.
void Tree::take(Tree& other) noexcept {
  Tensor leaf = std::move(other.leaf_);
  auto children = std::move(other.children_);
  auto mark = std::move(other.mark_);
  auto missing = std::move(other.missing_);
  has_missing_ = std::exchange(other.has_missing_, false);
  leaf_ = std::move(leaf);
  mark_ = std::move(mark);
  missing_ = std::move(missing);
  if (missing_) missing_->parent = nullptr;
  children_.swap(children);  // those that were here end last: the other tree may be one of them
  if (has_missing_) own_missing();
}

void Tree::own_missing() noexcept {
  has_missing_ = false;
  for (const auto& child : children_)
    if (Missing* const missing = child->entry.second.missing_.get()) missing->parent = this, has_missing_ = true;
}

size_t Tree::find(std::string_view name) const {
  const auto at = std::lower_bound(children_.begin(), children_.end(), name,
                                   [](const auto& child, std::string_view key) { return child->entry.first < key; });
  return static_cast<size_t>(at - children_.begin());
}

const Tree* Tree::child(std::string_view name) const {
  const size_t at = find(name);
  return at < children_.size() && children_[at]->entry.first == name ? &children_[at]->entry.second : nullptr;
}

const Tree& Tree::operator[](EntryName name) const {
  const Tree* const found = child(name.text);
  if (found && !found->is_missing()) return *found;
  if (is_missing()) refuse_missing();
  throw no_entry(std::string(name.text), this, name.place);
}

Tree& Tree::operator[](EntryName name) {
  if (is_leaf())
    throw Error(ErrorKind::usage, 121, fmt::format("\"{}\" is asked of a tree that is a single tensor", name.text))
        .where(name.place)
        .got(leaf_.spec().text());
  const size_t at = find(name.text);
  if (at == children_.size() || children_[at]->entry.first != name.text) return add_child(name, at);
  Tree& found = children_[at]->entry.second;
  if (found.missing_) found.missing_->place = name.place;
  return found;
}

Tree& Tree::add_child(const EntryName& name, size_t at) {
  if (name.text.empty() || name.text.find('/') != std::string_view::npos)
    throw Error(ErrorKind::usage, 125, fmt::format("\"{}\" is no name for an entry of a tree", name.text))
        .where(name.place)
        .expected("a name of at least one character, without '/'")
        .help("nest trees: tree[\"a\"][\"b\"] is the entry with the path a/b");
  if (level_ == kMostLevels) too_deep(name.place);
  NodePointer node(make_recycled<Node>(name.text, children_.size(), level_ + 1));
  Tree& tree = node->entry.second;
  has_missing_ = true;
  tree.missing_.reset(make_recycled<Missing>(this, std::string(name.text), name.place));
  children_.insert(children_.begin() + static_cast<std::ptrdiff_t>(at), std::move(node));
  return tree;
}

bool Tree::contains(std::string_view name) const {
  const Tree* const found = child(name);
  return found && !found->is_missing();
}

bool Tree::empty() const { return !is_leaf() && children().empty(); }

bool Tree::is_missing() const {
  return missing_ && std::all_of(children_.begin(), children_.end(),
                                 [](const auto& child) { return child->entry.second.is_missing(); });
}

void Tree::refuse_missing() const {
  const Missing* missing = missing_.get();
  while (missing->parent && missing->parent->is_missing()) missing = missing->parent->missing_.get();
  throw no_entry(missing->name, missing->parent, missing->place);
}

bool Tree::holds(const Tree& other) const {
  return this == &other || std::any_of(children_.begin(), children_.end(),
                                       [&](const auto& child) { return child->entry.second.holds(other); });
}

void Tree::check_levels(int level) const {
  if (level > kMostLevels) too_deep({});
  for (const auto& child : children_) child->entry.second.check_levels(level + 1);
}

void Tree::set_level(int level) {
  level_ = level;
  set_children_level(level + 1);
}

void Tree::set_children_level(int level) {
  for (const auto& child : children_) child->entry.second.set_level(level);
}

const Tensor& Tree::tensor(Place place) const {
  if (is_leaf()) return leaf_;
  if (is_missing()) refuse_missing();
  throw Error(ErrorKind::usage, 122, "a tensor is asked of a tree that is a branch")
      .where(place)
      .got(empty() ? "an empty tree" : fmt::format("a tree with the entry \"{}\"", children().begin()->first))
      .help("name the entry: tree[\"name\"]");
}

const std::string& Tree::mark() const {
  static const std::string none;
  return mark_ ? *mark_ : none;
}

Tree& Tree::set_mark(std::string mark) & {
  mark_ = mark.empty() ? nullptr : std::make_shared<const std::string>(std::move(mark));
  missing_.reset();
  return *this;
}

Tree Tree::to(DeviceRef device, Place place) const {
  return map(*this, [&](const Tensor& tensor) { return tensor.to(device, place); });
}

void Tree::visit_leaves(FunctionRef<void(Tensor&)> f) {
  if (is_leaf()) f(leaf_);
  for (auto& child : children_) child->entry.second.visit_leaves(f);
}

Tree::Children::Iterator::reference Tree::Children::Iterator::operator*() const { return node_->entry; }

Tree::Children::Iterator& Tree::Children::Iterator::operator++() {
  // Another child may have moved it.
  if (at_ >= tree_->children_.size() || tree_->children_[at_].get() != node_) at_ = tree_->find(node_->entry.first);
  ++at_;
  settle();
  return *this;
}

void Tree::Children::Iterator::settle() {
  const auto& children = tree_->children_;
  while (at_ < children.size() && (children[at_]->number >= count_ || children[at_]->entry.second.is_missing())) ++at_;
  node_ = at_ < children.size() ? children[at_].get() : nullptr;
}

size_t Tree::Children::size() const { return static_cast<size_t>(std::distance(begin(), end())); }

std::vector<std::pair<std::string, Tensor>> leaves(const Tree& tree) {
  std::vector<std::pair<std::string, Tensor>> out;
  collect(tree, "", out);
  return out;
}

std::vector<Tensor> leaf_tensors(const Tree& tree) {
  std::vector<Tensor> out;
  if (!tree.is_leaf()) out.reserve(32);
  collect(tree, out);
  return out;
}

Tree with_leaves(const Tree& structure, std::span<const Tensor> tensors, Place place) {
  size_t next = 0;
  Tree result = structure;
  result.visit_leaves([&](Tensor& leaf) {
    if (next < tensors.size()) leaf = tensors[next];
    ++next;
  });
  if (next == tensors.size()) return result;
  throw Error(ErrorKind::usage, 126,
              fmt::format("with_leaves: {} tensors for a tree with {} leaves", tensors.size(), next))
      .where(place)
      .expected("one tensor for each leaf, in the order of leaves()");
}

void evaluate(const Tree& tree, Place place) {
  for (const Tensor& tensor : leaf_tensors(tree)) evaluate(tensor, place);
}

Tree map(const Tree& tree, const std::function<Tensor(const Tensor&)>& f) {
  Tree result = tree;
  result.visit_leaves([&](Tensor& leaf) { leaf = f(leaf); });
  return result;
}

Tree map(const Tree& a, const Tree& b, const std::function<Tensor(const Tensor&, const Tensor&)>& f, Place place) {
  check_same_structure(a, b, "map", place);
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

std::ostream& operator<<(std::ostream& out, const Tree& tree) {
  std::string text;
  for (const auto& [path, tensor] : leaves(tree))
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", path.empty() ? "" : path + " ", tensor.spec().text());
  return out << "{" << text << "}";
}

}  // namespace retrace

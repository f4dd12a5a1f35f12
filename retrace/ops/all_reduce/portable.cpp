#include "retrace/ops/all_reduce/portable.h"

#include "retrace/ops/add/add.h"

namespace retrace {
namespace {

static_assert(std::is_trivially_copyable_v<TensorSpec>);

// Appends pieces with their sizes, and takes them again.
class Writer {
 public:
  void put(const void* data, size_t bytes) {
    const uint64_t size = bytes;
    text_.append(reinterpret_cast<const char*>(&size), sizeof size);
    if (bytes) text_.append(static_cast<const char*>(data), bytes);
  }
  void put(const std::string& piece) { put(piece.data(), piece.size()); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class PortableReader {
 public:
  explicit PortableReader(const std::string& text) : text_(text) {}
  std::string_view next() {
    uint64_t size = 0;
    ensure(text_.size() - at_ >= sizeof size, "a value arrives whole");
    std::memcpy(&size, text_.data() + at_, sizeof size);
    at_ += sizeof size;
    ensure(text_.size() - at_ >= size, "a value arrives whole");
    const std::string_view piece(text_.data() + at_, size);
    at_ += size;
    return piece;
  }
  bool done() const { return at_ == text_.size(); }

 private:
  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

std::string Portable<Tensor>::bytes(const Tensor& tensor) {
  Writer writer;
  if (!tensor.defined()) return writer.take();
  const void* data = tensor.data();
  TensorSpec spec = tensor.spec();
  spec.device = 0;
  writer.put(&spec, sizeof spec);
  writer.put(data, spec.bytes());
  return writer.take();
}

Tensor Portable<Tensor>::value(const std::string& bytes) {
  PortableReader reader(bytes);
  if (reader.done()) return {};
  TensorSpec spec;
  const std::string_view head = reader.next();
  ensure(head.size() == sizeof spec, "a tensor arrives with its shape");
  std::memcpy(static_cast<void*>(&spec), head.data(), sizeof spec);
  const std::string_view data = reader.next();
  ensure(data.size() == spec.bytes(), "a tensor arrives whole");
  return Tensor::from_bytes(data.data(), spec);
}

Tensor Portable<Tensor>::add(const Tensor& a, const Tensor& b) {
  if (a.defined() && b.defined() && !(a.spec() == b.spec()))
    throw Error(ErrorKind::usage, 622, "the tensors that the workers sum differ")
        .got(a.spec().text() + " and " + b.spec().text())
        .expected("one type, shape and labels on all workers");
  return retrace::add(a, b);
}

std::string Portable<Tree>::bytes(const Tree& tree) {
  Writer writer;
  writer.put(tree.mark());
  writer.put(tree.is_leaf() ? Portable<Tensor>::bytes(tree.tensor()) : std::string());
  for (const auto& [name, child] : tree.children()) {
    writer.put(name);
    writer.put(bytes(child));
  }
  return writer.take();
}

Tree Portable<Tree>::value(const std::string& bytes) {
  PortableReader reader(bytes);
  std::string mark(reader.next());
  const std::string leaf(reader.next());
  Tree tree = leaf.empty() ? Tree() : Tree(Portable<Tensor>::value(leaf));
  while (!reader.done()) {
    const std::string name(reader.next());
    tree[name] = value(std::string(reader.next()));
  }
  return tree.set_mark(std::move(mark));
}

Tree Portable<Tree>::add(const Tree& a, const Tree& b) { return map(a, b, &Portable<Tensor>::add, Place()); }

}  // namespace retrace

#include "retrace/ops/vmap/vmap.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/ops/op.h"
#include "retrace/ops/recorded_body.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/transpose/transpose.h"
#include "retrace/ops/vmap/batched.h"

namespace retrace {
namespace {

// The leaves of x: those of all elements with the axis of the elements in front, unlabelled, and what f is given.
struct Elements {
  std::vector<BatchedValue> values;
  std::vector<TensorSpec> specs;
  int64_t count = -1;
  char label = 0;  // of the axis of the elements; 0: none
};

bool is_at(const std::string& path, const std::string& named) {
  return path == named || (path.size() > named.size() && path.starts_with(named) && path[named.size()] == '/');
}

int element_axis(const Tensor& x, const std::string& path, const VmapOptions& options, Place place) {
  if (!options.axis.empty()) return options.axis.one_of(x.spec(), "vmap", place);
  const int axis = x.labels().empty() ? (x.rank() > 0 ? 0 : -1) : x.spec().labels.find('B');
  if (axis < 0)
    throw Error(
        ErrorKind::usage, 296,
        path.empty() ? "vmap: x has no axis of elements" : fmt::format("vmap: {} has no axis of elements", path))
        .where(place)
        .got(x.spec().text())
        .expected("a label B, or no labels and one axis or more")
        .help("name another axis in options.axis, and in options.same what every element gets whole");
  return axis;
}

void add_mapped(Elements& elements, const Tensor& x, int axis, const std::string& path, Place place) {
  const int64_t count = x.shape()[axis];
  if (elements.count >= 0 && count != elements.count)
    throw Error(ErrorKind::usage, 297, fmt::format("vmap: {} has another number of elements", path))
        .where(place)
        .got(fmt::format("{}", count))
        .expected(fmt::format("{}, as the first leaf of x that is mapped", elements.count))
        .help("name in options.same what every element gets whole");
  elements.count = count;
  TensorSpec element{x.type(), {}, {}, {}, x.spec().device};
  Shape order{axis};
  for (int i = 0; i < x.rank(); ++i) {
    if (i == axis) continue;
    order.push_back(i);
    element.shape.push_back(x.shape()[i]);
    if (!x.labels().empty()) element.labels.push_back(x.spec().labels[i]);
  }
  if (!x.labels().empty()) elements.label = x.spec().labels[axis];
  const Tensor moved = axis == 0 ? x : transpose(x, order, place);
  elements.values.push_back({moved.labels().empty() ? moved : reshape(moved, moved.shape(), "", place), true});
  elements.specs.push_back(element);
}

Elements elements_of(const Tree& x, const VmapOptions& options, Place place) {
  Elements elements;
  std::vector<bool> found(options.same.size());
  for (const auto& [path, tensor] : leaves(x)) {
    bool same = false;
    for (size_t i = 0; i < found.size(); ++i)
      if (is_at(path, options.same[i])) same = found[i] = true;
    if (!same) {
      add_mapped(elements, tensor, element_axis(tensor, path, options, place), path, place);
      continue;
    }
    elements.values.push_back({tensor, false});
    elements.specs.push_back(tensor.spec());
  }
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      throw Error(ErrorKind::usage, 298, fmt::format("vmap: options.same names \"{}\", which x lacks", options.same[i]))
          .where(place)
          .help("a path of a leaf of x, or of a tree of them");
  if (elements.count < 0)
    throw Error(ErrorKind::usage, 297, "vmap: nothing says how many elements there are")
        .where(place)
        .help("a leaf of x has the axis of the elements: leave it out of options.same");
  return elements;
}

// The axis of the elements, the first one, at the place of its label.
Tensor with_label(const Tensor& all, const Labels& labels, char label, Place place) {
  constexpr std::string_view kOrder = "BTSCU";
  const bool once = label != 'S' && label != 'U';
  if (labels.empty() || label == 0 || (once && labels.find(label) >= 0)) return all;
  int at = 0;
  while (at < labels.size() && kOrder.find(labels[at]) < kOrder.find(label)) ++at;
  Shape order;
  std::string names;
  for (int i = 0; i <= labels.size(); ++i) {
    if (i == at) order.push_back(0), names += label;
    if (i < labels.size()) order.push_back(i + 1), names += labels[i];
  }
  const Tensor moved = at == 0 ? all : transpose(all, order, place);
  return reshape(moved, moved.shape(), names, place);
}

Tree record_vmap(FunctionRef<Tree(const Tree&)> f, const Tree& x, const VmapOptions& options, Place place) {
  Elements elements = elements_of(x, options, place);
  Tree structure;
  const auto call = [&](std::span<const Tensor> in) {
    structure = f(with_leaves(x, in));
    return leaf_tensors(structure);
  };
  const RecordedBody made = record_body("vmap", elements.specs, call, place);
  for (const Tensor& used : made.used) elements.values.push_back({used, false});
  std::vector<Tensor> results;
  for (const BatchedValue& value : record_batched(made.trace, std::move(elements.values), elements.count)) {
    const Labels& labels = made.trace.spec(made.trace.outputs[results.size()]).labels;
    results.push_back(with_label(as_mapped(value, elements.count, place), labels, elements.label, place));
  }
  return with_leaves(structure, results);
}

}  // namespace

Tree vmap(FunctionRef<Tree(const Tree& x)> f, const Tree& x, const VmapOptions& options, Place place) {
  return with_place(place, [&] { return record_vmap(f, x, options, place); });
}

void define_vmap(OpTable&) {}  // no op of its own: it records those of f

}  // namespace retrace

#include "retrace/autodiff/gradient.h"

#include <fmt/format.h>

#include <memory>

#include "retrace/autodiff/cotangents.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

void check_loss(const Tensor& loss, Place place) {
  if (!loss.defined()) throw Error(ErrorKind::usage, 210, "the function returned no loss").where(place);
  if (loss.size() == 1 && is_float(loss.type())) return;
  throw Error(ErrorKind::usage, 210, "the value to differentiate is not a single number")
      .where(place)
      .got(loss.spec().text())
      .expected("one f32 or f64 element")
      .help("sum it, or use a loss such as cross_entropy or mean_squared_error");
}

// What was recorded around a body is known there as a value alone: its way from x is not seen.
void check_is_recorded_here(const Tensor& y, std::span<const Tensor> x, const Recording& recording, Place place) {
  const auto& pending = y.value()->pending;
  if (!pending || pending.get() == &recording) return;
  for (const Tensor& one : x)
    if (one.value() == y.value()) return;
  throw Error(ErrorKind::usage, 478, "a body differentiates a tensor that was recorded outside of it")
      .where(place)
      .got(y.spec().text())
      .help("compute it in the body, from x: vmap, scan and checkpoint see what their function records");
}

// A node at which the walk has arrived, with what its gradient rule is given.
struct Visit {
  Node node;
  std::vector<Tensor> inputs, outputs, cotangents;
  std::unique_ptr<bool[]> needed;

  GradientCall call() const {
    return {node.attributes, inputs, outputs, cotangents, std::span(needed.get(), inputs.size()), node.place};
  }
};

// One use's part of a gradient: a tensor, or what the op of a visit adds term by term (Op::gradient_onto).
struct Contribution {
  Tensor found;
  std::shared_ptr<const Visit> visit = nullptr;

  // Added to what came before, if that is defined.
  Tensor onto(const Tensor& before, Place place) const {
    if (visit) return visit->node.op->gradient_onto(visit->call(), before);
    return before.defined() ? retrace::add(before, found, place) : found;
  }
};

class Backward {
 public:
  explicit Backward(Recording& recording) : recording_(recording), count_(recording.trace().nodes.size()) {
    reached_.resize(recording.trace().values.size());
    contributions_.resize(reached_.size());
  }

  void mark(ValueId id) { reached_[static_cast<size_t>(id)] = true; }

  // Marks all values that depend on the marked ones through differentiable ops.
  void spread() {
    for (size_t n = 0; n < count_; ++n) {
      const Node& node = recording_.trace().nodes[n];
      if (!node.op->gradient) continue;
      bool depends = false;
      for (ValueId id : node.inputs) depends |= reached_[static_cast<size_t>(id)];
      for (int i = 0; depends && i < node.output_count; ++i) mark(node.first_output + i);
    }
  }

  void add(ValueId id, const Tensor& cotangent) { contributions_[static_cast<size_t>(id)].push_back({cotangent}); }

  void run(Place place) {
    for (size_t n = count_; n-- > 0;) visit(n, place);
  }

  // The sum of what was found for a value, in recorded order of its consumers; undefined if nothing.
  Tensor total(ValueId id, Place place) {
    auto& found = contributions_[static_cast<size_t>(id)];
    if (found.empty()) return Tensor();
    Tensor sum;
    for (size_t i = found.size(); i-- > 0;) sum = found[i].onto(sum, place);  // backwards: the first use came last
    found.assign(1, {sum});
    return sum;
  }

 private:
  // Whether something that is wanted flows back through a node.
  bool carries(const Node& node) const {
    bool reached = false, wanted = false, needed = false;
    for (int i = 0; i < node.output_count; ++i) {
      reached |= reached_[static_cast<size_t>(node.first_output + i)];
      wanted |= !contributions_[static_cast<size_t>(node.first_output + i)].empty();
    }
    for (ValueId id : node.inputs) needed |= reached_[static_cast<size_t>(id)];
    return node.op->gradient && reached && wanted && needed;
  }

  void visit(size_t n, Place place) {
    if (!carries(recording_.trace().nodes[n])) return;
    const auto visit = std::make_shared<Visit>(arrive(recording_.trace().nodes[n], place));
    const Node& node = visit->node;
    const auto& inputs = visit->inputs;
    if (node.op->gradient_onto) {
      if (visit->needed[0]) contributions_[static_cast<size_t>(node.inputs[0])].push_back({{}, visit});
      return;
    }
    const auto found = node.op->gradient(visit->call());
    ensure(found.size() == inputs.size(), "a gradient rule returns one tensor for each input");
    // Backwards here too, so that all contributions lie in descending order.
    for (size_t i = inputs.size(); i-- > 0;) {
      if (!visit->needed[i] || !found[i].defined()) continue;
      ensure(found[i].shape() == inputs[i].shape(), "a gradient has the shape of its input", node.place);
      contributions_[static_cast<size_t>(node.inputs[i])].push_back({found[i]});
    }
  }

  // `node` is a copy: recording moves the nodes.
  Visit arrive(Node node, Place place) {
    Visit visit{std::move(node), {}, {}, {}, nullptr};
    const size_t count = visit.node.inputs.size();
    visit.inputs.reserve(count);
    visit.needed = std::make_unique<bool[]>(count);
    for (size_t i = 0; i < count; ++i) {
      visit.needed[i] = reached_[static_cast<size_t>(visit.node.inputs[i])];
      visit.inputs.push_back(recording_.tensor(visit.node.inputs[i]));
    }
    for (int i = 0; i < visit.node.output_count; ++i) {
      visit.outputs.push_back(recording_.tensor(visit.node.first_output + i));
      visit.cotangents.push_back(total(visit.node.first_output + i, place));
    }
    return visit;
  }

  Recording& recording_;
  size_t count_;
  std::vector<bool> reached_;
  std::vector<std::vector<Contribution>> contributions_;
};

// What is given for a labelled result may come without labels.
Tensor with_labels_of(const Tensor& y, const Tensor& given, Place place) {
  return given.labels().empty() && !y.labels().empty() ? reshape(given, y.shape(), y.labels(), place) : given;
}

}  // namespace

void check_cotangents(const char* function, std::span<const Tensor> of, std::span<const Tensor> given, Place place) {
  const auto refuse = [&](const std::string& got, const std::string& expected) {
    throw Error(ErrorKind::usage, 235, fmt::format("{}: what is given does not fit", function))
        .where(place)
        .got(got)
        .expected(expected);
  };
  if (of.size() != given.size())
    refuse(fmt::format("{} tensors", given.size()), fmt::format("{} tensors, some of them undefined", of.size()));
  for (size_t i = 0; i < of.size(); ++i)
    if (given[i].defined() && (!(given[i].shape() == of[i].shape()) || given[i].type() != of[i].type()))
      refuse(given[i].spec().text(), of[i].spec().text());
}

Tensor zeros_like(const Tensor& x, Place place) { return broadcast(constant_like(x, 0), x.shape(), x.labels(), place); }

std::vector<Tensor> vjp(std::span<const Tensor> y, std::span<const Tensor> cotangents, std::span<const Tensor> x,
                        Place place) {
  auto& recording = *current_recording();
  std::vector<ValueId> from, ids;
  for (const auto& output : y) from.push_back(recording.id_of(output, place));
  check_cotangents("vjp", y, cotangents, place);
  for (const auto& cotangent : cotangents)
    if (cotangent.defined()) recording.id_of(cotangent, place);  // an input, if it is known, before values are counted
  for (const auto& one : x) ids.push_back(recording.id_of(one, place));
  for (const auto& output : y) check_is_recorded_here(output, x, recording, place);
  Backward backward(recording);
  for (ValueId id : ids) backward.mark(id);
  backward.spread();
  for (size_t i = y.size(); i-- > 0;)
    if (cotangents[i].defined()) backward.add(from[i], with_labels_of(y[i], cotangents[i], place));
  backward.run(place);
  std::vector<Tensor> found;
  for (ValueId id : ids) found.push_back(backward.total(id, place));
  return found;
}

std::vector<Tensor> gradients(const Tensor& loss, std::span<const Tensor> with_respect_to, Place place) {
  check_loss(loss, place);
  current_recording()->id_of(loss, place);
  for (const auto& x : with_respect_to) current_recording()->id_of(x, place);
  const Tensor seed = reshape(constant_like(loss, 1), loss.shape(), loss.labels(), place);
  auto found = vjp({&loss, 1}, {&seed, 1}, with_respect_to, place);
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i].defined()) found[i] = zeros_like(with_respect_to[i], place);
  return found;
}

}  // namespace retrace

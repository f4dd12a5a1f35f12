#include "retrace/nn/network_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "retrace/nn/layer_graph.h"
#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/trace/record.h"
#include "retrace/trace/text.h"

namespace retrace::nn {
namespace {

using Form = LayerMade::Form;

Error no_text(const std::string& what) {
  return Error(ErrorKind::usage, 730, fmt::format("the network cannot be written as text: {}", what))
      .help("make it of the layers of retrace::nn");
}

// The names that the layers have.
void add_names(const std::vector<LayerText>& texts, std::set<std::string>& names) {
  for (const auto& text : texts) {
    names.insert(text.name);
    add_names(text.layers, names);
  }
}

void add_names(const Layer& layer, std::set<std::string>& names) {
  names.insert(layer.name());
  if (!layer.made_from()) return;
  add_names(layer.made_from()->texts, names);
  for (const auto& [name, part] : layer.made_from()->parts) add_names(part, names);
}

// What layers have made so far, as texts that follow can take it.
struct Value {
  std::string name = {};                             // of the layer that made it; empty: the last one of the list
  std::map<std::string, std::string> branches = {};  // of several outputs: for each that layer
};

// Layers, one after another, as a list of texts.
class TextList {
 public:
  explicit TextList(const std::set<std::string>& taken) : taken_(taken) {}

  Value add(const Layer& layer, Value x) {
    const LayerMade* made = layer.made_from();
    if (!made) throw no_text(fmt::format("{} is one of the program's own", what_of(layer)));
    if (made->form == Form::kind) return add_kind(layer, *made, x);
    return layer.name().empty() ? add_parts(*made, std::move(x)) : add_block(layer.name(), *made, x);
  }

  // A name for the value, by which later layers take it.
  std::string name_of(Value& value) {
    if (!value.branches.empty()) throw no_text("several outputs are taken for one");
    if (value.name.empty()) value.name = name_of_last();
    return value.name;
  }

  // The last layer makes the value.
  void end_with(Value value) {
    name_of(value);
    if (list_.empty() || list_.back().name != value.name) append({.type = "identity"}, value);
  }

  bool is_last(const Value& value) const {
    return value.branches.empty() &&
           (value.name.empty() || (list_.empty() ? value.name == kInput : list_.back().name == value.name));
  }

  std::vector<LayerText> take() { return std::move(list_); }

 private:
  static constexpr const char* kInput = "input";

  static std::string what_of(const Layer& layer) {
    return layer.name().empty() ? "a layer" : fmt::format("layer \"{}\"", layer.name());
  }

  Value append(LayerText text, const Value& x, bool has_entry = false) {
    if (!x.branches.empty()) throw no_text(fmt::format("a layer {} takes several outputs", text.type));
    if (!is_last(x)) text.from = {x.name};
    list_.push_back(std::move(text));
    last_has_entry_ = has_entry;
    return {};
  }

  Value add_kind(const Layer& layer, const LayerMade& made, Value x) {
    LayerText text{.type = made.type, .name = layer.name(), .options = made.options};
    if (!kind_of(all_layers(), made.type, "layer", {}).joins) return append(std::move(text), x, layer.has_entry());
    for (const auto& [name, from] : x.branches) text.from.push_back(from);
    if (text.from.size() < 2) throw no_text(fmt::format("a layer {} takes one input", made.type));
    return append(std::move(text), {});
  }

  Value add_block(const std::string& name, const LayerMade& made, const Value& x) {
    TextList inner(taken_);
    Value y = inner.add_parts(made, {});
    if (!inner.is_last(y) || inner.list_.empty()) inner.end_with(std::move(y));
    return append({.name = name, .layers = inner.take()}, x, true);
  }

  Value add_parts(const LayerMade& made, Value x) {
    switch (made.form) {
      case Form::chain:
        for (const auto& [name, part] : made.parts) x = add(part, std::move(x));
        return x;
      case Form::sum: return add_sum(made, std::move(x));
      case Form::heads: return add_heads(made, std::move(x));
      default: return add_texts(made, x);
    }
  }

  Value add_sum(const LayerMade& made, Value x) {
    name_of(x);
    Value main = add(made.parts[0].second, x);
    const size_t before = list_.size();
    const bool was_last = is_last(main);
    if (!is_empty(made.parts[1].second)) name_of(main);
    Value skip = add(made.parts[1].second, x);
    LayerText sum{.type = "add", .from = {name_of(skip)}};
    if (!was_last || list_.size() != before) sum.from.insert(sum.from.begin(), name_of(main));
    return append(std::move(sum), {});
  }

  static bool is_empty(const Layer& layer) {
    return layer.made_from() && layer.made_from()->form == Form::chain && layer.made_from()->parts.empty();
  }

  Value add_heads(const LayerMade& made, Value x) {
    name_of(x);
    Value y;
    for (const auto& [name, part] : made.parts) {
      Value head = add(part, x);
      y.branches[name] = name_of(head);
    }
    return y;
  }

  // Layers that are text already, with nothing before them.
  Value add_texts(const LayerMade& made, const Value& x) {
    if (!list_.empty() || !is_last(x)) throw no_text("a network of a job file is one of its layers");
    list_ = made.texts;
    last_has_entry_ = true;
    Value last, y;
    for (size_t i = 0; i < made.outputs.size(); ++i) {
      const auto& output = made.outputs[i];
      Value one{.name = output.from.empty() ? name_of(last) : output.from};
      if (made.softmaxes[i]) one = append({.type = "softmax"}, one);
      y.branches[output.name] = name_of(one);
    }
    return y;
  }

  // A name of the last layer's own would be that of its parameters, and that of a block one of theirs.
  std::string name_of_last() {
    if (list_.empty()) return kInput;
    if (!list_.back().name.empty()) return list_.back().name;
    std::string name;
    do name = fmt::format("value_{}", ++names_);
    while (taken_.count(name));
    if (last_has_entry_) append({.type = "identity"}, {});
    return list_.back().name = name;
  }

  const std::set<std::string>& taken_;
  std::vector<LayerText> list_;
  bool last_has_entry_ = false;
  int names_ = 0;
};

// Without the level that gives the one output of layers its name.
const Layer& root_of(const Network& network) {
  const LayerMade* made = network.layers.made_from();
  return made && made->form == Form::heads && made->parts.size() == 1 ? made->parts[0].second : network.layers;
}

NetworkText written(const Network& network) {
  std::set<std::string> taken;
  add_names(network.layers, taken);
  TextList list(taken);
  Value y = list.add(root_of(network), {});
  NetworkText text{.layers = {}, .outputs = network.outputs};
  for (auto& output : text.outputs) {
    if (const auto branch = y.branches.find(output.name); branch != y.branches.end())
      output.from = branch->second;
    else if (list.is_last(y))
      output.from.clear();
    else
      output.from = list.name_of(y);
  }
  text.layers = list.take();
  return text;
}

Tree placeholders(const Tree& tree, Recording& recording) {
  return map(tree, [&](const Tensor& tensor) { return recording.add_input(tensor.spec()); });
}

// What the layers compute of one sample in inference.
std::string ops_of(const Layer& layers, const Network& network) {
  RecordingScope scope;
  Recording& recording = scope.recording();
  const Tensor x = recording.add_input(spec_of_sample(network.sample));
  const Tree parameters = placeholders(network.parameters, recording), state = placeholders(network.state, recording);
  const Tree y = layers.forward(x, parameters, state, Phase::inference).y;
  std::vector<Tensor> outputs;
  for (const auto& output : network.outputs) outputs.push_back(y[output.name].tensor());
  return print_trace(recording.take_trace(outputs));
}

Tensor target_of(const NetworkOutput& output, const Tensor& y, Recording& recording) {
  if (!is_scores(output.kind)) return recording.add_input(y.spec());
  return recording.add_input(
      {DType::i32, target_shape(output.kind, y.shape()), Labels(target_labels(output.kind)), {}});
}

using LossFunction = std::function<Tensor(const Tree& y, const Tree& targets)>;

std::string ops_of(const LossFunction& loss, const Network& network) {
  RecordingScope scope;
  Recording& recording = scope.recording();
  const Tensor x = recording.add_input(spec_of_sample(network.sample));
  const Tree parameters = placeholders(network.parameters, recording), state = placeholders(network.state, recording);
  const Tree y = network.layers.forward(x, parameters, state, Phase::inference).y;
  Tree targets;
  for (const auto& output : network.outputs)
    targets[output.name] = target_of(output, y[output.name].tensor(), recording);
  return print_trace(recording.take_trace(std::vector{loss(y, targets)}));
}

}  // namespace

NetworkText text_of(const Network& network) {
  NetworkText text = written(network);
  const Layer again = plain_layers({.layers = text.layers, .input = network.sample, .outputs = text.outputs});
  if (ops_of(again, network) != ops_of(network.layers, network))
    throw no_text("its layers compute something else than their kinds");
  return text;
}

bool has_named_loss(const Network& network) {
  const auto& outputs = network.outputs;
  if (std::any_of(outputs.begin(), outputs.end(), [](const auto& output) { return output.loss.empty(); })) return false;
  try {
    return ops_of(loss_of(outputs), network) == ops_of(network.loss, network);
  } catch (const Error&) {  // a loss of users that takes other targets
    return false;
  }
}

}  // namespace retrace::nn

#include "retrace/nn/layer_graph.h"

#include <fmt/format.h>

#include <map>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers/softmax.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/where/where.h"

namespace retrace::nn {
namespace {

struct Node {
  LayerText text;
  std::string label;
  std::optional<Layer> layer = {};  // nothing: a block
  bool joins = false;
  std::vector<Node> inner = {};

  // Of the last layer in it.
  const std::string& last_type() const { return layer || inner.empty() ? text.type : inner.back().last_type(); }
};

// What the layers of a list have made so far.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, Tree> values = {};

  const Tree& at(const std::string& name) const {
    const auto found = values.find(name);
    if (found != values.end()) return found->second;
    ensure(outer != nullptr, "a layer takes its input from one that is there");
    return outer->at(name);
  }
};

template <class F>
decltype(auto) at_node(const Node& node, F&& f) {
  try {
    return f();
  } catch (Error& error) {
    if (!node.text.place.empty()) error.where(node.text.place);
    throw error.in(node.label);
  }
}

std::vector<Node> nodes_of(const std::vector<LayerText>& layers, const std::string& outer) {
  std::vector<Node> nodes;
  for (size_t i = 0; i < layers.size(); ++i) {
    Node& node = nodes.emplace_back(Node{layers[i], label_of(layers[i], outer, i)});
    if (node.text.type.empty()) {
      node.inner = nodes_of(node.text.layers, fmt::format("{}{}.", outer, i + 1));
      continue;
    }
    const LayerKind& kind = kind_of(all_layers(), node.text.type, "layer", {});
    node.joins = kind.joins;
    node.layer = at_node(node, [&] { return kind.layer(node.text.options); });
    if (!node.text.name.empty() && node.layer->has_entry()) node.layer = node.layer->named(node.text.name);
  }
  return nodes;
}

// The input of a layer: what `from` says, or y, which is the output of the layer before it.
Tree input_of(const Node& node, const Tree& y, const Scope& scope) {
  const auto& from = node.text.from;
  if (!node.joins) return from.empty() ? y : scope.at(from[0]);
  Tree inputs;
  int count = 0;
  const auto add = [&](const Tree& input) { inputs[fmt::format("{:05}", count++)] = input; };
  if (from.size() == 1) add(y);
  for (const auto& name : from) add(scope.at(name));
  return inputs;
}

Tree run(const std::vector<Node>& nodes, Walk& walk, const Tree& x, Scope& scope);

Tree run_block(const Node& node, Walk& walk, const Tree& x, const Scope& scope) {
  Tree y = x;
  for (int64_t i = 1; i <= node.text.repeat; ++i) {
    const std::string& name = node.text.name;
    if (!name.empty()) walk.open("", node.text.repeat == 1 ? name : fmt::format("{}_{}", name, i));
    Scope own{&scope};
    y = run(node.inner, walk, y, own);
    if (!name.empty()) walk.close();
  }
  return y;
}

Tree run(const std::vector<Node>& nodes, Walk& walk, const Tree& x, Scope& scope) {
  scope.values["input"] = x;
  Tree y = x;
  for (const auto& node : nodes) {
    const Tree input = input_of(node, y, scope);
    y = node.layer ? at_node(node, [&] { return node.layer->apply(walk, input); })
                   : run_block(node, walk, input, scope);
    const std::string& name = node.text.name;
    if (name.empty()) continue;
    if (node.layer && !node.layer->has_entry()) walk.name_step(name);
    scope.values[name] = y;
  }
  return y;
}

// Scores are probabilities: a softmax follows where the layers do not end with one.
bool needs_softmax(const std::vector<Node>& nodes, const NetworkOutput& output) {
  if (!is_scores(output.kind) || output.kind == OutputKind::token_scores || nodes.empty()) return false;
  const Node* source = &nodes.back();
  for (const auto& node : nodes)
    if (!output.from.empty() && node.text.name == output.from) source = &node;
  return source->last_type() != "softmax";
}

// Positions of padding say the blank, the first class, and nothing else.
Tree blank_at_padding(const Walk& walk, const Tree& y) {
  const Tensor& scores = y.tensor();
  const Tensor mask = walk.mask_of(scores);
  if (!mask.defined()) return y;
  const Shape& shape = scores.shape();
  std::vector<float> blank(static_cast<size_t>(shape[2]), static_cast<float>(kNoScore));
  if (!blank.empty()) blank[0] = 0;
  const Tensor row = Tensor::from(blank, {1, 1, shape[2]}).to(scores.device());
  const Tensor counts = broadcast(reshape(mask, {shape[0], shape[1], 1}, ""), shape, "");
  const Tensor bare = reshape(scores, shape, "");
  return Tree(reshape(where(counts, bare, broadcast(row, shape, "")), shape, scores.labels()));
}

Layer graph_of(std::vector<Node> nodes, std::shared_ptr<const LayerMade> made) {
  return Layer("",
               [made, nodes = std::move(nodes), scores = softmax()](Walk& walk, const Tree& x) {
                 Scope scope;
                 const Tree last = run(nodes, walk, x, scope);
                 Tree y;
                 for (size_t i = 0; i < made->outputs.size(); ++i) {
                   const NetworkOutput& output = made->outputs[i];
                   const Tree one = output.from.empty() ? last : scope.at(output.from);
                   if (is_scores(output.kind)) check_class_weights(output, one.tensor().shape().back());
                   const bool tokens = output.kind == OutputKind::token_scores;
                   y[output.name] = made->softmaxes[i] ? scores.apply(walk, one)
                                    : tokens           ? blank_at_padding(walk, one)
                                                       : one;
                 }
                 return y;
               })
      .with_made(made);
}

// `softmaxes`: whether one follows scores.
Layer made_layers(const NetworkOptions& options, bool softmaxes) {
  std::vector<Error> errors;
  const auto checked = checked_layers(options.layers, options.outputs, errors);
  throw_all(errors);
  if (options.outputs.empty())
    throw Error(ErrorKind::usage, 454, "the network has no outputs").help("NetworkOptions::outputs lists them");
  std::vector<Node> nodes = nodes_of(checked, "");
  LayerMade made{.form = LayerMade::Form::text, .texts = options.layers, .outputs = options.outputs};
  for (const auto& output : options.outputs) made.softmaxes.push_back(softmaxes && needs_softmax(nodes, output));
  return graph_of(std::move(nodes), std::make_shared<LayerMade>(std::move(made)));
}

}  // namespace

NetworkKind layered_network(const NetworkOptions& options) {
  return {.name = "layers",
          .help = "the layers that the job describes",
          .sample = options.input,
          .outputs = options.outputs,
          .source = "",
          .width = 1,
          .layers = [](const NetworkOptions& given) { return made_layers(given, true); }};
}

Layer plain_layers(const NetworkOptions& options) { return made_layers(options, false); }

}  // namespace retrace::nn

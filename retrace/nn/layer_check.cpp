// What may be wrong with layers before their shapes are known.

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/joined.h"
#include "retrace/nn/layer_graph.h"
#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

constexpr int64_t kMostLayers = 10'000;

// The names that a layer may take its input from.
struct Names {
  const Names* outer = nullptr;
  std::vector<std::string> here = {"input"};

  bool contains(const std::string& name) const {
    return std::count(here.begin(), here.end(), name) || (outer && outer->contains(name));
  }
  std::vector<std::string> all() const {
    std::vector<std::string> names = here;
    if (outer)
      for (auto& name : outer->all())
        if (!std::count(names.begin(), names.end(), name)) names.push_back(std::move(name));
    return names;
  }
};

class LayerChecker {
 public:
  explicit LayerChecker(std::vector<Error>& errors) : errors_(errors) {}

  // The layers of a list; `times` is how often it stands in the network.
  void check(std::vector<LayerText>& layers, Names& names, const std::string& outer, int64_t times) {
    for (size_t i = 0; i < layers.size(); ++i) {
      LayerText& layer = layers[i];
      label_ = label_of(layer, outer, i), place_ = layer.place;
      check_name(layer, names);
      for (const auto& from : layer.from) check_source(from, names);
      check_factor("learn_rate_factor", layer.learn_rate_factor);
      check_factor("l2_factor", layer.l2_factor);
      if (!layer.type.empty())
        check_layer(layer, times);
      else
        check_block(layer, names, fmt::format("{}{}.", outer, i + 1), times);
      if (!layer.name.empty()) names.here.push_back(layer.name);
    }
  }

  void check_outputs(const std::vector<NetworkOutput>& outputs, const Names& names) {
    place_.clear();
    for (const auto& output : outputs) {
      label_ = fmt::format("output \"{}\"", output.name);
      if (!output.from.empty()) check_source(output.from, names);
    }
  }

 private:
  Error& report(int code, const std::string& what) {
    Error& error = errors_.emplace_back(ErrorKind::usage, code, fmt::format("{}: {}", label_, what));
    if (!place_.empty()) error.where(place_);
    return error;
  }

  void check_name(const LayerText& layer, const Names& names) {
    if (layer.name.find('/') != std::string::npos || layer.name == "input")
      report(445, fmt::format("\"{}\" cannot name a layer", layer.name))
          .expected("some text without /, but not \"input\"");
    else if (!layer.name.empty() && std::count(names.here.begin(), names.here.end(), layer.name))
      report(445, fmt::format("the name \"{}\" stands twice", layer.name)).help("give one of the two another name");
  }

  void check_factor(const char* name, double factor) {
    if (factor >= 0 && factor <= 1e6) return;
    report(452, fmt::format("{} is out of range", name)).got(fmt::format("{}", factor)).expected("from 0 to 1000000");
  }

  void check_source(const std::string& from, const Names& names) {
    if (names.contains(from)) return;
    const auto all = names.all();
    const auto near = nearest(from, all);
    report(446, fmt::format("there is no layer \"{}\" before it", from))
        .expected(joined(all, ", "))
        .help(near.empty() ? "give that layer a name of its own, name = \"...\", and take it by this name"
                           : fmt::format("did you mean \"{}\"?", near));
  }

  void check_layer(LayerText& layer, int64_t times) {
    count(times);
    if (!layer.layers.empty() || layer.repeat != 1)
      report(447, "a layer with a type is no block").help("remove type, or remove layers and repeat");
    const LayerKind* kind = find_kind(all_layers(), layer.type);
    if (!kind) {
      const auto names = names_of(all_layers());
      const auto near = nearest(layer.type, names);
      report(440, fmt::format("there is no layer type \"{}\"", layer.type))
          .expected(near.empty() ? joined(names, ", ") : "")
          .help(near.empty() ? "docs/networks.md 1 says what each computes"
                             : fmt::format("did you mean \"{}\"?", near));
      return;
    }
    if (kind->joins && layer.from.empty())
      report(448, "it joins the outputs of several layers").expected("from = \"NAME\", or [\"NAME\", \"NAME\"]");
    if (!kind->joins && layer.from.size() > 1)
      report(448, fmt::format("it takes one input, not {}", layer.from.size()))
          .help("join them by an add layer before it");
    if (!kind->learns && (layer.frozen || layer.learn_rate_factor != 1 || layer.l2_factor != 1))
      report(451, "it has no parameters").help("remove frozen, learn_rate_factor and l2_factor");
    layer.options = completed_options(layer, label_, errors_);
  }

  void check_block(LayerText& block, const Names& names, const std::string& inner, int64_t times) {
    if (block.layers.empty()) report(447, "it has no type").help("write type = \"...\", or layers = [...] of a block");
    if (block.repeat < 1 || block.repeat > kMostLayers)
      report(452, "repeat is out of range")
          .got(fmt::format("{}", block.repeat))
          .expected(fmt::format("from 1 to {}", kMostLayers));
    for (const auto& [name, value] : block.options)
      report(450, fmt::format("unknown key \"{}\"", name)).expected("layers, repeat, name, from");
    if (block.from.size() > 1) report(448, fmt::format("a block takes one input, not {}", block.from.size()));
    Names own{&names};
    times *= std::clamp<int64_t>(block.repeat, 1, kMostLayers);
    if (times > kMostLayers) throw too_many();
    check(block.layers, own, inner, times);
  }

  // Stops where the numbers would become too large.
  void count(int64_t times) {
    layers_ += times;
    if (layers_ > kMostLayers) throw too_many();
  }

  static Error too_many() {
    return Error(ErrorKind::usage, 449, "the network has too many layers")
        .expected(fmt::format("at most {}, blocks repeated", kMostLayers));
  }

  std::vector<Error>& errors_;
  std::string label_, place_;
  int64_t layers_ = 0;
};

}  // namespace

std::string label_of(const LayerText& layer, const std::string& outer, size_t index) {
  std::string what = layer.type.empty() ? "block" : layer.type;
  if (!layer.name.empty()) what += fmt::format(" \"{}\"", layer.name);
  return fmt::format("layer {}{} ({})", outer, index + 1, what);
}

std::vector<LayerText> checked_layers(std::vector<LayerText> layers, const std::vector<NetworkOutput>& outputs,
                                      std::vector<Error>& errors) {
  LayerChecker checker(errors);
  Names names;
  try {
    checker.check(layers, names, "", 1);
    checker.check_outputs(outputs, names);
  } catch (const Error& error) {
    errors.push_back(error);
  }
  return layers;
}

}  // namespace retrace::nn

#include "retrace/nn/networks.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/nn/analyze.h"
#include "retrace/nn/layer_graph.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/nn/network_kind.h"

namespace retrace::nn {
namespace {

void check_heads(const NetworkKind& kind, const std::vector<std::string>& heads, Place place) {
  const auto known = names_of(kind.outputs);
  for (const auto& head : heads)
    if (!std::count(known.begin(), known.end(), head))
      throw_unknown(fmt::format("output of network \"{}\"", kind.name), head, known, place);
  if (!std::count(heads.begin(), heads.end(), known[0]))
    throw Error(ErrorKind::usage, 198,
                fmt::format("network \"{}\" always trains the output \"{}\"", kind.name, known[0]))
        .where(place);
}

void check_width(const NetworkKind& kind, int width, Place place) {
  if (width >= kind.least_width) return;
  throw Error(ErrorKind::usage, 199, fmt::format("network \"{}\": width is {}", kind.name, width))
      .where(place)
      .expected(fmt::format("at least {}", kind.least_width));
}

}  // namespace

bool has_head(const NetworkOptions& options, std::string_view name) {
  return std::find(options.heads.begin(), options.heads.end(), name) != options.heads.end();
}

std::optional<NetworkKind> find_network(const NetworkOptions& options) {
  if (!options.layers.empty()) return layered_network(options);
  const NetworkKind* kind = find_kind(all_networks(), options.name);
  return kind ? std::optional(*kind) : std::nullopt;
}

NetworkOptions with_defaults(NetworkOptions options, const NetworkKind& kind) {
  if (!options.layers.empty()) {
    options.name.clear();
    options.width.reset();
    options.heads = names_of(options.outputs);
    std::vector<Error> unsaid;
    options.layers = checked_layers(options.layers, options.outputs, unsaid);
    return options;
  }
  if (!options.width) options.width = kind.width;
  if (options.heads.empty()) options.heads = names_of(kind.outputs);
  options.options = with_standard_values(std::move(options.options), kind.options);
  return options;
}

NetworkOptions resolved(const NetworkOptions& given, Place place) {
  if (!given.layers.empty()) {
    std::vector<Error> errors;
    checked_layers(given.layers, given.outputs, errors);
    throw_all(errors);
    return with_defaults(given, layered_network(given));
  }
  const NetworkKind& kind = kind_of(all_networks(), given.name, "network", place);
  NetworkOptions options = with_defaults(given, kind);
  check_width(kind, *options.width, place);
  check_heads(kind, options.heads, place);
  with_place(place, [&] {
    options.options = completed(options.options, kind.options, fmt::format("network \"{}\"", kind.name));
  });
  return options;
}

Network make_network(RandomKey key, const NetworkOptions& given, Place place) {
  const NetworkOptions options = resolved(given, place);
  const NetworkKind kind = *find_network(options);
  std::vector<NetworkOutput> outputs;
  for (const auto& output : kind.outputs)
    if (has_head(options, output.name)) outputs.push_back(output);
  const Layer layers = kind.layers(options);
  auto [parameters, state] = layers.initial(kind.sample, key);
  auto loss = loss_of(outputs, place);
  return {kind.name,        kind.sample,     std::move(outputs),       layers, std::move(parameters),
          std::move(state), std::move(loss), training_factors(options)};
}

Network make_network(RandomKey key, const Layer& layers, const Shape& sample, std::vector<NetworkOutput> outputs,
                     Place place) {
  if (outputs.empty())
    throw Error(ErrorKind::usage, 480, "a network needs an output")
        .where(place)
        .help("give one, such as {{.name = \"y\"}}");
  const Tree made = analyze(layers, sample, place).outputs;
  std::vector<std::string> names;
  if (!made.is_leaf())
    for (const auto& [name, y] : made.children()) names.push_back(name);
  for (const auto& output : outputs)
    if (!names.empty() && !std::count(names.begin(), names.end(), output.name))
      throw_unknown("output of the layers", output.name, names, place);
  if (made.is_leaf() && outputs.size() > 1)
    throw Error(ErrorKind::usage, 480, fmt::format("the layers make one output, not {}", outputs.size()))
        .where(place)
        .help("nn::parallel makes one for each of its heads");
  const Layer named = made.is_leaf() ? parallel({{outputs[0].name, layers}}) : layers;
  auto [parameters, state] = layers.initial(sample, key, place);
  auto loss = loss_of(outputs, place);
  return {"layers", sample, std::move(outputs), named, std::move(parameters), std::move(state), std::move(loss)};
}

Tree Network::predict(const Tensor& x, Place place) const {
  const Tree y = forward(x, parameters, state, Phase::inference, place).y;
  return outputs.size() == 1 && !y.is_leaf() ? y[outputs[0].name] : y;
}

Network Network::to(DeviceRef device, Place place) const {
  Network there = *this;
  there.parameters = parameters.to(device, place);
  there.state = state.to(device, place);
  return there;
}

}  // namespace retrace::nn

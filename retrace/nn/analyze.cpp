#include "retrace/nn/analyze.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/nn/network_kind.h"
#include "retrace/trace/draw_scope.h"
#include "retrace/trace/record.h"

namespace retrace::nn {
namespace {

std::string own_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The numbers of the requests from first to last, whose texts go to `parts`.
int64_t count(const std::vector<Walk::Request>& requests, size_t first, size_t last, std::vector<std::string>& parts) {
  int64_t sum = 0;
  for (size_t i = first; i < last; ++i) {
    sum += requests[i].shape.count();
    parts.push_back(fmt::format("{} {}", own_name(requests[i].path), requests[i].shape.text()));
  }
  return sum;
}

std::vector<LayerSummary> summaries(const Walk& walk) {
  std::vector<LayerSummary> made;
  size_t parameters = 0, states = 0;
  for (const auto& step : walk.steps()) {
    LayerSummary& layer = made.emplace_back();
    layer.name = step.path, layer.type = step.type;
    const auto outputs = leaf_tensors(step.y);
    if (!outputs.empty()) layer.output = sample_shape(outputs[0].shape());
    for (const auto& output : outputs) layer.output_bytes += static_cast<int64_t>(output.spec().bytes());
    layer.learnables = count(walk.parameters(), parameters, step.parameters, layer.parts);
    layer.state = count(walk.states(), states, step.states, layer.parts);
    parameters = step.parameters, states = step.states;
  }
  return made;
}

std::string grouped(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

Analysis analyze(const Layer& layers, const Shape& sample, Place place) {
  return with_place(place, [&] {
    Analysis made{.input = sample, .layers = {}, .outputs = {}};
    Walk walk;
    RecordingScope scope;                           // for the shapes: nothing of this is computed
    const DrawScope draws(random_key(0).tensor());  // of layers that draw in training
    const Tree y = layers.apply(walk, scope.recording().add_input(spec_of_sample(sample)));
    made.layers = summaries(walk);
    made.outputs = map(y, [](const Tensor& tensor) { return Tensor(new_tensor_value(tensor.spec())); });
    for (const auto& layer : made.layers) {
      made.learnables += layer.learnables, made.state += layer.state;
      made.activation_bytes += layer.output_bytes;
    }
    return made;
  });
}

Analysis analyze(const Network& network, Place place) { return analyze(network.layers, network.sample, place); }

Analysis analyze(const NetworkOptions& given, Place place) {
  const NetworkOptions options = resolved(given, place);
  const NetworkKind kind = *find_network(options);
  return analyze(kind.layers(options), kind.sample, place);
}

std::string Analysis::text() const {
  size_t name = 5, type = 4, shape = 6;
  for (const auto& layer : layers) {
    name = std::max(name, layer.name.size()), type = std::max(type, layer.type.size());
    shape = std::max(shape, layer.output.text().size());
  }
  const auto line = [&](std::string_view a, std::string_view b, std::string_view c, std::string_view d,
                        std::string_view e, std::string_view f, std::string_view g) {
    std::string made =
        fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>12}  {:>8}  {:>12}  {}", a, name, b, type, c, shape, d, e, f, g);
    made.erase(made.find_last_not_of(' ') + 1);
    return made + "\n";
  };
  std::string all = line("layer", "type", "output", "learnables", "state", "output bytes", "parameters and state");
  all += line("input", "", input.text(), "", "", "", "");
  for (const auto& layer : layers) {
    std::string parts;
    for (const auto& part : layer.parts) parts += (parts.empty() ? "" : ", ") + part;
    all += line(layer.name, layer.type, layer.output.text(), grouped(layer.learnables), grouped(layer.state),
                grouped(layer.output_bytes), parts);
  }
  return all + line("all", "", "", grouped(learnables), grouped(state), grouped(activation_bytes), "");
}

}  // namespace retrace::nn

#include "retrace/nn/analyze.h"
#include "retrace/nn/layer_graph.h"

namespace retrace::nn {
namespace {

// The factors of every layer in the order in which the graph computes them, blocks repeated.
void expand(const std::vector<LayerText>& layers, const TrainingFactors& outer, std::vector<TrainingFactors>& all) {
  for (const auto& layer : layers) {
    const TrainingFactors own{.path = "",
                              .learn_rate = outer.learn_rate * layer.learn_rate_factor,
                              .l2 = outer.l2 * layer.l2_factor,
                              .frozen = outer.frozen || layer.frozen};
    if (!layer.type.empty())
      all.push_back(own);
    else
      for (int64_t i = 0; i < layer.repeat; ++i) expand(layer.layers, own, all);
  }
}

}  // namespace

std::vector<TrainingFactors> training_factors(const NetworkOptions& options) {
  std::vector<TrainingFactors> all, made;
  expand(options.layers, {}, all);
  if (all.empty()) return {};
  const Analysis analysis = analyze(layered_network(options).layers(options), options.input);
  int64_t trained = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& layer = analysis.layers.at(i);
    if (!all[i].frozen) trained += layer.learnables;
    all[i].path = layer.name;
    const bool as_others = !all[i].frozen && all[i].learn_rate == 1 && all[i].l2 == 1;
    if (!as_others && layer.learnables > 0) made.push_back(all[i]);
  }
  if (!made.empty() && trained == 0)
    throw Error(ErrorKind::usage, 455, "all parameters of the network are frozen").help("leave one layer unfrozen");
  return made;
}

}  // namespace retrace::nn

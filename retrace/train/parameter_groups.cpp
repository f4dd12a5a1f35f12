#include "retrace/train/parameter_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

// The factors of the layer that has the parameter; the layer's own entry is the path without its last name.
nn::TrainingFactors factors_of(const nn::Network& network, const std::string& path) {
  const std::string layer = path.substr(0, path.rfind('/'));
  for (const auto& factors : network.factors)
    if (factors.path == layer) return factors;
  return {};
}

}  // namespace

Tree ParameterGroup::of(const Tree& parameters) const { return part_of(parameters, leaves); }

Tree ParameterGroup::put(const Tree& parameters, const Tree& own) const { return with_part(parameters, leaves, own); }

std::vector<ParameterGroup> parameter_groups(const nn::Network& network) {
  std::vector<ParameterGroup> groups;
  if (network.factors.empty()) return groups;
  const auto named = leaves(network.parameters);
  for (size_t i = 0; i < named.size(); ++i) {
    const auto factors = factors_of(network, named[i].first);
    if (factors.frozen) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const ParameterGroup& known) {
      return known.learn_rate == factors.learn_rate && known.l2 == factors.l2;
    });
    if (group == groups.end()) {
      groups.push_back({fmt::format("group_{}", groups.size() + 1), factors.learn_rate, factors.l2});
      group = groups.end() - 1;
    }
    group->leaves.push_back(i);
  }
  return groups;
}

ParameterGroup all_of(const std::vector<ParameterGroup>& groups) {
  ParameterGroup all;
  for (const auto& group : groups) all.leaves.insert(all.leaves.end(), group.leaves.begin(), group.leaves.end());
  std::sort(all.leaves.begin(), all.leaves.end());
  return all;
}

}  // namespace retrace

#include "retrace/train/parameter_groups.h"

#include <fmt/format.h>

#include <algorithm>

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

Tree ParameterGroup::of(const Tree& parameters) const {
  const auto named = retrace::leaves(parameters);
  Tree own;
  for (const size_t leaf : leaves) {
    const auto& [path, tensor] = named[leaf];
    Tree* at = &own;
    for (std::string_view rest = path; !rest.empty();) {
      const size_t end = rest.find('/');
      at = &(*at)[rest.substr(0, end)];
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
    *at = tensor;
  }
  return own;
}

Tree ParameterGroup::put(const Tree& parameters, const Tree& own) const {
  auto all = leaf_tensors(parameters);
  const auto made = leaf_tensors(own);
  for (size_t i = 0; i < leaves.size(); ++i) all[leaves[i]] = made[i];
  return with_leaves(parameters, all);
}

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

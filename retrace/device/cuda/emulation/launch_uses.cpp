#include "retrace/device/cuda/emulation/launch_uses.h"

#include <bit>
#include <map>
#include <set>

namespace retrace::cuda::emulation {
namespace {

// The first word of a page that both use, one of them writing; -1: none.
int common_word(const LaunchUses::Page& a, const LaunchUses::Page& b) {
  for (size_t i = 0; i < a.read.size(); ++i)
    if (const uint64_t both = (a.written[i] & (b.read[i] | b.written[i])) | (a.read[i] & b.written[i]); both != 0)
      return static_cast<int>(i) * 64 + std::countr_zero(both);
  return -1;
}

}  // namespace

GraphPaths::GraphPaths(const Edges& edges) {
  for (size_t launch = 0; launch < edges.size(); ++launch) {
    auto& before = before_.emplace_back(launch, false);
    for (const size_t earlier : edges[launch]) {
      before[earlier] = true;
      for (size_t i = 0; i < earlier; ++i)
        if (before_[earlier][i]) before[i] = true;
    }
  }
}

std::vector<size_t> GraphPaths::order(const Edges& edges, std::span<const unsigned> wanted) const {
  std::vector<size_t> place(wanted.size()), missing, order;
  for (size_t i = 0; i < wanted.size(); ++i) place[wanted[i]] = i;
  std::vector<std::vector<size_t>> behind(edges.size());
  std::set<size_t> ready;  // places
  for (size_t launch = 0; launch < edges.size(); ++launch) {
    missing.push_back(edges[launch].size());
    for (const size_t earlier : edges[launch]) behind[earlier].push_back(launch);
    if (missing[launch] == 0) ready.insert(place[launch]);
  }
  while (!ready.empty()) {
    const size_t launch = wanted[*ready.begin()];
    ready.erase(ready.begin());
    order.push_back(launch);
    for (const size_t later : behind[launch])
      if (--missing[later] == 0) ready.insert(place[later]);
  }
  return order;
}

Edges without_edge(Edges edges, int64_t number) {
  for (auto& before : edges) {
    const auto count = static_cast<int64_t>(before.size());
    if (number >= 0 && number < count) before.erase(before.begin() + number);
    number -= count;
    if (number < 0) break;
  }
  return edges;
}

std::optional<UsesConflict> find_conflict(std::span<const LaunchUses> uses, const GraphPaths& paths) {
  std::map<size_t, std::vector<size_t>> users;  // of each page
  for (size_t launch = 0; launch < uses.size(); ++launch)
    for (const auto& [number, page] : uses[launch].pages()) users[number].push_back(launch);
  for (const auto& [number, launches] : users)
    for (size_t j = 1; j < launches.size(); ++j)
      for (size_t i = 0; i < j; ++i) {
        if (paths.ordered(launches[i], launches[j])) continue;
        const int word = common_word(uses[launches[i]].pages().at(number), uses[launches[j]].pages().at(number));
        if (word >= 0)
          return UsesConflict{launches[i], launches[j], number * LaunchUses::kPage + 4 * static_cast<size_t>(word)};
      }
  return {};
}

}  // namespace retrace::cuda::emulation

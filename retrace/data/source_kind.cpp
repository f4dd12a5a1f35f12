#include "retrace/data/source_kind.h"

namespace retrace {

std::vector<SourceTarget> targets_of(const SourceKind& source, const OptionValues& options) {
  std::vector<SourceTarget> targets;
  for (const auto& target : source.targets)
    if (!source.has_target || source.has_target(target, options)) targets.push_back(target);
  return targets;
}

std::optional<size_t> target_of(const std::vector<SourceTarget>& targets, const nn::NetworkOutput& output) {
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i].name == output.name && targets[i].kind == output.kind) return i;
  return {};
}

}  // namespace retrace

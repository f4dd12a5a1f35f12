#include "retrace/experiment/strategy_kind.h"

namespace retrace {

StrategyKind random_strategy() {
  return {.name = "random",
          .help = "points that are drawn, each for itself",
          .suggest = [](const StrategyView& view, const OptionValues&) -> std::optional<SearchSpace::Point> {
            RandomStream stream(view.seed, "experiment random", static_cast<uint64_t>(view.number), 0, 0);
            return random_point(view.space, stream);
          }};
}

}  // namespace retrace

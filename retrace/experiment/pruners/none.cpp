#include "retrace/experiment/pruner_kind.h"

namespace retrace {

PrunerKind none_pruner() {
  return {.name = "none",
          .help = "every trial goes on to its end",
          .uses_results = false,
          .prune = [](const PruningView&, const OptionValues&) { return false; }};
}

}  // namespace retrace

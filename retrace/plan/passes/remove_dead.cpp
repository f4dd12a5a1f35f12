#include <utility>

#include "retrace/plan/pass.h"

namespace retrace {

Pass remove_dead_pass() {
  return {.name = "remove_dead",
          .purpose = "what no output needs is dropped",
          .run = [](Trace trace, const PlanOptions&) { return without_dead(std::move(trace)); },
          .cuda = true};
}

}  // namespace retrace

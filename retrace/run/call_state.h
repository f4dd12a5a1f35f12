#pragma once
// The state of a call of an accelerated function.

#include <memory>
#include <optional>
#include <span>
#include <typeinfo>
#include <vector>

#include "retrace/run/recorded_function.h"
#include "retrace/trace/call_scope.h"

namespace retrace::detail {

// Kept between calls, so that a hit allocates little.
struct CallState {
  std::optional<OpenCall> open = {};
  const std::type_info* arguments = nullptr;
  std::span<const bool> given = {};  // of each argument: whether it was moved into the call
  bool donates = false;              // those that were moved may be
  TraceKey key = {};
  std::vector<Leaf> leaves = {};
  std::vector<Tensor> results = {};
  int64_t batch = 0;  // size of the axis B where the key leaves it out
  std::shared_ptr<RecordedFunction> function = {};
  bool hit = false;
};

}  // namespace retrace::detail

#pragma once
// The folders of retrace/ops that define ops.

#include <span>
#include <string_view>

#include "retrace/trace/op.h"

namespace retrace {

// A folder, and the function that adds its ops to a table.
struct OpFolder {
  std::string_view name;
  void (*define)(OpTable& table);
};

// Generated from the listing of retrace/ops: every folder NAME that holds NAME.cpp, sorted by name.
std::span<const OpFolder> op_folders();

}  // namespace retrace

#pragma once
// The kernel calls of a plan in words, for any device.

#include <span>
#include <string>

#include "retrace/plan/device_plan.h"

namespace retrace {

// Each call: its nodes with the user's places and what was fused into them, which calls make what it reads and why it
// does not make that itself, and who reads what it makes.
std::string explain_calls(const Trace& trace, std::span<const PlannedCall> calls);

// One line: the kernel of that number, the first nodes of its call, and the type and shape of the first result.
std::string name_call(const Trace& trace, const PlannedCall& call, size_t number);

}  // namespace retrace

#pragma once
// The errors of every group, in one wording.

#include <span>
#include <string>

#include "retrace/base/error.h"

namespace retrace {

// 610: a member went no further, for this reason.
Error member_failed(int member, const std::string& why);
// 611: these members did not come to the collective `what` within the time-out.
Error members_missing(const char* what, double seconds, std::span<const int> missing);
// 612: this member is in collective `mine`, that member in `theirs`.
Error different_collectives(const char* mine, const char* theirs, int member);

}  // namespace retrace

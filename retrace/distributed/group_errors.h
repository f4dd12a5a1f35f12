#pragma once
// The errors of every group, in one wording.

#include <span>
#include <string>

#include "retrace/base/error.h"

namespace retrace {

constexpr size_t kLongestReason = 3000;  // of why a member failed: MPI hands over so short a message at once

// What this member tells the others. Where memory is gone it says that.
std::string reason_of(const std::exception& error) noexcept;
std::string reason_of(const char* text) noexcept;
// 610: a member went no further, for this reason.
Error member_failed(int member, const std::string& why);
// 611: these members did not come to the collective `what` within the time-out.
Error members_missing(const char* what, double seconds, std::span<const int> missing);
// 612: this member is in collective `mine`, that member in `theirs`.
Error different_collectives(const char* mine, const char* theirs, int member);

}  // namespace retrace

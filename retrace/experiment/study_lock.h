#pragma once
// Who writes a study.

#include <filesystem>

#include "retrace/base/file.h"

namespace retrace {

// Keeps other writers out as long as the descriptor is open. Errors: usage where there is one; output.
FileDescriptor lock_study(const std::filesystem::path& folder);

}  // namespace retrace

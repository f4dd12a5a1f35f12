#pragma once
// Who writes a run folder.

#include <filesystem>

#include "retrace/base/file.h"

namespace retrace {

// The file of the lock.
constexpr const char* kRunLock = ".lock";

// What a run folder is wanted for: errors say what helps.
enum class RunUse {
  begin,   // a new run
  resume,  // the run in it goes on
};

// Locks the folder for this process as long as the descriptor is open, and writes host, process and start into the file
// of the lock. Where the file system has no locks, warns and goes on. Error(usage) names the process that has it;
// Error(output).
FileDescriptor lock_run(const std::filesystem::path& folder, RunUse use);
// Throws Error(usage) if another process has the folder.
void check_not_locked(const std::filesystem::path& folder, RunUse use);

}  // namespace retrace

#pragma once
// The command. Each subcommand is a file of retrace/cli/commands.

namespace retrace::cli {

// Parses the arguments and runs; returns the exit code. Error texts go to standard error.
int run(int argc, const char* const* argv);

}  // namespace retrace::cli

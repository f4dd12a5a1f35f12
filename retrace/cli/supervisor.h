#pragma once
// A training in a process of its own, which is started again when it is lost.

#include <filesystem>
#include <optional>
#include <string>

namespace retrace::cli {

struct Supervision {
  int restarts = 0;
  std::filesystem::path job;  // as it stands among the arguments; empty: --resume is there
  std::string run;            // the run folder: that of --out or of --resume
  std::string profile;        // the cluster profile that starts the workers; empty: none
  double timeout = 60;        // seconds that workers wait for one another
  bool quiet = false;
};

// Runs this command again without --restarts, and returns its exit code. If a worker was lost (exit code 77), or a
// process of it was killed or broke off (SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGFPE), it goes on with the run from its
// newest checkpoint, or, where there is none, begins anew; so often at most. A launcher that waits for a host that is
// gone is ended, and the run goes on with the hosts that are left. Signals that end a training in good order are passed
// on, and end it. Nothing: what was lost had brought the run to its end, but not told the result.
std::optional<int> supervise(const Supervision& what);

}  // namespace retrace::cli

#pragma once
// Signals that end a training in good order.

namespace retrace::cli {

// While it lives, SIGINT, SIGTERM, SIGHUP (unless it is ignored, as under nohup), SIGUSR1 and SIGXCPU only set a flag;
// the first one says on standard error what it waits for. A later SIGINT or SIGTERM ends the process at once; one that
// comes within a quarter of a second belongs to the first (timeout, mpirun and shells send twice). SIGQUIT and SIGUSR2
// are left as they are: the one is the user's way to end everything at once, the other has no meaning yet.
class StopSignals {
 public:
  // `speaks`: whether this process says so; `rewrites`: whether a line of progress may stand on the terminal.
  StopSignals(bool speaks, bool rewrites);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The first signal that came; 0: none yet.
  static int received();
  // "SIGINT", ...
  static const char* name(int signal);
};

}  // namespace retrace::cli

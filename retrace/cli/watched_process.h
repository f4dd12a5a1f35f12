#pragma once
// A process that another one watches over: it gets the signals, and is ended where it cannot end by itself.

#include <array>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "retrace/cli/rank_reports.h"

namespace retrace::cli {

// While it lives, signals that end a training in good order go to the process that run_process() runs; one that was
// ignored stays so.
class SignalsToChild {
 public:
  SignalsToChild();
  ~SignalsToChild();
  // The last one of them; 0: none yet.
  static int last();

 private:
  std::array<struct sigaction, 5> before_{};
};

// How a process is watched.
struct Watch {
  bool launched = false;  // it becomes a launcher of ranks, whose reports (rank_reports.h) come on its standard error
  double begin = 70;      // seconds: how long all ranks may take to say where they are
};

struct ProcessEnd {
  int code = 0;                        // what a shell would say: 128 + N for signal N; 77 where it had to be ended
  bool forced = false;                 // it did not end by itself
  bool begun = false;                  // a rank has said where it is
  bool result = false;                 // a rank has told the result
  RankReports::Ended ended;            // the rank that a signal ended first
  std::set<int> silent;                // ranks that others miss
  std::set<std::string> silent_hosts;  // where those are
};

// Runs a command to its end. A launcher is ended, with all processes under it, when ranks have not come in time; when
// it goes on for 2 seconds after a rank has said that others are lost; for 10 after the result has been told; or for 30
// after a signal that ends it. Throws Error(unavailable) if the system gives no process.
ProcessEnd run_process(const std::vector<std::string>& command, const Watch& watch);

// Whether the command ends with exit code 0 within so many seconds, without its output; each of several at the same
// time.
std::vector<bool> succeed_within(double seconds, const std::vector<std::vector<std::string>>& commands);

// What a command wrote to its standard output, and its exit code: 127 if there is no such program. Its standard error
// is ours. Throws Error(unavailable) if the system gives no process.
struct ProcessOutput {
  int code = 0;
  std::string text;
};
ProcessOutput output_of(const std::vector<std::string>& command);

}  // namespace retrace::cli

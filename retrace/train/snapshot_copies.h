#pragma once
// Copies of snapshots on a second host. All ranks have the same state after a step, so that one on another host than
// worker 0 writes it by itself, into memory that outlives its process; nothing travels for it.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/distributed/worker.h"
#include "retrace/monitor/background.h"
#include "retrace/train/train_job.h"

namespace retrace {

// The worker that keeps copies of the run's snapshots: the first one on another host than worker 0. -1: there is one
// host only, or the run has no folder of a known name. A collective where the workers are ranks.
struct CopyKeeper {
  int worker = -1;
  std::string run;  // the folder of the run, absolute, as worker 0 says it
};
CopyKeeper copy_keeper(const TrainJobControl& control, const Worker& worker);

// The folder of the copies of a run on this host: /dev/shm/retrace-USER/HASH. Empty where it cannot be, or is not this
// user's alone.
std::filesystem::path copies_folder(const std::string& run);
// Their iterations, newest first.
std::vector<int64_t> copies_in(const std::filesystem::path& folder);
std::filesystem::path copy_path(const std::filesystem::path& folder, int64_t iterations);
// Removes those after an iteration, with 0 all of them and the folder. What cannot be removed stays.
void remove_copies(const std::filesystem::path& folder, int64_t iterations);

// Writes copies on a thread of its own, of which the newest three stay: the logs of the run may have come less far than
// the newest. One that cannot be written ends nothing: the first such is warned of.
class SnapshotCopies {
 public:
  explicit SnapshotCopies(std::filesystem::path folder);
  // The state after an iteration, a tree on the CPU, computed. Waits for the copy before it.
  void keep(int64_t iterations, Tree state, const NamedValues& owner);

 private:
  void write();

  const std::filesystem::path folder_;
  int64_t iterations_ = 0;
  Tree state_;  // let go of by the thread that trains, which writes into it
  NamedValues owner_;
  bool warned_ = false;
  Background background_;  // last: it ends first
};

}  // namespace retrace

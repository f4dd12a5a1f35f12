#include "retrace/train/state_to_resume.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/warning.h"
#include "retrace/distributed/group.h"
#include "retrace/train/checkpoint.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/snapshot_copies.h"
#include "retrace/train/step_log.h"

namespace retrace {
namespace {

// Iterations: of the state in the run folder, and to where the logs have come.
struct Reach {
  int64_t state = 0, logs = 0;
};

// What a copy of an iteration in between holds. Empty: there is none, or it is not whole.
std::string read_copy(const std::filesystem::path& folder, Reach reach, const RunState& like, const NamedValues& owner,
                      int64_t& iterations) {
  for (const int64_t copy : copies_in(folder)) {
    if (copy > reach.logs || copy <= reach.state) continue;
    const auto path = copy_path(folder, copy);
    try {
      std::string bytes = read_checkpoint(path);
      iterations = checkpoint_state(bytes, like, owner, path).iterations;
      return bytes;
    } catch (const Error&) {
      // Half written, or of another run that had this folder: there are others.
    }
  }
  return "";
}

}  // namespace

RunState state_to_resume(const TrainingTask& task, const std::filesystem::path& run, const std::string& copies,
                         const RunState& like, const Worker& worker) {
  const NamedValues owner = checkpoint_owner(task);
  std::string bytes = worker.index() == 0 ? newest_checkpoint(run, like, owner) : "";
  if (worker.group().is_local()) return checkpoint_state(worker.broadcast(bytes), like, owner, run);
  Reach reach;
  if (worker.index() == 0) reach = {checkpoint_state(bytes, like, owner, run).iterations, logged_iterations(run)};
  reach = worker.broadcast(reach);
  int64_t iterations = 0;
  const std::string copy = read_copy(copies_folder(copies), reach, like, owner, iterations);
  const auto all = worker.all_gather(iterations);
  const auto best = std::max_element(all.begin(), all.end());
  const int from = *best > 0 ? static_cast<int>(best - all.begin()) : 0;
  if (*best > 0 && worker.index() == 0)
    warn(fmt::format("the run goes on from the snapshot of iteration {}, which the host of worker {} has kept", *best,
                     from));
  bytes = worker.broadcast(*best > 0 ? copy : bytes, from);
  return checkpoint_state(bytes, like, owner, run);
}

}  // namespace retrace

#pragma once
// What a run goes on from.

#include <filesystem>

#include "retrace/distributed/worker.h"
#include "retrace/train/run_state.h"
#include "retrace/train/training_task.h"

namespace retrace {

// The newest state of the run, on every worker: that of its newest checkpoint or snapshot, which worker 0 reads; or, of
// ranks, a newer copy of a snapshot that a host has kept in the folder copies_folder(run) (snapshot_copies.h), up to
// where the logs of the run have come. `like`: the state before the first step. A collective. Errors: those of
// newest_checkpoint().
RunState state_to_resume(const TrainingTask& task, const std::filesystem::path& run, const std::string& copies,
                         const RunState& like, const Worker& worker);

}  // namespace retrace

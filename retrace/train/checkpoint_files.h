#pragma once
// The files of a run that a resumed one goes on from: its checkpoints, and the logs cut back to one of them.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/train/checkpoint.h"

namespace retrace {

// RUN/checkpoints
std::filesystem::path checkpoint_folder(const std::filesystem::path& run);
// RUN/checkpoints/step-N.safetensors
std::filesystem::path checkpoint_path(const std::filesystem::path& run, int64_t iterations);
// RUN/checkpoints/snapshot-N-BOOT.safetensors, BOOT being what this start of the machine is called; empty where that is
// not known.
std::filesystem::path snapshot_path(const std::filesystem::path& run, int64_t iterations);
// What a run can go on from, newest first: its checkpoints, and its snapshot if this machine wrote it since it started.
std::vector<std::filesystem::path> states_of(const std::filesystem::path& run);
// To where the logs of the run have come: a state is written after all that it goes on from, also one of another
// machine.
int64_t logged_iterations(const std::filesystem::path& run);
// Removes all snapshots but that of this iteration. What cannot be removed stays.
void keep_snapshot(const std::filesystem::path& run, int64_t iterations);
// The checkpoints of a run, newest first. None if it has no such folder.
std::vector<std::filesystem::path> checkpoints_of(const std::filesystem::path& run);
// The newest one of that iteration or an earlier one; nothing if there is none.
std::optional<std::filesystem::path> checkpoint_before(const std::filesystem::path& run, int64_t iterations);
// Removes all but the newest `kept`. What cannot be removed stays.
void keep_checkpoints(const std::filesystem::path& run, int64_t kept);
// Removes those of iteration `first` and later ones, and the snapshot unless it is of the one before. What cannot be
// removed stays.
void remove_checkpoints(const std::filesystem::path& run, int64_t first);
// Removes what a process that was killed left half written in the folder and its checkpoints.
void remove_unfinished_files(const std::filesystem::path& run);

// Whether the training of a run has ended by itself; whether all of the run is written since, and its manifest.
bool has_finished(const std::filesystem::path& run);
bool is_at_end(const std::filesystem::path& run);
// Throws unless the run can be resumed: Error(missing) for what is no run folder, and for one without a checkpoint;
// Error(usage) if another process uses it, and for a run that is at its end. One that was broken off while its last
// files were written goes on, if it has a checkpoint.
void check_resumable(const std::filesystem::path& run);
// The bytes of the newest checkpoint, or of the snapshot, that is whole and belongs to this job, data and network
// (checkpoint.h); warns of each newer one that is not. Error of the newest one if there is none.
std::string newest_checkpoint(const std::filesystem::path& run, const RunState& like, const NamedValues& owner);

// Removes from metrics.jsonl everything after that iteration, and the end of an earlier process. Errors: output.
void cut_metrics(const std::filesystem::path& path, int64_t iterations);
// Removes from fingerprints.txt everything after so many epochs. Errors: output; bad_data where epochs are absent.
void cut_fingerprints(const std::filesystem::path& path, int64_t epochs);
// The time of the last event of metrics.jsonl, 0 if it has none: the times of a run that goes on count from there.
double last_seconds(const std::filesystem::path& path);

}  // namespace retrace

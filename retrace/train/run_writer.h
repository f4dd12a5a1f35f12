#pragma once
// What a training run leaves behind, written while it goes on.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "retrace/distributed/worker.h"
#include "retrace/monitor/background.h"
#include "retrace/tensor/tree.h"
#include "retrace/train/data_files.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/step_log.h"

namespace retrace {

// Writes a run folder on a thread of its own: no step waits for the disk, but for a snapshot (checkpoint()). Of weights
// only the newest are kept waiting, of events 4,096 lines (then the newest are left out, and a line
// {"event":"dropped","lines":N} says so), of fingerprints 1,024 epochs and of the step log 65,536 steps (then epoch()
// and step() wait for the disk: they prove the result). An error of writing is thrown by the next check() or flush();
// what else can be written is written nevertheless. Of checkpoints only the newest is kept waiting, and of snapshots;
// one that cannot be written ends nothing: it is warned of, and the ones before stay. Without a thread everything is
// written at once.
class RunWriter {
 public:
  // `iterations`: of the checkpoint that the run goes on from, or 0.
  explicit RunWriter(RunFolder folder, int64_t iterations = 0);
  // Waits until all is written.
  ~RunWriter();

  const std::filesystem::path& path() const { return folder_.path(); }
  // The files of the run's data, whose sizes and hashes are written behind the first checkpoint, or with the manifest.
  void data(std::vector<DataFile> files);
  // A line of metrics.jsonl.
  void event(std::string line);
  // A step of the step log. Written with whatever is written next, after 64 steps, or with the first step after a
  // second, at the latest.
  void step(const StepRecord& step);
  // The end of an epoch: its fingerprints, and the weights, which replace those of the epoch before.
  void epoch(EpochFingerprints fingerprints, SafeTensors weights);
  // The weights alone, after so many epochs.
  void weights(int epoch, SafeTensors weights);
  // The state after an iteration, of whose run the newest `kept` are kept: a tree on the CPU, computed, that is read on
  // the thread of the writer.
  struct Checkpoint {
    int64_t iterations = 0, kept = 1;
    bool snapshot = false;  // see TrainingOptions::snapshot_iterations
    Tree state;
    NamedValues owner;  // checkpoint_owner()
  };
  // A snapshot waits for the one before it, so that no more than one step is lost with it.
  void checkpoint(Checkpoint checkpoint);
  // Returns when no snapshot waits to be written.
  void settle();
  // Of the newest checkpoint that was written; 0: none. After flush() it is that of the last call, or that failed.
  int64_t checkpointed() const { return checkpointed_; }
  // Throws the first error of what was written so far: Error(output).
  void check();
  // Returns when all of it is on the disk. Errors as check().
  void flush();
  // The manifest, when all is on the disk. Errors as check(); of reading.
  void seal(const NamedValues& identity);
  // After an error: waits until all is written that can be written, and removes the run if it holds neither weights nor
  // a checkpoint or snapshot. Throws nothing.
  void give_up() noexcept;
  // Removes the run. Throws nothing.
  void discard() noexcept;

 private:
  struct Waiting {
    std::vector<std::string> lines;
    std::string steps;  // lines
    int64_t step_count = 0;
    std::vector<EpochFingerprints> epochs;
    std::optional<SafeTensors> weights;
    int weights_epoch = 0;
    int64_t dropped = 0;  // lines
    std::optional<Checkpoint> checkpoint, snapshot;
  };
  void ask();
  void finish_waiting();
  void write_waiting();
  void write_weights(const SafeTensors& weights, int epoch);
  void write_events(const Waiting& waiting);
  void write_checkpoint(const Checkpoint& checkpoint);
  void write_snapshot(const Checkpoint& snapshot);
  void let_go(Checkpoint checkpoint);
  void write_data();
  template <class F>
  void attempt(const F& write);

  RunFolder folder_;
  mutable std::mutex mutex_;  // of waiting_, error_, written_
  Waiting waiting_;
  std::vector<Checkpoint> written_;  // their tensors are let go of by the thread that trains, which writes into them
  std::atomic<bool> has_written_{false};
  std::atomic<int64_t> checkpointed_{0};
  std::exception_ptr error_;
  std::atomic<bool> failed_{false}, snapshot_waits_{false};
  std::chrono::steady_clock::time_point asked_for_steps_{};  // last
  std::vector<DataFile> data_;                               // none: they are written
  int written_epoch_ = 0;                                    // of the weights on the disk; 0: none
  Background background_;                                    // last: it ends first
};

}  // namespace retrace

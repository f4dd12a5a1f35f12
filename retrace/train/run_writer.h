#pragma once
// What a training run leaves behind, written while it goes on.

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "retrace/monitor/background.h"
#include "retrace/train/run_folder.h"

namespace retrace {

// Writes a run folder on a thread of its own: no step waits for the disk. Of weights only the newest are kept waiting,
// of events 4,096 lines (then the newest are left out, and a line {"event":"dropped","lines":N} says so), of
// fingerprints 1,024 epochs (then epoch() waits for the disk: they prove the result). An error of writing is thrown by
// the next check() or flush(); what else can be written is written nevertheless. Without a thread everything is written
// at once.
class RunWriter {
 public:
  explicit RunWriter(RunFolder folder);
  // Waits until all is written.
  ~RunWriter();

  const std::filesystem::path& path() const { return folder_.path(); }
  // A line of metrics.jsonl.
  void event(std::string line);
  // The end of an epoch: its fingerprints, and the weights, which replace those of the epoch before.
  void epoch(EpochFingerprints fingerprints, SafeTensors weights);
  // Throws the first error of what was written so far: Error(output).
  void check() const;
  // Returns when all of it is on the disk. Errors as check().
  void flush();
  // After an error: waits until all is written that can be written, and removes the run if it holds no weights. Throws
  // nothing.
  void give_up() noexcept;

 private:
  struct Waiting {
    std::vector<std::string> lines;
    std::vector<EpochFingerprints> epochs;
    std::optional<SafeTensors> weights;
    int weights_epoch = 0;
    int64_t dropped = 0;  // lines
  };
  void ask();
  void write_waiting();
  void write_weights(const SafeTensors& weights, int epoch);
  void write_events(const Waiting& waiting);
  template <class F>
  void attempt(const F& write);

  RunFolder folder_;
  mutable std::mutex mutex_;  // of waiting_, error_
  Waiting waiting_;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  int written_epoch_ = 0;  // of the weights on the disk; 0: none
  Background background_;  // last: it ends first
};

}  // namespace retrace

#pragma once
// When a training writes a checkpoint.

#include "retrace/train/training_options.h"

namespace retrace {

// What is due after a step.
enum class Due { nothing, snapshot, checkpoint };

// Asked after every step, by the one worker that writes: a checkpoint changes no bit of the run, so that the others
// need not know of it.
class CheckpointClock {
 public:
  explicit CheckpointClock(const TrainingOptions& options) : options_(options) {}

  // After so many iterations, the last of which ended an epoch, the `epochs`-th, or did not (0); `seconds` is the time
  // on any clock that began before the first step.
  Due due(int64_t iterations, int64_t epochs, double seconds) {
    const auto each = [&](int64_t every, int64_t count) { return every > 0 && count > 0 && count % every == 0; };
    const bool by_time = options_.checkpoint_seconds > 0 && seconds - last_ >= options_.checkpoint_seconds;
    if (by_time || each(options_.checkpoint_iterations, iterations) || each(options_.checkpoint_epochs, epochs)) {
      last_ = seconds;
      return Due::checkpoint;
    }
    return each(options_.snapshot_iterations, iterations) ? Due::snapshot : Due::nothing;
  }

 private:
  TrainingOptions options_;
  double last_ = 0;
};

}  // namespace retrace

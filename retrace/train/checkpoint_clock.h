#pragma once
// When a training writes a checkpoint.

#include "retrace/train/training_options.h"

namespace retrace {

// Asked after every step, by the one worker that writes: a checkpoint changes no bit of the run, so that the others
// need not know of it.
class CheckpointClock {
 public:
  explicit CheckpointClock(const TrainingOptions& options) : options_(options) {}

  // After so many iterations, the last of which ended an epoch, the `epochs`-th, or did not (0); `seconds` is the time
  // on any clock that began before the first step.
  bool due(int64_t iterations, int64_t epochs, double seconds) {
    const bool by_iterations = options_.checkpoint_iterations > 0 && iterations % options_.checkpoint_iterations == 0;
    const bool by_epochs = options_.checkpoint_epochs > 0 && epochs > 0 && epochs % options_.checkpoint_epochs == 0;
    const bool by_time = options_.checkpoint_seconds > 0 && seconds - last_ >= options_.checkpoint_seconds;
    if (!by_iterations && !by_epochs && !by_time) return false;
    last_ = seconds;
    return true;
  }

 private:
  TrainingOptions options_;
  double last_ = 0;
};

}  // namespace retrace

#pragma once
// Why the loss of a training step is not finite: its data, or the weights.

#include "retrace/data/mini_batch_queue.h"
#include "retrace/train/stop_reason.h"
#include "retrace/train/training_task.h"

namespace retrace {

// Looks at the samples from place `first` up to `end` of the queue's order, as f32, in the queue's pass: names the
// first number that is not finite, its variable, its sample by its number in the data set, and its place there. Padding
// behind short samples does not count. Where all are finite, the cause is the step with its learning rate. `end` <=
// `first`: looks at all samples. Errors: those of the data.
LossCause cause_of_loss(const TrainingTask& task, const MiniBatchQueue& queue, int64_t first, int64_t end, float rate);

}  // namespace retrace

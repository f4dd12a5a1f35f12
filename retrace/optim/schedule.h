#pragma once
// How the learn rate of a training changes from step to step.

#include <functional>

#include "retrace/base/option_values.h"
#include "retrace/base/place.h"

namespace retrace {

// A schedule by its name (of retrace/optim/schedules), with values of its options. Several with commas between them,
// "warm-up, cosine", follow each other as composed() says: each but the last for as many iterations as
// schedule_iterations says, {500}, or, without it, as its own option says: warm_up_iterations, cycle_iterations.
// Options of one name are those of all that have it.
struct Schedule {
  std::string name = "none";
  OptionValues options = {};
};

// Where a training stands.
struct ScheduleStep {
  int64_t iteration = 0;   // of the whole training, from 0
  int64_t iterations = 1;  // of the whole training
  int64_t epoch = 1;       // from 1
};

// The rate of a step, in binary64: rounded once, where it becomes a tensor.
using LearnRate = std::function<double(const ScheduleStep& at)>;

// The schedule that begins with the rate `initial`. Throws Error(usage) for an unknown name, with the nearest one; for
// a rate that is negative or not finite; as completed().
LearnRate learn_rate(double initial, const Schedule& schedule = {}, Place place = Place::here());

// `first` for so many iterations, then `then`, which sees the rest as a training of its own: its iterations count from
// 0; epochs are those of the whole. Throws Error(usage) for a negative number.
LearnRate composed(LearnRate first, int64_t iterations, LearnRate then, Place place = Place::here());

}  // namespace retrace

#pragma once
// Samples of one piece of work that count: neighbours on the machine did not disturb them.

#include <vector>

#include "retrace/base/function_ref.h"

namespace retrace::bench {

struct Sample {
  double seconds;      // of one call
  double peak, least;  // operations a second: the mean of the probes around it, and the lower one
};

struct Samples {
  std::vector<Sample> kept;
  int dropped = 0;
};

// Calls `work` until `wanted` samples are kept, or ten times as many were taken. A sample is one call, or as many as
// last 50 microseconds. It is kept if the probes before and after it both reach 0.8 of the best probe that this process
// has seen on as many threads.
Samples take_samples(int wanted, FunctionRef<void()> work);

// Drops the samples, taken on thread_count() threads, that later probes have shown to be disturbed.
void drop_disturbed(Samples& samples);

// The p-th part of the sorted values: 0.5 is the median. There must be one.
double quantile(std::vector<double> values, double p);

}  // namespace retrace::bench

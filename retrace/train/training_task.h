#pragma once
// What a training is made of, wherever it is said: in a job file, or in a call of train_network().

#include "retrace/distributed/worker.h"
#include "retrace/optim/schedule.h"
#include "retrace/train/class_names.h"
#include "retrace/train/job_data.h"
#include "retrace/train/metric_kind.h"
#include "retrace/train/training_options.h"

namespace retrace {

// The same for all workers; tensors in it have values.
struct TrainingTask {
  std::string name;
  nn::Network network;  // with starting values and loss
  JobData data;
  bool tested = true;     // false: there is no data.test
  bool validated = true;  // false: data.test is looked at when all is over, and not before
  TrainingOptions training;
  ValidationOptions validation;
  uint64_t seed = 0;
  std::string device = "auto";
  LearnRate learn_rate;     // of each step
  NamedValues identity;     // what decides the bits of the result beside the data, as text
  ClassNames classes = {};  // the names of the classes
  std::vector<OwnMetricKind> own_metrics = {};
  // The file of a run folder that says what was trained: its name and its text.
  std::string file = "job.toml", text;
  std::string network_text = {};  // of network.toml; empty: it is in that file
};

// Of a job: makes its network and loads its data. Errors: as load_job_data().
TrainingTask task_of(const Job& job);

// What workers of one training must have in common: the identity, the data (what they hold, not where they lie) and the
// versions, as text. Costs milliseconds.
NamedValues digest(const TrainingTask& task);

// What a checkpoint belongs to: the same without the version of retrace, since every version that has the contract goes
// on with the same bits.
NamedValues checkpoint_owner(const TrainingTask& task);

}  // namespace retrace

#pragma once
// The data of a job as stores, and its network.

#include <optional>

#include "retrace/data/datastore.h"
#include "retrace/data/source_kind.h"
#include "retrace/nn/networks.h"
#include "retrace/train/job.h"

namespace retrace {

struct JobData {
  Datastore train, test;
  std::vector<std::string> formats;  // of a queue over them: of the input, and of each target up to the last needed
  std::vector<size_t> targets;       // the variable that each output of the network is trained towards
  int64_t train_classes = 0, test_classes = 0;  // labels are known to be below it; 0: they have to be read
  TrainingFacts facts = {};
  std::optional<double> padding = {};  // behind short samples, where the network masks it: see train/padding_cut.h
};

// Both sets, each read once, which fit the network. Errors: of reading; as check_job_data().
JobData load_job_data(const Job& job, const nn::Network& network);

// The test set alone, which stands in place of the training set, too. `training`: what the run knows of that set, which
// is read only where it does not do. Errors: the same.
JobData load_test_data(const Job& job, const nn::Network& network, const TrainingFacts& training = {});

// The same without the observations.
struct JobDescription {
  SourceDescription train, test;
  std::vector<std::string> formats;
  std::vector<size_t> targets;
};
// What the source says before the data are read. Errors: of headers; as check_job_description().
JobDescription describe_job_data(const Job& job, const nn::Network& network);
nn::Network make_job_network(const Job& job);
// What the job says about its data, to its source. The job is resolved.
SourceRequest source_request(const Job& job, int64_t samples);
// What the request's share for tests cuts the set into: by its classes, where each sample has one.
TestParts test_parts_of(const SourceKind& source, const SourceRequest& request, const SourceSet& whole);
const SourceKind& source_of(const Job& job);
// The shape of a sample of any source under the job's options of data; where that is in files alone, sizes are 0.
Shape source_sample(const Job& job, const SourceKind& source);
// The same after the transforms of sets of this split. Errors: those of the transforms.
Shape sample_of(const Job& job, const SourceKind& source, Split split = Split::train);
// The same, or source_sample() where a transform does not take it, which find_mistakes() tells.
Shape likely_sample(const Job& job, const SourceKind& source);
// Whether the transforms bring images of all heights and widths to one size, in every set.
bool takes_any_size(const Job& job);
// The store with the transforms that the job has for sets of this split. The job is resolved.
Datastore transformed(const Job& job, Split split, Datastore store);

// The targets of a mini-batch, by the names of the network's outputs.
Tree targets_of(const nn::Network& network, const JobData& data, const std::vector<Tensor>& batch);

}  // namespace retrace

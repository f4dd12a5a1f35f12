#include "retrace/train/job_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/base/fp_environment.h"
#include "retrace/train/data_check.h"

namespace retrace {
namespace {

Datastore first_samples(const Datastore& store, int64_t count, const char* key) {
  if (count > store.size())
    throw Error(ErrorKind::usage, 425, fmt::format("{} is larger than the set", key))
        .got(fmt::format("{}", count))
        .expected(fmt::format("at most {}", store.size()))
        .help("0 takes all samples that there are");
  if (count <= 0 || count == store.size()) return store;
  std::vector<int64_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return store.subset(indices);
}

Datastore load(const Job& job, Split split) {
  const int samples = split == Split::train ? job.data.train_samples : job.data.test_samples;
  const char* key = split == Split::train ? "data.train_samples" : "data.test_samples";
  return first_samples(source_of(job).load(split, source_request(job, samples)), samples, key);
}

// The variable of the source that the output is trained towards: the input is variable 0.
size_t variable_of(const SourceKind& source, const nn::NetworkOutput& output) {
  const SourceTarget* target = target_of(source, output);
  if (!target)
    throw Error(ErrorKind::usage, 420,
                fmt::format("the data \"{}\" have no targets for the output \"{}\"", source.name, output.name));
  return static_cast<size_t>(target - source.targets.data()) + 1;
}

}  // namespace

const SourceKind& source_of(const Job& job) {
  return kind_of(all_sources(), job.data.source.value_or(""), "data source", {});
}

SourceRequest source_request(const Job& job, int64_t samples) {
  return {.path = job.data.path, .samples = samples, .seed = job.seed, .options = job.data.options};
}

JobData load_job_data(const Job& given, const nn::Network& network) {
  const FloatingPointScope floating_point;
  const Job job = resolved(given);
  const SourceKind& source = source_of(job);
  JobData data{load(job, Split::train), load(job, Split::test), {}, {}};
  for (const auto& output : network.outputs) data.targets.push_back(variable_of(source, output));
  data.formats.emplace_back(network.sample.rank() == 3 ? "BSSC" : "BC");
  const size_t last = *std::max_element(data.targets.begin(), data.targets.end());
  for (size_t i = 0; i < last; ++i) data.formats.emplace_back(nn::target_labels(source.targets[i].kind));
  check_job_data(job, network, data);
  return data;
}

nn::Network make_job_network(const Job& job) {
  return nn::make_network(random_key(job.seed).split("parameters"), job.network);
}

Tree targets_of(const nn::Network& network, const JobData& data, const std::vector<Tensor>& batch) {
  Tree targets;
  for (size_t i = 0; i < network.outputs.size(); ++i) targets[network.outputs[i].name] = batch[data.targets[i]];
  return targets;
}

}  // namespace retrace

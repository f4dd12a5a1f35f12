#include "retrace/train/job_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/base/fp_environment.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/s3_copy.h"
#include "retrace/data/transform_kind.h"
#include "retrace/train/data_check.h"
#include "retrace/train/padding_cut.h"
#include "retrace/train/training_step.h"

namespace retrace {
namespace {

// Of a split, by the job; 0: all.
int64_t wanted_samples(const Job& job, Split split) {
  return split == Split::train ? job.data.train_samples : job.data.test_samples;
}

// Of a set of that size.
int64_t taken_samples(const Job& job, Split split, int64_t size) {
  const int64_t count = wanted_samples(job, split);
  if (count > size)
    throw Error(ErrorKind::usage, 425,
                fmt::format("data.{}_samples is larger than the set", split == Split::train ? "train" : "test"))
        .got(fmt::format("{}", count))
        .expected(fmt::format("at most {}", size))
        .help("0 takes all samples that there are");
  return count > 0 ? count : size;
}

SourceRequest request_of(const Job& job, Split split, const TrainingFacts& training) {
  SourceRequest request = source_request(job, wanted_samples(job, split));
  request.training = training;
  return request;
}

// All that data.test_share cuts.
SourceSet load_whole(const Job& job, const TrainingFacts& training) {
  SourceRequest request = request_of(job, Split::train, training);
  request.samples = 0;
  return source_of(job).load(Split::train, request);
}

TestParts parts_of(const Job& job, const SourceSet& whole) {
  return test_parts_of(source_of(job), request_of(job, Split::train, {}), whole);
}

// What data.test_share leaves of it to a split.
SourceSet part_of(const TestParts& parts, Split split, SourceSet whole) {
  whole.store = whole.store.subset(split == Split::test ? parts.test : parts.train);
  return whole;
}

// As many samples as the job takes, with its transforms.
SourceSet prepared(const Job& job, Split split, SourceSet set) {
  const int64_t count = taken_samples(job, split, set.store.size());
  if (count < set.store.size()) {
    std::vector<int64_t> indices(static_cast<size_t>(count));
    std::iota(indices.begin(), indices.end(), 0);
    set.store = set.store.subset(indices);
  }
  set.store = transformed(job, split, set.store);
  return set;
}

SourceSet load(const Job& job, Split split, const TrainingFacts& training) {
  if (job.data.test_share <= 0)
    return prepared(job, split, source_of(job).load(split, request_of(job, split, training)));
  const SourceSet whole = load_whole(job, training);
  return prepared(job, split, part_of(parts_of(job, whole), split, whole));
}

// The test set, of a job that does not train.
SourceSet load_alone(const Job& job, const TrainingFacts& training) {
  if (job.data.test_share > 0) return load(job, Split::test, training);
  SourceRequest request = request_of(job, Split::test, training);
  request.only_test = true;
  return prepared(job, Split::test, source_of(job).load(Split::test, request));
}

// What `read` makes of the test set. Where the training set is there and it is not, the remedy is named.
template <class Read>
auto of_test_set(const Job& job, const Read& read) {
  constexpr int kMissingPath = 501;
  try {
    return read();
  } catch (Error& error) {
    const bool parts_itself = job.data.options.find("test_part");
    if (error.code() != kMissingPath || !source_of(job).reads_folder || parts_itself) throw;
    throw error.help("without a test set data.test_share = 0.2 puts a fifth of the training set aside as one");
  }
}

// Both sets; files that are cut are read once.
std::pair<SourceSet, SourceSet> load_both(const Job& job) {
  if (job.data.test_share > 0) {
    const SourceSet whole = load_whole(job, {});
    const TestParts parts = parts_of(job, whole);
    return {prepared(job, Split::train, part_of(parts, Split::train, whole)),
            prepared(job, Split::test, part_of(parts, Split::test, whole))};
  }
  const SourceSet train = load(job, Split::train, {});
  return {train, of_test_set(job, [&] { return load(job, Split::test, train.facts); })};
}

// What the job makes of what the source says.
SourceDescription described(const Job& job, Split split, SourceDescription made) {
  made.samples = taken_samples(job, split, made.samples);
  for (auto& variable : made.variables)
    if (variable.labels.text() == "SSC") {
      const bool classes = variable.type == DType::i32;  // of each pixel, whatever becomes of the channels
      variable.shape = transformed_shape(job.data.transforms, job.data.options, variable.shape, split);
      if (classes) variable.shape = {variable.shape[0], variable.shape[1], 1};
    }
  return made;
}

SourceDescription describe(const Job& job, Split split, const TrainingFacts& training) {
  return described(job, split, source_of(job).description(split, request_of(job, split, training)));
}

// Both sets; of those that data.test_share cuts the classes are read, too.
std::pair<SourceDescription, SourceDescription> describe_both(const Job& job) {
  if (job.data.test_share <= 0) {
    const SourceDescription train = describe(job, Split::train, {});
    return {train, of_test_set(job, [&] { return describe(job, Split::test, train.facts); })};
  }
  SourceRequest request = request_of(job, Split::train, {});
  request.samples = 0;
  SourceDescription train = source_of(job).description(Split::train, request), test = train;
  const TestParts parts = parts_of(job, load_whole(job, {}));
  train.samples = std::ssize(parts.train), test.samples = std::ssize(parts.test);
  return {described(job, Split::train, train), described(job, Split::test, test)};
}

// The variable of the source that the output is trained towards: the input is variable 0.
size_t variable_of(const Job& job, const nn::NetworkOutput& output) {
  const SourceKind& source = source_of(job);
  const auto target = target_of(targets_of(source, job.data.options), output);
  if (!target)
    throw Error(ErrorKind::usage, 420,
                fmt::format("the data \"{}\" have no targets for the output \"{}\"", source.name, output.name));
  return *target + 1;
}

// Those variables for each output.
std::vector<size_t> targets_of(const Job& job, const nn::Network& network) {
  std::vector<size_t> targets;
  for (const auto& output : network.outputs) targets.push_back(variable_of(job, output));
  return targets;
}

std::vector<std::string> formats_of(const Job& job, const nn::Network& network) {
  const std::vector<size_t> targets = targets_of(job, network);
  const int rank = network.sample.rank();
  std::vector<std::string> formats{rank == 4 ? "BSSSC" : rank == 3 ? "BSSC" : rank == 2 ? "BTC" : "BC"};
  const size_t last = *std::max_element(targets.begin(), targets.end());
  const auto known = targets_of(source_of(job), job.data.options);
  for (size_t i = 0; i < last; ++i) formats.emplace_back(nn::target_labels(known[i].kind));
  return formats;
}

}  // namespace

const SourceKind& source_of(const Job& job) {
  return kind_of(all_sources(), job.data.source.value_or(""), "data source", {});
}

Shape source_sample(const Job& job, const SourceKind& source) {
  return source.sample(
      {.path = job.data.path, .seed = job.seed, .options = with_standard_values(job.data.options, source.options)});
}

Shape sample_of(const Job& job, const SourceKind& source, Split split) {
  const Shape sample = source_sample(job, source);
  return sample.rank() == 3 ? transformed_shape(job.data.transforms, job.data.options, sample, split) : sample;
}

Shape likely_sample(const Job& job, const SourceKind& source) {
  try {
    return sample_of(job, source);
  } catch (const Error&) {
    return source_sample(job, source);
  }
}

bool takes_any_size(const Job& job) {
  const Shape any{0, 0, 0};
  const auto fixes = [&](Split split) {
    const Shape made = transformed_shape(job.data.transforms, job.data.options, any, split);
    return made[0] > 0 && made[1] > 0;
  };
  return fixes(Split::train) && fixes(Split::test);
}

SourceRequest source_request(const Job& job, int64_t samples) {
  const bool copied = is_s3(job.data.path) && !source_of(job).reads_objects;
  return {.path = copied ? local_copy(job.data.path) : std::filesystem::path(job.data.path),
          .samples = samples,
          .seed = job.seed,
          .options = job.data.options,
          .whole = job.data.test_share > 0,
          .test_share = job.data.test_share,
          .any_size = takes_any_size(job)};
}

TestParts test_parts_of(const SourceKind& source, const SourceRequest& request, const SourceSet& whole) {
  if (whole.parts) return *whole.parts;
  const auto targets = targets_of(source, request.options);
  const auto of_class = std::find_if(targets.begin(), targets.end(), [](const SourceTarget& target) {
    return target.kind == nn::OutputKind::class_scores;
  });
  std::vector<int32_t> classes;
  if (of_class != targets.end())
    if (auto found = labels_of(whole.store, static_cast<int>(of_class - targets.begin()) + 1))
      classes = std::move(*found);
  return draw_test_parts(whole.store.size(), {.share = request.test_share, .classes = classes});
}

Datastore transformed(const Job& job, Split split, Datastore store) {
  for (const auto& name : job.data.transforms) {
    const auto& kind = kind_of(all_transforms(), name, "transform", {});
    if (split == Split::train || kind.every_set)
      store = transform(store, kind.make(job.data.options), {.seed = job.seed});
  }
  return store;
}

JobData load_job_data(const Job& given, const nn::Network& network) {
  const FloatingPointScope floating_point;
  const Job job = resolved(given);
  const auto [train, test] = load_both(job);
  JobData data{train.store,  test.store, formats_of(job, network), targets_of(job, network), train.classes,
               test.classes, train.facts};
  data.padding = masked_padding(job.network, network.outputs);
  check_job_data(job, network, data);
  return data;
}

JobData load_test_data(const Job& given, const nn::Network& network, const TrainingFacts& training) {
  const FloatingPointScope floating_point;
  const Job job = resolved(given);
  const SourceSet test = load_alone(job, training);
  JobData data{test.store,   test.store, formats_of(job, network), targets_of(job, network), test.classes,
               test.classes, training};
  data.padding = masked_padding(job.network, network.outputs);
  check_test_data(job, network, data);
  return data;
}

JobDescription describe_job_data(const Job& given, const nn::Network& network) {
  const Job job = resolved(given);
  const auto [train, test] = describe_both(job);
  JobDescription data{train, test, formats_of(job, network), targets_of(job, network)};
  check_job_description(job, network, data);
  return data;
}

nn::Network make_job_network(const Job& job) {
  const Job whole = resolved(job);
  nn::Network network = nn::make_network(random_key(job.seed).split("parameters"), whole.network);
  check_groups(whole.training, network, {});
  return network;
}

Tree targets_of(const nn::Network& network, const JobData& data, const std::vector<Tensor>& batch) {
  Tree targets;
  for (size_t i = 0; i < network.outputs.size(); ++i) targets[network.outputs[i].name] = batch[data.targets[i]];
  return targets;
}

}  // namespace retrace

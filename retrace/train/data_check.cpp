#include "retrace/train/data_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/data/checked_source.h"
#include "retrace/data/mini_batch_order.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/isfinite/isfinite.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/train/class_numbers.h"

namespace retrace {
namespace {

constexpr int64_t kLookedAtTogether = 1024;  // observations looked at together

struct Set {
  Split split;
  const SourceDescription& description;
  const DataNames& names;
  const std::string& name() const { return split == Split::train ? names.train : names.test; }
};

// Where a variable of a job's set comes from.
std::string place_of(const Job& given, Split split, size_t variable) {
  const Job job = resolved(given);
  const SourceKind& source = source_of(job);
  if (source.origin) return source.origin(split, static_cast<int>(variable), source_request(job, 0));
  return fmt::format("data source \"{}\"", source.name);
}

Error misfit(const Set& set, size_t variable, const std::string& what) {
  return Error(ErrorKind::bad_data, 423, fmt::format("the {} set {}", set.name(), what))
      .where(set.names.place(set.split, variable));
}

// Whether it is known what its target looks like: a loss of users takes any.
bool has_rule(const nn::NetworkOutput& output) { return !output.loss.empty(); }

bool is_class(const nn::NetworkOutput& output) { return has_rule(output) && is_scores(output.kind); }

// Of one observation.
Shape target_shape(const nn::NetworkOutput& output, const Shape& y) {
  return is_class(output) ? nn::target_shape(output.kind, y) : y;
}

void check_shapes(const nn::Network& network, const std::vector<size_t>& targets, const Set& set,
                  const std::vector<Shape>& outputs) {
  const auto& one = set.description.variables;
  if (!(one[0].shape == network.sample))
    throw misfit(set, 0, fmt::format("has samples that network \"{}\" does not read", network.name))
        .got(fmt::format("samples of {}", one[0].shape.text()))
        .expected(fmt::format("samples of {}", network.sample.text()))
        .help(one[0].shape.rank() == 1 && network.sample.rank() == 1
                  ? fmt::format("make the network for {} features (in a job data.features = {})", one[0].shape[0],
                                one[0].shape[0])
                  : "");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& output = network.outputs[i];
    if (!has_rule(output) || output.kind == nn::OutputKind::token_scores) continue;  // of any number of tokens
    const Shape wanted = target_shape(output, outputs[i]);
    const Shape& found = one[targets[i]].shape;
    const bool number = found.rank() == 0 && wanted == Shape{1};  // a queue gives it an axis
    if (found == wanted || number) continue;
    throw misfit(
        set, targets[i],
        fmt::format("has targets that output \"{}\" of network \"{}\" does not make", output.name, network.name))
        .got(fmt::format("targets of {}", found.text()))
        .expected(fmt::format("targets of {}", wanted.text()));
  }
}

void check_label_types(const nn::Network& network, const std::vector<size_t>& targets, const Set& set) {
  for (size_t i = 0; i < targets.size(); ++i) {
    const TensorSpec& found = set.description.variables[targets[i]];
    if (!is_class(network.outputs[i]) || is_index_type(found.type)) continue;
    throw misfit(set, targets[i], fmt::format("has classes of type {}", name_of(found.type)))
        .expected("class numbers of type i32, u8 or i64")
        .help("cast(labels, DType::i32) converts them");
  }
}

void check_buckets(const TrainingOptions& training, const Datastore& store) {
  if (training.buckets.empty()) return;
  if (store.source()->length(0) < 0)
    throw Error(ErrorKind::usage, 475, "training.buckets: the samples of the training set are all of one length")
        .help("leave training.buckets away, or train on samples of different lengths: data.source = \"texts\"");
  std::vector<int64_t> all(static_cast<size_t>(store.size()));
  std::iota(all.begin(), all.end(), int64_t{0});
  const int64_t size = training.mini_batch_size;
  const bool whole = training.partial_mini_batch == "discard";
  if (MiniBatchOrder(std::move(all), *store.source(), training.buckets, size).mini_batches(0, size, whole) > 0) return;
  throw Error(
      ErrorKind::usage, 421,
      fmt::format("no bucket of the training set of {} samples has a whole mini-batch of {}", store.size(), size))
      .help("set a smaller training.mini_batch_size, or training.partial_mini_batch = \"keep\"");
}

// Series end with NaN where they are short: the network has to know.
void check_padding(const nn::Network& network, const Datastore& store, const std::string& format) {
  if (store.source()->length(0) < 0) return;
  int64_t shortest = 0;
  for (int64_t i = 1; i < store.size(); ++i)
    if (store.source()->length(i) < store.source()->length(shortest)) shortest = i;
  const int64_t one[] = {shortest};
  const Tensor x = store.source()->gather(one, 0, 1)[0].relabelled(format);
  if (!any(isnan(x)).item<uint8_t>()) return;
  const Tree y = network.forward(x, network.parameters, network.state, Phase::inference).y;
  for (const Tensor& output : leaf_tensors(y))
    if (any(isnan(output)).item<uint8_t>())
      throw Error(ErrorKind::usage, 477, "the network computes with the NaN that stand behind short series")
          .got(fmt::format("a series of {} positions, filled up to {}", store.source()->length(shortest), x.shape()[1]))
          .help("let the network begin with {type = \"sequence_input\"}, or cut all to one data.length");
}

void check_labels(const Set& set, const Datastore& store, size_t variable, int64_t classes, int32_t least) {
  std::vector<int64_t> indices;
  for (int64_t first = 0; first < store.size(); first += kLookedAtTogether) {
    indices.resize(static_cast<size_t>(std::min(kLookedAtTogether, store.size() - first)));
    std::iota(indices.begin(), indices.end(), first);
    const auto labels = class_numbers(store.source()->gather(indices, 0, static_cast<int>(variable) + 1).back());
    const auto wrong = std::find_if(labels.begin(), labels.end(), [&](int32_t k) { return k < least || k >= classes; });
    if (wrong == labels.end()) continue;
    const auto each = std::ssize(labels) / std::ssize(indices);  // labels of an observation
    throw misfit(set, variable,
                 fmt::format("has the label {} at index {}", *wrong, first + (wrong - labels.begin()) / each))
        .expected(fmt::format("labels of 0 to {}", classes - 1));
  }
}

void check_classes(const nn::Network& network, const std::vector<size_t>& targets, const Set& set,
                   const std::vector<Shape>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (is_class(network.outputs[i]) && set.description.classes > outputs[i].back())
      throw misfit(set, targets[i], fmt::format("has {} classes", set.description.classes))
          .expected(fmt::format("at most {}, the scores of output \"{}\" of network \"{}\"", outputs[i].back(),
                                network.outputs[i].name, network.name))
          .help(fmt::format("let the last layer of that output make {} of them, or take classes out",
                            set.description.classes));
}

SourceDescription description_of(const Datastore& store, int64_t classes) {
  SourceDescription made{store.size(), {}, classes};
  if (store.size() > 0)
    for (const Tensor& variable : checked_get(*store.source(), 0, 0)) made.variables.push_back(variable.spec());
  return made;
}

void check_set(const nn::Network& network, const std::vector<size_t>& targets, const Set& set,
               const std::vector<Shape>& outputs) {
  if (set.description.samples == 0) throw misfit(set, 0, "is empty").expected("at least one sample");
  check_shapes(network, targets, set, outputs);
  check_label_types(network, targets, set);
  check_classes(network, targets, set, outputs);
}

void check_mini_batch(const TrainingOptions& training, int64_t samples) {
  if (training.partial_mini_batch == "keep" || samples >= training.mini_batch_size) return;
  throw Error(
      ErrorKind::usage, 421,
      fmt::format("the training set of {} samples has no whole mini-batch of {}", samples, training.mini_batch_size))
      .help("set a smaller training.mini_batch_size, or training.partial_mini_batch = \"keep\"");
}

// Of a store: what it holds, and all its labels unless their classes are known.
void check_store(const nn::Network& network, const JobData& data, const Datastore& store, const Set& set,
                 const std::vector<Shape>& outputs) {
  check_set(network, data.targets, set, outputs);
  for (size_t i = 0; i < outputs.size() && set.description.classes == 0; ++i)
    if (is_class(network.outputs[i]))
      check_labels(set, store, data.targets[i], outputs[i].back(), has_padding(network.outputs[i].kind) ? -1 : 0);
}

DataNames names_of(const Job& job) {
  return {.place = [&](Split split, size_t variable) { return place_of(job, split, variable); }};
}

}  // namespace

std::vector<Shape> output_shapes(const nn::Network& network, const std::string& format) {
  Shape one{1};
  for (const int64_t size : network.sample) one.push_back(size);
  const Tree y =
      network.forward(Tensor::zeros(one, DType::f32, format), network.parameters, network.state, Phase::inference).y;
  std::vector<Shape> shapes;
  for (const auto& output : network.outputs) shapes.push_back(sample_shape(y[output.name].tensor().shape()));
  return shapes;
}

void check_job_description(const Job& job, const nn::Network& network, const JobDescription& data) {
  const auto outputs = output_shapes(network, data.formats[0]);
  const DataNames names = names_of(job);
  check_set(network, data.targets, {Split::train, data.train, names}, outputs);
  check_set(network, data.targets, {Split::test, data.test, names}, outputs);
  check_mini_batch(job.training, data.train.samples);
}

void check_test_data(const Job& job, const nn::Network& network, const JobData& data) {
  const DataNames names = names_of(job);
  check_store(network, data, data.test, {Split::test, description_of(data.test, data.test_classes), names},
              output_shapes(network, data.formats[0]));
}

void check_data(const nn::Network& network, const JobData& data, const TrainingOptions& training,
                const DataNames& names, bool tested) {
  const auto outputs = output_shapes(network, data.formats[0]);
  check_store(network, data, data.train, {Split::train, description_of(data.train, data.train_classes), names},
              outputs);
  if (tested)
    check_store(network, data, data.test, {Split::test, description_of(data.test, data.test_classes), names}, outputs);
  check_mini_batch(training, data.train.size());
  check_buckets(training, data.train);
  check_padding(network, data.train, data.formats[0]);
}

void check_job_data(const Job& job, const nn::Network& network, const JobData& data) {
  check_data(network, data, job.training, names_of(job));
}

}  // namespace retrace

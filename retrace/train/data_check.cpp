#include "retrace/train/data_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/data/checked_source.h"

namespace retrace {
namespace {

constexpr int64_t kChunk = 1024;  // observations looked at together

struct Set {
  Split split;
  const SourceDescription& description;
  const char* name() const { return split == Split::train ? "training" : "test"; }
};

// Where a variable of a set comes from.
std::string place_of(const Job& given, Split split, size_t variable) {
  const Job job = resolved(given);
  const SourceKind& source = source_of(job);
  if (source.origin) return source.origin(split, static_cast<int>(variable), source_request(job, 0));
  return fmt::format("data source \"{}\"", source.name);
}

Shape without_batch(const Shape& shape) { return Shape(std::span(shape.begin() + 1, shape.end())); }

// The shapes of the network's outputs for one sample, by recording it.
std::vector<Shape> output_shapes(const nn::Network& network, const std::string& format) {
  Shape one{1};
  for (const int64_t size : network.sample) one.push_back(size);
  const Tree y =
      network.forward(Tensor::zeros(one, DType::f32, format), network.parameters, network.state, Phase::inference).y;
  std::vector<Shape> shapes;
  for (const auto& output : network.outputs) shapes.push_back(without_batch(y[output.name].tensor().shape()));
  return shapes;
}

Error misfit(const Job& job, const Set& set, size_t variable, const std::string& what) {
  return Error(ErrorKind::bad_data, 423, fmt::format("the {} set {}", set.name(), what))
      .where(place_of(job, set.split, variable));
}

bool is_class(const nn::NetworkOutput& output) { return output.kind == nn::OutputKind::class_scores; }

void check_shapes(const Job& job, const nn::Network& network, const std::vector<size_t>& targets, const Set& set,
                  const std::vector<Shape>& outputs) {
  const auto& one = set.description.variables;
  if (!(one[0].shape == network.sample))
    throw misfit(job, set, 0, fmt::format("has samples that network \"{}\" does not read", network.name))
        .got(fmt::format("samples of {}", one[0].shape.text()))
        .expected(fmt::format("samples of {}", network.sample.text()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& output = network.outputs[i];
    const Shape wanted = is_class(output) ? Shape() : outputs[i];
    const Shape& found = one[targets[i]].shape;
    if (found == wanted) continue;
    throw misfit(
        job, set, targets[i],
        fmt::format("has targets that output \"{}\" of network \"{}\" does not make", output.name, network.name))
        .got(fmt::format("targets of {}", found.text()))
        .expected(fmt::format("targets of {}", wanted.text()));
  }
}

void check_labels(const Job& job, const Set& set, const Datastore& store, size_t variable, int64_t classes) {
  std::vector<int64_t> indices;
  for (int64_t first = 0; first < store.size(); first += kChunk) {
    indices.resize(static_cast<size_t>(std::min(kChunk, store.size() - first)));
    std::iota(indices.begin(), indices.end(), first);
    const auto labels = store.source()->gather(indices, 0, static_cast<int>(variable) + 1).back().to_vector<int32_t>();
    const auto wrong = std::find_if(labels.begin(), labels.end(), [&](int32_t k) { return k < 0 || k >= classes; });
    if (wrong == labels.end()) continue;
    throw misfit(job, set, variable,
                 fmt::format("has the label {} at index {}", *wrong, first + (wrong - labels.begin())))
        .expected(fmt::format("labels of 0 to {}", classes - 1));
  }
}

void check_classes(const Job& job, const nn::Network& network, const std::vector<size_t>& targets, const Set& set,
                   const std::vector<Shape>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (is_class(network.outputs[i]) && set.description.classes > outputs[i].back())
      throw misfit(job, set, targets[i], fmt::format("has {} classes", set.description.classes))
          .expected(fmt::format("at most {}, the scores of output \"{}\" of network \"{}\"", outputs[i].back(),
                                network.outputs[i].name, network.name));
}

SourceDescription description_of(const Job& given, Split split, const Datastore& store) {
  const Job job = resolved(given);
  SourceDescription made{store.size(), {}, source_of(job).description(split, source_request(job, 0)).classes};
  if (store.size() > 0)
    for (const Tensor& variable : checked_get(*store.source(), 0, 0)) made.variables.push_back(variable.spec());
  return made;
}

void check_set(const Job& job, const nn::Network& network, const std::vector<size_t>& targets, const Set& set,
               const std::vector<Shape>& outputs) {
  if (set.description.samples == 0) throw misfit(job, set, 0, "is empty").expected("at least one sample");
  check_shapes(job, network, targets, set, outputs);
  check_classes(job, network, targets, set, outputs);
}

}  // namespace

void check_job_description(const Job& job, const nn::Network& network, const JobDescription& data) {
  const auto outputs = output_shapes(network, data.formats[0]);
  check_set(job, network, data.targets, {Split::train, data.train}, outputs);
  check_set(job, network, data.targets, {Split::test, data.test}, outputs);
  const auto& training = job.training;
  if (training.partial_mini_batch == "keep" || data.train.samples >= training.mini_batch_size) return;
  throw Error(ErrorKind::usage, 421,
              fmt::format("the training set of {} samples has no whole mini-batch of {}", data.train.samples,
                          training.mini_batch_size))
      .help("set a smaller training.mini_batch_size, or training.partial_mini_batch = \"keep\"");
}

void check_job_data(const Job& job, const nn::Network& network, const JobData& data) {
  const JobDescription description{description_of(job, Split::train, data.train),
                                   description_of(job, Split::test, data.test), data.formats, data.targets};
  check_job_description(job, network, description);
  const auto outputs = output_shapes(network, data.formats[0]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_class(network.outputs[i])) continue;
    if (description.train.classes == 0)
      check_labels(job, {Split::train, description.train}, data.train, data.targets[i], outputs[i].back());
    if (description.test.classes == 0)
      check_labels(job, {Split::test, description.test}, data.test, data.targets[i], outputs[i].back());
  }
}

}  // namespace retrace

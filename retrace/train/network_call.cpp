#include "retrace/train/network_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/data/checked_source.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/data_check.h"
#include "retrace/train/job_check.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/own_metric.h"
#include "retrace/train/run_network.h"
#include "retrace/train/training_step.h"

namespace retrace {
namespace {

constexpr const char* kOutput = "y";

void check_options(const Job& job) {
  GivenKeys given;
  for (const auto& [name, value] : job.training.options) given["training." + name] = {};
  throw_all(find_mistakes(resolved(job), given));
}

bool is_of_job(std::string_view key) { return key.starts_with("network.") || key.starts_with("data."); }

NamedValues without_job(std::vector<std::pair<std::string, std::string>> values) {
  std::erase_if(values, [](const auto& value) { return is_of_job(value.first); });
  return values;
}

// [training] and [validation] as TOML.
std::string text_of(const NamedValues& values) {
  std::string out, current;
  for (const auto& [key, value] : values) {
    const std::string section = section_of(key);
    if (section != current) out += fmt::format("\n[{}]\n", section);
    current = section;
    out += fmt::format("{} = {}\n", name_of_key(key), value);
  }
  return out;
}

Observation first_of(const Datastore& data, Place place) {
  if (data.size() == 0)
    throw Error(ErrorKind::bad_data, 486, "the store has nothing to train on")
        .where(place)
        .expected("one observation at least");
  return checked_get(*data.source(), 0, 0);
}

// What a target of that kind says of the output that is trained towards it.
nn::OutputKind kind_of_target(const Tensor& target) {
  if (target.shape().rank() == 0 && !is_float(target.type())) return nn::OutputKind::class_scores;
  if (target.shape().rank() != 3) return nn::OutputKind::values;
  const bool classes = target.type() == DType::i32 || target.type() == DType::i64;  // of pixels; images may be u8
  return classes ? nn::OutputKind::pixel_scores : nn::OutputKind::image;
}

// The labels of a mini-batch of such observations; "" keeps those of the data.
std::string format_of(const Shape& sample) {
  switch (sample.rank()) {
    case 1: return "BC";
    case 3: return "BSSC";
    default: return "";
  }
}

std::string format_of_target(const nn::NetworkOutput& output, const Tensor& target) {
  const bool positions = output.kind == nn::OutputKind::position_scores && target.shape().rank() == 1;
  const nn::OutputKind kind = positions ? output.kind : kind_of_target(target);
  const bool fits = kind != nn::OutputKind::values || target.shape().rank() < 2;
  return fits ? std::string(nn::target_labels(kind)) : "";
}

void check_variables(const Datastore& data, size_t outputs, const char* name, Place place) {
  if (static_cast<size_t>(data.variables()) > outputs) return;
  throw Error(ErrorKind::usage, 481, fmt::format("{} has no target for each output of the network", name))
      .where(place)
      .got(fmt::format("{} variable{}", data.variables(), data.variables() == 1 ? "" : "s"))
      .expected(fmt::format("{}: the input, and {} target{}", outputs + 1, outputs, outputs == 1 ? "" : "s"))
      .help("combine(inputs, targets) makes one store of two");
}

// Input first, then the target of each output, in their order.
JobData data_of(const Datastore& data, const nn::Network& network, const TrainNetworkOptions& options, Place place) {
  check_variables(data, network.outputs.size(), "the data", place);
  if (options.validation_data)
    check_variables(*options.validation_data, network.outputs.size(), "validation_data", place);
  const Observation first = first_of(data, place);
  JobData made{data, options.validation_data.value_or(data), {format_of(first[0].shape())}, {}};
  for (size_t i = 1; i <= network.outputs.size(); ++i) {
    made.formats.push_back(format_of_target(network.outputs[i - 1], first[i]));
    made.targets.push_back(i);
  }
  return made;
}

// Without control characters and broken UTF-8, as names from data are.
ClassNames class_names(const TrainNetworkOptions& options) {
  ClassNames names = options.class_names;
  for (auto& name : names) name = printable(name);
  return names;
}

// One for each class of the first output.
void check_class_names(const TrainingTask& task, Place place) {
  if (task.classes.empty()) return;
  const bool classes = is_scores(task.network.outputs[0].kind);
  const int64_t count = classes ? output_shapes(task.network, task.data.formats[0])[0].back() : 0;
  if (static_cast<int64_t>(task.classes.size()) == count) return;
  throw Error(ErrorKind::usage, 394, "class_names has not one name for each class of the network's first output")
      .where(place)
      .got(fmt::format("{} name{}", task.classes.size(), task.classes.size() == 1 ? "" : "s"))
      .expected(classes ? fmt::format("{}", count) : "none: it makes no scores of classes");
}

TrainingTask task_of(const Datastore& data, const nn::Network& network, const TrainNetworkOptions& options,
                     Place place) {
  const Job job = job_of(options);
  TrainingTask task{.name = job.name,
                    .network = network,
                    .data = data_of(data, network, options, place),
                    .tested = options.validation_data.has_value(),
                    .validated = options.validation_data.has_value(),
                    .training = options.training,
                    .validation = options.validation,
                    .seed = options.seed,
                    .device = options.device,
                    .learn_rate = options.learn_rate ? options.learn_rate : learn_rate(options.training),
                    .identity = without_job(job_identity(job)),
                    .classes = class_names(options),
                    .own_metrics = own_metrics(options, network, place),
                    .file = "training.toml",
                    .text = text_of(without_job(job_values(job)))};
  check_groups(task.training, task.network, place);
  evaluate(task.network.parameters);
  evaluate(task.network.state);
  const DataNames names{
      .train = "training", .test = "validation", .place = [&](Split, size_t) { return place.text(); }};
  check_data(task.network, task.data, task.training, names, task.tested);
  check_class_names(task, place);
  if (!options.keep_input_statistics)
    task.network = with_input_statistics(std::move(task.network), task.data.train, place);
  if (!options.out.empty()) task.network_text = run_network_text(task.network);
  for (const auto& metric : options.own_metrics) task.identity.emplace_back("own metric", metric.name);
  task.identity.emplace_back("network", fingerprint(task.network.parameters, task.network.state));
  return task;
}

// The type of the last layer in chains of layers; "": that of a user's own.
std::string last_type_of(const nn::Layer& layer) {
  const nn::LayerMade* made = layer.made_from();
  if (!made) return "";
  if (made->form == nn::LayerMade::Form::kind) return made->type;
  const bool chain = made->form == nn::LayerMade::Form::chain && !made->parts.empty();
  return chain ? last_type_of(made->parts.back().second) : "";
}

// A linear layer makes no probabilities: the loss would be that of cut-off logarithms, and learn nothing.
void check_probabilities(const nn::Layer& layers, const Loss& loss, const nn::NetworkOutput& output, Place place) {
  if (loss.function || loss.name != "cross-entropy" || !is_scores(output.kind) || last_type_of(layers) != "linear")
    return;
  throw Error(ErrorKind::usage, 490,
              "the loss \"cross-entropy\" takes probabilities, and the layers end with a linear one")
      .where(place)
      .expected("a softmax at the end")
      .help(
          "add nn::softmax() behind the last layer, or give softmax_cross_entropy(y, one_hot(t, classes)) as a "
          "function");
}

}  // namespace

Job job_of(const TrainNetworkOptions& options) {
  Job job{.name = "training",
          .seed = options.seed,
          .device = options.device,
          .workers = options.workers,
          .threads = options.threads,
          .network = {},
          .data = {},
          .training = options.training,
          .validation = options.validation};
  if (!options.validation_data) job.validation_data = "none";
  return job;
}

nn::Network with_loss(nn::Network network, const Loss& loss, Place place) {
  if (loss.function) {
    network.loss = loss.function;
    return network;
  }
  if (network.outputs.size() != 1)
    throw Error(
        ErrorKind::usage, 482,
        fmt::format("the loss \"{}\" is one, and the network has {} outputs", loss.name, network.outputs.size()))
        .where(place)
        .help("give network.loss, the sum of the losses of its outputs, or a function of your own");
  network.outputs[0].loss = loss.name;
  network.loss = nn::loss_of(network.outputs, place);
  return network;
}

nn::Network network_of(const Datastore& data, const nn::Layer& layers, const Loss& loss, uint64_t seed, Place place) {
  check_variables(data, 1, "the data", place);
  const Observation first = first_of(data, place);
  nn::NetworkOutput output{.name = kOutput, .kind = kind_of_target(first[1])};
  output.loss = nn::standard_loss(output.kind);
  output.metric = nn::standard_metric(output.kind);
  check_probabilities(layers, loss, output, place);
  auto network = nn::make_network(random_key(seed).split("parameters"), layers, first[0].shape(), {output}, place);
  if (!loss.function) return with_loss(std::move(network), loss, place);
  network.outputs[0].loss.clear();
  network.outputs[0].metric.clear();
  network.loss = [own = loss.function](const Tree& y, const Tree& targets) {
    return own(y[kOutput], targets[kOutput]);
  };
  return network;
}

TrainingCall call_of(const Datastore& data, const nn::Network& network, const TrainNetworkOptions& options,
                     Place place) {
  const Job job = job_of(options);
  with_place(place, [&] { check_options(job); });
  return {.settings = settings_of(job),
          .device = options.device,
          .shards = options.training.shards,
          .workers = options.workers,
          .sizes = fmt::format("training.mini_batch_size = {}", options.training.mini_batch_size),
          .make_task = [&data, &network, &options, place] { return task_of(data, network, options, place); }};
}

}  // namespace retrace

#include "retrace/train/train_network.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>

#include "retrace/base/fp_environment.h"
#include "retrace/data/checked_source.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/data_check.h"
#include "retrace/train/job_check.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/metric_kind.h"
#include "retrace/train/training_run.h"

namespace retrace {
namespace {

constexpr const char* kOutput = "y";

// The options as a job: its network and data mean nothing.
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

void check_options(const Job& job) {
  GivenKeys given;
  for (const auto& [name, value] : job.training.options) given["training." + name] = {};
  throw_all(find_mistakes(resolved(job), given, true));
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
  if (target.shape().rank() == 0 && target.type() != DType::f32 && target.type() != DType::f64)
    return nn::OutputKind::class_scores;
  return target.shape().rank() == 3 ? nn::OutputKind::image : nn::OutputKind::values;
}

// The labels of a mini-batch of such observations; "" keeps those of the data.
std::string format_of(const Shape& sample) {
  switch (sample.rank()) {
    case 1: return "BC";
    case 3: return "BSSC";
    default: return "";
  }
}

std::string format_of_target(const Tensor& target) {
  const nn::OutputKind kind = kind_of_target(target);
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
    made.formats.push_back(format_of_target(first[i]));
    made.targets.push_back(i);
  }
  return made;
}

// The network with that loss.
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

// Layers and a loss, by what the first observation is.
nn::Network network_of(const Datastore& data, const nn::Layer& layers, const Loss& loss, uint64_t seed, Place place) {
  check_variables(data, 1, "the data", place);
  const Observation first = first_of(data, place);
  nn::NetworkOutput output{.name = kOutput, .kind = kind_of_target(first[1])};
  output.loss = nn::standard_loss(output.kind);
  output.metric = nn::standard_metric(output.kind);
  auto network = nn::make_network(random_key(seed).split("parameters"), layers, first[0].shape(), {output}, place);
  if (!loss.function) return with_loss(std::move(network), loss, place);
  network.outputs[0].loss.clear();
  network.outputs[0].metric.clear();
  network.loss = [own = loss.function](const Tree& y, const Tree& targets) {
    return own(y[kOutput], targets[kOutput]);
  };
  return network;
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
                    .file = "training.toml",
                    .text = text_of(without_job(job_values(job)))};
  evaluate(task.network.parameters);
  evaluate(task.network.state);
  const DataNames names{
      .train = "training", .test = "validation", .place = [&](Split, size_t) { return place.text(); }};
  check_data(task.network, task.data, task.training, names, task.tested);
  if (!options.keep_input_statistics)
    task.network = with_input_statistics(std::move(task.network), task.data.train, place);
  task.identity.emplace_back("network", fingerprint(task.network.parameters, task.network.state));
  return task;
}

// Keeps what is told, and asks the user after each step.
class History : public Monitor {
 public:
  explicit History(const TrainNetworkOptions& options) : options_(options) {}

  void receive(const Event& event) override {
    if (const auto* validation = std::get_if<ValidationDone>(&event)) info.validations.push_back(*validation);
    if (options_.monitor) options_.monitor->receive(event);
    const auto* step = std::get_if<StepDone>(&event);
    if (!step) return;
    info.steps.push_back(*step);
    if (!options_.output_function) return;
    const auto* last = info.validations.empty() ? nullptr : &info.validations.back();
    if (options_.output_function({*step, last})) stopped = true;
  }

  TrainingInfo info;
  std::atomic<bool> stopped = false;

 private:
  const TrainNetworkOptions& options_;
};

TrainingInfo completed(TrainingInfo info, const TrainJobResult& result) {
  info.validation_loss = result.loss;
  info.metrics = result.metrics;
  info.epochs = result.epochs;
  info.iterations = result.iterations;
  info.output_iteration = result.output_iteration;
  info.stop_reason = result.stop_reason;
  info.fingerprint = result.fingerprint;
  info.device = result.device;
  info.seconds = result.seconds;
  return info;
}

}  // namespace

TrainedNetwork train_network(const Datastore& data, const nn::Network& network, const Loss& loss,
                             const TrainNetworkOptions& options, Place place) {
  const FloatingPointScope floating_point;
  const Job job = job_of(options);
  with_place(place, [&] { check_options(job); });
  nn::Network trained = with_loss(network, loss, place);
  Pool own = Pool::local(options.pool ? 1 : options.workers, {.timeout = options.training.timeout}, place);
  History history(options);
  TrainJobControl control{.out = options.out, .write_run = !options.out.empty(), .monitor = &history};
  if (options.output_function) control.stop = [&] { return history.stopped.load(); };
  if (options.resume && !checkpoints_of(options.out).empty()) control.resume = options.out;
  const auto result = with_place(place, [&] {
    return run_training(options.pool ? *options.pool : own,
                        {.settings = settings_of(job),
                         .device = options.device,
                         .shards = options.training.shards,
                         .sizes = fmt::format("training.mini_batch_size = {}", options.training.mini_batch_size),
                         .make_task = [&] { return task_of(data, trained, options, place); }},
                        control);
  });
  trained.parameters = result.weights.parameters.to(cpu_device());
  trained.state = result.weights.state.to(cpu_device());
  return {std::move(trained), completed(std::move(history.info), result)};
}

TrainedNetwork train_network(const Datastore& data, const nn::Layer& layers, const Loss& loss,
                             const TrainNetworkOptions& options, Place place) {
  const FloatingPointScope floating_point;
  const nn::Network network = network_of(data, layers, loss, options.seed, place);
  if (loss.function) return train_network(data, network, network.loss, options, place);
  return train_network(data, network, loss, options, place);
}

}  // namespace retrace

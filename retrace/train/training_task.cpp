#include "retrace/train/training_task.h"

#include <fmt/format.h>

#include <filesystem>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/warning.h"
#include "retrace/distributed/launcher.h"
#include "retrace/train/load_into.h"
#include "retrace/train/train_network.h"
#include "retrace/train/training_step.h"
#include "retrace/train/versions.h"

namespace retrace {

namespace {

// What the file lacks is told: it may be a new head, or a mistake.
nn::Network with_initial_weights(const nn::Network& network, const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path given = path;
  if (!std::filesystem::exists(given, ignored))
    throw missing_path(given, given.has_extension() ? "file of weights" : "run folder");
  const auto file = std::filesystem::is_directory(given, ignored) ? given / "weights.safetensors" : given;
  LoadedNetwork loaded = load_parts_into(network, file.string(), {.partial = true, .other_shapes = true});
  if (!loaded.kept.empty() && detect_launcher().rank == 0)
    warn(fmt::format("{} of {} tensors are those of \"{}\"; not there, or of another shape, are {}", loaded.taken,
                     loaded.taken + loaded.kept.size(), printable(file.string()), joined(loaded.kept, ", ")));
  return std::move(loaded.network);
}

}  // namespace

TrainingTask task_of(const Job& job) {
  nn::Network network = make_job_network(job);
  if (!job.initial_weights.empty()) network = with_initial_weights(network, job.initial_weights);
  JobData data = load_job_data(job, network);
  evaluate(network.parameters);
  evaluate(network.state);
  network = with_input_statistics(std::move(network), data.train, {});
  const std::vector<std::string> classes = data.facts.class_names;
  return {.name = job.name,
          .network = std::move(network),
          .data = std::move(data),
          .validated = job.validation_data != "none",
          .training = job.training,
          .validation = job.validation,
          .seed = job.seed,
          .device = job.device,
          .learn_rate = learn_rate(job.training),
          .identity = job_identity(job),
          .classes = kept_class_names(classes),
          .text = job_text(job)};
}

NamedValues digest(const TrainingTask& task) {
  NamedValues values = task.identity;
  for (auto& entry : task.data.train.identity("training set")) values.push_back(std::move(entry));
  if (task.tested)
    for (auto& entry : task.data.test.identity("test set")) values.push_back(std::move(entry));
  values.emplace_back("the version of retrace", RETRACE_VERSION);
  values.emplace_back("the version of the contract", fmt::format("{}", kContractVersion));
  return values;
}

NamedValues checkpoint_owner(const TrainingTask& task) {
  NamedValues owner = digest(task);
  std::erase_if(owner, [](const auto& value) { return value.first == "the version of retrace"; });
  return owner;
}

}  // namespace retrace

#include "retrace/train/run_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/source_kind.h"
#include "retrace/nn/layer_graph.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/nn/network_text.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_entries.h"
#include "retrace/train/manifest.h"
#include "retrace/train/network_toml.h"
#include "retrace/train/run_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

constexpr const char *kFile = "network.toml", *kOptions = "training.toml";
constexpr std::pair<nn::OutputKind, const char*> kKinds[] = {{nn::OutputKind::class_scores, "class-scores"},
                                                             {nn::OutputKind::position_scores, "position-scores"},
                                                             {nn::OutputKind::image, "image"},
                                                             {nn::OutputKind::pixel_scores, "pixel-scores"},
                                                             {nn::OutputKind::values, "values"},
                                                             {nn::OutputKind::series_scores, "series-scores"},
                                                             {nn::OutputKind::series_values, "series-values"},
                                                             {nn::OutputKind::token_scores, "token-scores"}};

// What the file says.
struct SavedNetwork {
  Shape sample;
  std::vector<nn::LayerText> layers;
  std::vector<nn::NetworkOutput> outputs;  // of a loss that is a function without its name
};

Error damaged(const fs::path& path) {
  return Error(ErrorKind::bad_data, 731, fmt::format("\"{}\" is damaged", printable(path.string())))
      .expected("[network] with sample, kinds, layers and outputs")
      .help("take it from a copy of the run, or predict in the program that trained it: network.predict(x)");
}

template <class Value>
const Value* find(const std::vector<JobEntry>& entries, const char* key) {
  for (const auto& entry : entries)
    if (entry.key == key) return std::get_if<Value>(&entry.value);
  return nullptr;
}

// Nobody wrote this file by hand.
std::vector<JobEntry> entries_of(const fs::path& path) {
  const std::string text = read_file(path, "network file", kMaxJobBytes);
  try {
    return toml_entries(text, path.string());
  } catch (const Error&) {
    throw damaged(path);
  }
}

void set_kinds(const std::vector<std::string>& kinds, std::vector<nn::NetworkOutput>& outputs, const fs::path& path) {
  if (kinds.size() != outputs.size()) throw damaged(path);
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto known =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& kind) { return kind.second == kinds[i]; });
    if (known == std::end(kKinds)) throw damaged(path);
    outputs[i].kind = known->first;
  }
}

SavedNetwork read_network(const fs::path& run) {
  const fs::path path = run / kFile;
  check_file(run, kFile);
  if (std::error_code ignored; !fs::exists(path, ignored))
    throw Error(ErrorKind::missing, 732,
                fmt::format("the run \"{}\" of a program keeps no network", printable(run.string())))
        .got("a run of an earlier version of retrace")
        .help("train it again, or ask the network in the program that trained it: network.predict(x)");
  const auto entries = entries_of(path);
  if (const auto* why = find<std::string>(entries, "network.why_no_layers"))
    throw Error(
        ErrorKind::usage, 733,
        fmt::format("the run \"{}\" was trained by a program, and its network is in no file", printable(run.string())))
        .got(printable(*why))
        .help("ask it in the program that trained it: network.predict(x), after load(\"weights.safetensors\")");
  const auto* sample = find<std::vector<double>>(entries, "network.sample");
  const auto* kinds = find<std::vector<std::string>>(entries, "network.kinds");
  const auto* layers = find<LayersValue>(entries, "network.layers");
  const auto* outputs = find<OutputsValue>(entries, "network.outputs");
  if (!sample || !kinds || !layers || !outputs || !layers->errors.empty() || !outputs->errors.empty())
    throw damaged(path);
  SavedNetwork saved{.sample = {}, .layers = layers->layers, .outputs = outputs->outputs};
  for (const double size : *sample) saved.sample.push_back(static_cast<int64_t>(size));
  set_kinds(*kinds, saved.outputs, path);
  return saved;
}

// What a network without a loss by name is measured by: nothing.
Tensor no_loss(const Tree&, const Tree&) { return Tensor::full(std::nan(""), {}); }

nn::Network network_of(const SavedNetwork& saved, const fs::path& path) {
  try {
    const nn::Layer layers =
        nn::plain_layers({.layers = saved.layers, .input = saved.sample, .outputs = saved.outputs});
    auto [parameters, state] = layers.initial(saved.sample, random_key(0));
    return {"layers", saved.sample, saved.outputs, layers, std::move(parameters), std::move(state), no_loss};
  } catch (const Error&) {
    throw damaged(path);
  }
}

// The key of an override.
const JobOverride* last_of(const std::vector<JobOverride>& overrides, const std::string& key) {
  const auto found =
      std::find_if(overrides.rbegin(), overrides.rend(), [&](const JobOverride& one) { return one.key == key; });
  return found == overrides.rend() ? nullptr : &*found;
}

// Throws Error(usage) where none is named.
const SourceKind& source_of(const fs::path& run, const std::vector<JobOverride>& overrides) {
  const JobOverride* named = last_of(overrides, "data.source");
  if (!named)
    throw Error(ErrorKind::usage, 734,
                fmt::format("the run \"{}\" of a program does not say how its data are read", printable(run.string())))
        .expected(fmt::format("one of {}", joined(names_of(all_sources()), ", ")))
        .help("name the source of the test set: --set data.source=csv --data DIR");
  std::string name = named->value;
  std::erase(name, '"');
  return kind_of(all_sources(), name, "data source", {});
}

// What the network says of the data.
NamedValues data_of(const SavedNetwork& network) {
  if (network.sample.rank() == 1) return {{"features", fmt::format("{}", network.sample[0])}};
  if (network.sample.rank() != 3) return {};
  return {{"image_height", fmt::format("{}", network.sample[0])},
          {"image_width", fmt::format("{}", network.sample[1])},
          {"image_channels", fmt::format("{}", network.sample[2])}};
}

// [data], as far as the network and the source say it.
std::string data_text(const SavedNetwork& network, const SourceKind& source) {
  NamedValues values = data_of(network);
  if (!is_scores(network.outputs[0].kind)) values.emplace_back("task", "\"regression\"");
  std::string text = fmt::format("\n[data]\nsource = \"{}\"\n", source.name);
  for (const auto& [name, value] : values)
    if (std::any_of(source.options.begin(), source.options.end(), [&](const auto& rule) { return rule.name == name; }))
      text += fmt::format("{} = {}\n", name, value);
  return text;
}

// Outputs are trained towards the targets of their names, or else of their kinds, each once.
void name_targets(std::vector<nn::NetworkOutput>& outputs, const SourceKind& source) {
  std::set<std::string> taken;
  for (const auto& output : outputs)
    if (target_of(source.targets, output)) taken.insert(output.name);
  for (auto& output : outputs)
    for (const auto& target : source.targets)
      if (!target_of(source.targets, output) && target.kind == output.kind && taken.insert(target.name).second)
        output.name = target.name;
}

// The settings of the run, with a network and data that fit.
std::string job_text(const fs::path& run, const SavedNetwork& network, const SourceKind& source) {
  check_file(run, kOptions);
  const std::string layers = toml_text(network.layers), outputs = toml_text(network.outputs);
  return fmt::format("{}\n[network]\nlayers = {}\noutputs = {}\n{}",
                     read_file(run / kOptions, "options of a run", kMaxJobBytes), layers, outputs,
                     data_text(network, source));
}

TrainedRun run_of_program(const fs::path& run, const std::vector<JobOverride>& overrides) {
  SavedNetwork saved = read_network(run);
  const SourceKind& source = source_of(run, overrides);
  name_targets(saved.outputs, source);
  Job job = parse_job(job_text(run, saved, source), (run / kOptions).string(), overrides);
  nn::Network network = network_of(saved, run / kFile);
  const bool named =
      std::none_of(saved.outputs.begin(), saved.outputs.end(), [](const auto& output) { return output.loss.empty(); });
  if (named) network.loss = nn::loss_of(saved.outputs);
  return {std::move(job), std::move(network)};
}

}  // namespace

std::string run_network_text(const nn::Network& network) {
  std::vector<double> sample(network.sample.begin(), network.sample.end());
  std::vector<std::string> kinds;
  for (const auto& output : network.outputs)
    for (const auto& [kind, name] : kKinds)
      if (kind == output.kind) kinds.emplace_back(name);
  std::string text = "# The network that a program trained: retrace test and retrace predict read it.\n[network]\n";
  text += fmt::format("sample = [{}]\nkinds = {}\n", joined(network.sample, ", "), toml_text(kinds));
  try {
    nn::NetworkText written = nn::text_of(network);
    if (!nn::has_named_loss(network))
      for (auto& output : written.outputs) output.loss.clear();
    return text + fmt::format("layers = {}\noutputs = {}\n", toml_text(written.layers), toml_text(written.outputs));
  } catch (const Error& error) {
    return text + fmt::format("why_no_layers = {}\n", toml_text(OptionValue(printable(error.message()))));
  }
}

TrainedRun read_run_to_test(const fs::path& run, const std::vector<JobOverride>& overrides) {
  check_run_folder(run);
  if (is_run_of_program(run)) return run_of_program(run, overrides);
  Job job = read_run_job(run);
  if (!overrides.empty()) job = read_job(run / "job.toml", overrides);
  // Other data are a test set, unless somebody says that a share of them is.
  const auto names = [&](const char* key) {
    return std::any_of(overrides.begin(), overrides.end(), [&](const JobOverride& one) { return one.key == key; });
  };
  if (names("data.path") && !names("data.test_share")) job.data.test_share = 0;
  nn::Network network = make_job_network(job);
  return {std::move(job), std::move(network)};
}

TrainedRun read_run_to_predict(const fs::path& run) {
  check_run_folder(run);
  if (!is_run_of_program(run)) return read_run_to_test(run);
  const SavedNetwork saved = read_network(run);
  Job job;
  job.data.source = saved.sample.rank() == 3 ? "images" : "csv";
  for (const auto& [name, size] : data_of(saved)) job.data.options.set(name, int64_t{std::stoll(size)});
  return {std::move(job), network_of(saved, run / kFile)};
}

}  // namespace retrace

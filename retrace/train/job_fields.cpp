#include "retrace/train/job_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "retrace/data/source_kind.h"
#include "retrace/data/transform_kind.h"
#include "retrace/nn/network_kind.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/train/metric_kind.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/network_toml.h"

namespace retrace {
namespace {

constexpr double kMaxCount = 1'000'000'000;

OptionValue value_of(int value) { return int64_t{value}; }
OptionValue value_of(uint64_t value) { return static_cast<int64_t>(value); }
template <class Value>
OptionValue value_of(const Value& value) {
  return value;
}

void assign(int& member, const OptionValue& value) {
  using Limits = std::numeric_limits<int>;
  member = static_cast<int>(std::clamp<int64_t>(std::get<int64_t>(value), Limits::min(), Limits::max()));
}
void assign(uint64_t& member, const OptionValue& value) { member = static_cast<uint64_t>(std::get<int64_t>(value)); }
template <class Value>
void assign(Value& member, const OptionValue& value) {
  member = std::get<Value>(value);
}
template <class Value>
void assign(std::optional<Value>& member, const OptionValue& value) {
  assign(member.emplace(), value);
}

template <class Value>
std::optional<OptionValue> optional_value(const Value& value) {
  return value_of(value);
}
template <class Value>
std::optional<OptionValue> optional_value(const std::optional<Value>& value) {
  return value ? std::optional(value_of(*value)) : std::nullopt;
}

template <class Value>
struct Type {
  using type = Value;
};
template <class Value>
struct Type<std::optional<Value>> {
  using type = Value;
};

// The names that give an option a meaning: `training.solver = "adam" or "sgdm"`.
std::string choice_text(const std::string& key, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : " or ", name);
  return fmt::format("{} = {}", key, text);
}

class FieldList {
 public:
  // A member of a job: `place(job)` is a reference to it.
  template <class Place>
  JobField& add(std::string section, OptionRule rule, Place place) {
    using Member = std::remove_cvref_t<decltype(place(std::declval<Job&>()))>;
    const Member& (*read)(const Job&) = place;
    Member& (*write)(Job&) = place;
    return add_member(std::move(section), std::move(rule), read, write);
  }

  // The options of kinds, each once; of a name that several kinds have, the rule of a chosen one that has it.
  // `bag(job)` is where their values are.
  template <class Kind, class Bag>
  void add_options(const std::string& section, const std::string& chooser, const std::vector<std::string>& chosen,
                   const std::vector<Kind>& kinds, Bag bag) {
    std::vector<std::string> done;
    for (const auto& kind : kinds)
      for (const auto& option : kind.options) {
        if (std::count(done.begin(), done.end(), option.name)) continue;
        done.emplace_back(option.name);
        add_option_of(section, chooser, chosen, kinds, option, bag);
      }
  }

  // One option.
  template <class Bag>
  void add_option(const std::string& section, const OptionRule& rule, bool applies, std::string only_with, Bag bag) {
    JobField& field = fields_.emplace_back();
    field.key = fmt::format("{}.{}", section, rule.name);
    field.rule = rule;
    field.applies = applies;
    field.only_with = std::move(only_with);
    field.get = [bag, name = rule.name](const Job& job) {
      const OptionValue* value = bag(job).find(name);
      return value ? std::optional(*value) : std::nullopt;
    };
    field.set = [bag, name = rule.name](Job& job, OptionValue value) { bag(job).set(name, std::move(value)); };
  }

  // A list of tables; `text(job)` is its TOML text, empty if there is none.
  void add_tables(const std::string& key, bool applies, const std::string& only_with,
                  std::function<std::string(const Job&)> text) {
    JobField& field = fields_.emplace_back();
    field.key = key;
    field.rule = {.name = name_of_key(key), .standard = std::string()};
    field.toml = true;
    field.applies = applies;
    field.only_with = only_with;
    field.get = [text = std::move(text)](const Job& job) -> std::optional<OptionValue> {
      std::string made = text(job);
      return made.empty() ? std::nullopt : std::optional<OptionValue>(std::move(made));
    };
  }

  std::vector<JobField> take() { return std::move(fields_); }

 private:
  // Compiled once for each type of member: there are some fifty members.
  template <class Member>
  JobField& add_member(std::string section, OptionRule rule, const Member& (*read)(const Job&),
                       Member& (*write)(Job&)) {
    rule.standard = value_of(typename Type<Member>::type{});
    JobField& field = fields_.emplace_back();
    field.key = fmt::format("{}{}{}", section, section.empty() ? "" : ".", rule.name);
    field.rule = std::move(rule);
    field.get = [read](const Job& job) { return optional_value(read(job)); };
    field.set = [write](Job& job, const OptionValue& value) { assign(write(job), value); };
    return field;
  }

  template <class Kind, class Bag>
  void add_option_of(const std::string& section, const std::string& chooser, const std::vector<std::string>& chosen,
                     const std::vector<Kind>& kinds, const OptionRule& option, Bag bag) {
    OptionRule rule = option;
    bool applies = false;
    std::vector<std::string> owners;
    for (const auto& kind : kinds)
      for (const auto& own : kind.options) {
        if (own.name != option.name) continue;
        owners.push_back(kind.name);
        if (!std::count(chosen.begin(), chosen.end(), kind.name)) continue;
        rule = own;
        applies = true;
      }
    add_option(section, rule, applies, choice_text(section + "." + chooser, owners), bag);
  }

  std::vector<JobField> fields_;
};

void add_network(FieldList& list, const Job& job) {
  const auto& kinds = nn::all_networks();
  const bool layered = !job.network.layers.empty();
  const std::string built_in = "a built-in network: without network.layers";
  auto& name = list.add("network", {.name = "name", .choices = names_of(kinds)},
                        [](auto& j) -> auto& { return j.network.name; });
  name.applies = !layered, name.only_with = built_in;
  if (layered) name.rule.choices.clear();
  auto& width =
      list.add("network", {.name = "width", .low = 1, .high = 4096}, [](auto& j) -> auto& { return j.network.width; });
  width.applies = !layered, width.only_with = built_in;
  std::vector<std::string> several;  // networks of which a job may choose outputs
  for (const auto& kind : kinds)
    if (kind.outputs.size() > 1) several.push_back(kind.name);
  const auto* network = layered ? nullptr : find_kind(kinds, job.network.name);
  auto& field =
      list.add("network", {.name = "heads", .may_be_empty = layered}, [](auto& j) -> auto& { return j.network.heads; });
  field.applies = network && network->outputs.size() > 1;
  if (field.applies) field.rule.choices = names_of(network->outputs);
  field.only_with = choice_text("network.name", several);
  list.add_options("network", "name", {layered ? "" : job.network.name}, kinds,
                   [](auto& j) -> auto& { return j.network.options; });
  list.add("network", {.name = "initial_weights"}, [](auto& j) -> auto& { return j.initial_weights; }).before =
      std::string();
  list.add_tables("network.layers", layered, "", [](const Job& j) { return toml_text(j.network.layers); });
  list.add_tables("network.outputs", layered, "network.layers",
                  [](const Job& j) { return toml_text(j.network.outputs); });
}

void add_data(FieldList& list, const Job& job) {
  const auto& kinds = all_sources();
  const std::string chosen = job.data.source.value_or("");
  list.add("data", {.name = "source", .choices = names_of(kinds)}, [](auto& j) -> auto& { return j.data.source; });
  std::vector<std::string> folders;
  for (const auto& kind : kinds)
    if (kind.reads_folder) folders.push_back(kind.name);
  auto& path = list.add("data", {.name = "path", .changes_bits = false}, [](auto& j) -> auto& { return j.data.path; });
  path.applies = std::count(folders.begin(), folders.end(), chosen) > 0;
  path.only_with = choice_text("data.source", folders);
  list.add("data", {.name = "train_samples", .high = kMaxCount}, [](auto& j) -> auto& { return j.data.train_samples; });
  list.add("data", {.name = "test_samples", .high = kMaxCount}, [](auto& j) -> auto& { return j.data.test_samples; });
  list.add("data", {.name = "test_share", .high = 0.9}, [](auto& j) -> auto& { return j.data.test_share; });
  const auto options = [](auto& j) -> auto& { return j.data.options; };
  list.add_options("data", "source", {chosen}, kinds, options);
  list.add("data", {.name = "transforms", .choices = names_of(all_transforms()), .may_be_empty = true},
           [](auto& j) -> auto& { return j.data.transforms; });
  list.add_options("data", "transforms", job.data.transforms, all_transforms(), options);
}

void add_training(FieldList& list, const Job& job) {
  const auto add = [&](OptionRule rule, auto place) { list.add("training", std::move(rule), place); };
  const auto options = [](auto& j) -> auto& { return j.training.options; };
  add({.name = "solver", .choices = names_of(all_solvers())}, [](auto& j) -> auto& { return j.training.solver; });
  add({.name = "max_epochs", .low = 1, .high = kMaxCount}, [](auto& j) -> auto& { return j.training.max_epochs; });
  list.add("training", {.name = "max_iterations", .high = kMaxCount},
           [](auto& j) -> auto& { return j.training.max_iterations; })
      .before = int64_t{0};
  add({.name = "mini_batch_size", .low = 1, .high = kMaxCount},
      [](auto& j) -> auto& { return j.training.mini_batch_size; });
  add({.name = "shards", .low = 1, .high = 4096}, [](auto& j) -> auto& { return j.training.shards; });
  add({.name = "accumulate", .low = 1, .high = kMaxCount}, [](auto& j) -> auto& { return j.training.accumulate; });
  add({.name = "initial_learn_rate", .high = 1e6, .above_low = true},
      [](auto& j) -> auto& { return j.training.initial_learn_rate; });
  add({.name = "schedule", .choices = names_of(all_schedules()), .several = true},
      [](auto& j) -> auto& { return j.training.schedule; });
  const auto schedules = schedule_names(job.training.schedule);
  for (const auto& rule : sequence_options())
    list.add_option("training", rule, schedules.size() > 1,
                    "several schedules: training.schedule = \"warm-up, cosine\"", options);
  list.add_options("training", "schedule", schedules, all_schedules(), options);
  list.add_tables("training.groups", true, "", [](const Job& j) { return toml_text(j.training.groups); });
  add({.name = "l2_regularization", .high = 1e6}, [](auto& j) -> auto& { return j.training.l2_regularization; });
  add({.name = "gradient_threshold", .high = 1e30}, [](auto& j) -> auto& { return j.training.gradient_threshold; });
  add({.name = "gradient_threshold_method", .choices = {"l2norm", "global-l2norm", "absolute-value"}},
      [](auto& j) -> auto& { return j.training.gradient_threshold_method; });
  list.add_options("training", "solver", {job.training.solver}, all_solvers(), options);
  add({.name = "average_decay", .high = 1}, [](auto& j) -> auto& { return j.training.average_decay; });
  add({.name = "shuffle", .choices = {"never", "once", "every-epoch"}},
      [](auto& j) -> auto& { return j.training.shuffle; });
  add({.name = "partial_mini_batch", .choices = {"keep", "discard"}},
      [](auto& j) -> auto& { return j.training.partial_mini_batch; });
  list.add("training", {.name = "buckets", .low = 1, .high = kMaxCount, .may_be_empty = true, .ascending = true},
           [](auto& j) -> auto& { return j.training.buckets; })
      .before = std::vector<int64_t>();
  add({.name = "loader_threads", .high = 256, .changes_bits = false},
      [](auto& j) -> auto& { return j.training.loader_threads; });
  add({.name = "acceleration", .choices = {"plain", "default", "accelerated"}, .changes_bits = false},
      [](auto& j) -> auto& { return j.training.acceleration; });
  list.add("training", {.name = "mode", .choices = {kReproducible, kFast, kFastBf16}},
           [](auto& j) -> auto& { return j.training.mode; })
      .before = std::string(kReproducible);
  add({.name = "output_network", .choices = {"last-iteration", "best-validation"}},
      [](auto& j) -> auto& { return j.training.output_network; });
  list.add("training", {.name = "batch_norm_statistics", .choices = {"moving", "population"}},
           [](auto& j) -> auto& { return j.training.batch_norm_statistics; })
      .before = std::string("moving");
  const auto add_count = [&](const char* name, double low, auto place) {
    add({.name = name, .low = low, .high = kMaxCount, .changes_bits = false}, place);
  };
  add_count("checkpoint_iterations", 0, [](auto& j) -> auto& { return j.training.checkpoint_iterations; });
  add_count("checkpoint_epochs", 0, [](auto& j) -> auto& { return j.training.checkpoint_epochs; });
  add_count("checkpoint_seconds", 0, [](auto& j) -> auto& { return j.training.checkpoint_seconds; });
  add_count("checkpoints_kept", 1, [](auto& j) -> auto& { return j.training.checkpoints_kept; });
  add_count("snapshot_iterations", 0, [](auto& j) -> auto& { return j.training.snapshot_iterations; });
  add_count("fingerprint_iterations", 0, [](auto& j) -> auto& { return j.training.fingerprint_iterations; });
  add({.name = "metrics", .choices = names_of(all_metrics()), .may_be_empty = true},
      [](auto& j) -> auto& { return j.training.metrics; });
  list.add_options("training", "metrics", chosen_metrics(job), all_metrics(), options);
  add({.name = "timeout", .high = 1e6, .above_low = true, .changes_bits = false},
      [](auto& j) -> auto& { return j.training.timeout; });
}

void add_validation(FieldList& list) {
  list.add("validation", {.name = "data", .choices = {"none", "test"}},
           [](auto& j) -> auto& { return j.validation_data; });
  list.add("validation", {.name = "frequency", .low = 1, .high = kMaxCount},
           [](auto& j) -> auto& { return j.validation.frequency; });
  list.add("validation", {.name = "unit", .choices = {"epochs", "iterations"}},
           [](auto& j) -> auto& { return j.validation.unit; });
  list.add("validation", {.name = "patience", .high = kMaxCount},
           [](auto& j) -> auto& { return j.validation.patience; });
  list.add("validation", {.name = "objective"}, [](auto& j) -> auto& { return j.validation.objective; });
}

}  // namespace

std::vector<JobField> job_fields(const Job& job) {
  FieldList list;
  list.add("", {.name = "name", .changes_bits = false}, [](auto& j) -> auto& { return j.name; });
  list.add("", {.name = "seed", .high = 9007199254740991.0}, [](auto& j) -> auto& { return j.seed; });
  list.add("", {.name = "device", .changes_bits = false}, [](auto& j) -> auto& { return j.device; });
  list.add("", {.name = "workers", .high = 256, .changes_bits = false}, [](auto& j) -> auto& { return j.workers; });
  list.add("", {.name = "threads", .high = 256, .changes_bits = false}, [](auto& j) -> auto& { return j.threads; });
  add_network(list, job);
  add_data(list, job);
  add_training(list, job);
  add_validation(list);
  return list.take();
}

std::vector<std::string> chosen_metrics(const Job& job) {
  std::vector<std::string> names = job.training.metrics;
  if (names.empty())
    for (const auto& output : job.network.outputs) names.push_back(output.metric);
  return names;
}

const std::vector<std::string>& job_sections() {
  static const std::vector<std::string> names = {"network", "data", "training", "validation"};
  return names;
}

std::string section_of(const std::string& key) {
  const size_t dot = key.rfind('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

std::string name_of_key(const std::string& key) { return key.substr(key.rfind('.') + 1); }

}  // namespace retrace

#pragma once
// The keys and values of a job file or of overrides, before they are matched with fields; used by job*.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/train/job.h"

namespace retrace {

struct TableValue {};  // a section, or an inline table
struct OtherValue {};  // dates, mixed lists: no field takes them
struct RawValue {      // of an override: read as the field's type demands
  std::string text;
};
struct LayersValue {  // network.layers, and what is wrong with its form
  std::vector<nn::LayerText> layers;
  std::vector<Error> errors;
};
struct OutputsValue {  // network.outputs
  std::vector<nn::NetworkOutput> outputs;
  std::vector<Error> errors;
};
// What an entry of network.outputs may say.
const std::vector<std::string>& output_keys();
struct GroupsValue {  // training.groups
  std::vector<ParameterGroup> groups;
  std::vector<Error> errors;
};
using JobValue = std::variant<TableValue, OtherValue, RawValue, bool, int64_t, double, std::string,
                              std::vector<std::string>, std::vector<double>, LayersValue, OutputsValue, GroupsValue>;

struct JobEntry {
  std::string key;  // "training.solver"
  JobValue value;
  std::string shown;  // the value for messages
  std::string place;  // "jobs/x.toml:3:5" or "--set training.solver=x"
};

constexpr uint64_t kMaxJobBytes = 1'000'000;

// The entries of a TOML text in the order of the text, sections included; in place of network.file, which is relative
// to the folder, those of that file. Without a folder network.file is a key like any other. Throws Error(usage) for a
// syntax error, Error(missing) for a network file that is not there.
std::vector<JobEntry> toml_entries(std::string_view text, std::string_view file,
                                   const std::filesystem::path* folder = nullptr);
// The entries of a file, and behind them those of the overrides. Without the options of what overrides replace: keys
// of the file that have a meaning without the overrides and none with them.
std::vector<JobEntry> with_overrides(std::vector<JobEntry> file, const std::vector<JobOverride>& overrides);
// The values of entries, with the defaults that depend on them; nothing is checked.
Job unchecked_job(const std::vector<JobEntry>& entries);

}  // namespace retrace

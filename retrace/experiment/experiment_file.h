#pragma once
// The TOML file of an experiment (docs/experiments.md).

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "retrace/experiment/experiment.h"

namespace retrace {

struct ExperimentFile {
  std::string name;                   // the file's without .toml
  std::filesystem::path job;          // the job file, relative to the experiment's folder
  std::string objective = "loss";     // of the trained network: loss, or a metric of the job
  std::optional<bool> maximize = {};  // direction; nothing: as the objective wants it
  ExperimentOptions options = {};
};

// Error(usage) with all mistakes of the file, each with its line; missing for a file that is not there.
ExperimentFile read_experiment(const std::filesystem::path& file);
// The same from memory.
ExperimentFile parse_experiment(std::string_view text, const std::filesystem::path& file);

}  // namespace retrace

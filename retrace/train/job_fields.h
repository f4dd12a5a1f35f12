#pragma once
// The one list of a job's keys. Whatever treats keys (reading, checking, printing, overrides) goes through it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/base/option_rules.h"
#include "retrace/train/job.h"

namespace retrace {

struct JobField {
  std::string key;                    // "training.max_epochs"
  OptionRule rule;                    // its standard value says the type
  bool toml = false;                  // a list of tables: its value is their TOML text, and set() is never called
  bool applies = true;                // has a meaning, given the other fields
  std::optional<OptionValue> before;  // stands for it in runs from before the key; none: as old as contract 1
  std::string only_with;              // what gives it one: "training.solver = \"sgdm\""
  // Nothing for a value that nobody gave.
  std::function<std::optional<OptionValue>(const Job& job)> get;
  // A value of the field's type; a number beyond the range of the member becomes one that the rule refuses, too.
  std::function<void(Job& job, OptionValue value)> set;
};

// Every field, in the order of job files. What the options of a network, a source, a solver or a schedule may be, and
// which ones have a meaning, depends on the names in the job.
std::vector<JobField> job_fields(const Job& job);

// The metrics that are used: training.metrics, else those of the outputs that the job describes.
std::vector<std::string> chosen_metrics(const Job& job);

// The names of the sections.
const std::vector<std::string>& job_sections();
// "training" of "training.max_epochs"; "" for a key of the top level.
std::string section_of(const std::string& key);
// The name of an option without its section.
std::string name_of_key(const std::string& key);

}  // namespace retrace

#pragma once
// Trials as a table: for people, for programs, for spreadsheets.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/experiment/plan.h"

namespace retrace {

struct TrialTable {
  std::string objective;
  bool maximize = false;
  std::vector<TrialRecord> trials;  // in the order in which they are shown
};

// All trials of the study in a folder. Errors: as Study.
TrialTable read_trial_table(const std::filesystem::path& study);

// The last part of a parameter's name where it stands for one of all names alone, else the whole name.
std::string short_name(const std::string& name, const std::vector<std::string>& all);

// One parameter of some trials, as text; and as numbers, if all are.
struct ParameterColumn {
  std::vector<std::string> texts;
  std::vector<double> numbers;
  // The different texts, in their order.
  std::vector<std::string> kinds() const;
};
ParameterColumn parameter_column(const std::vector<const TrialRecord*>& trials, const std::string& name);

// The best trial that finished. Error(missing) if none did.
const TrialRecord& best_of(const TrialTable& table);

// The trials in one of the states (none: in any), for which all conditions hold: constraints (constraint.h) of columns
// of numbers. A trial without a number in a column that a condition names is left out. Errors: usage for what is not
// understood.
TrialTable filtered(const TrialTable& table, const std::vector<std::string>& conditions,
                    const std::vector<std::string>& states);
// By a column of table_csv(), "-loss": the largest first. Trials without a value come last. Error(usage) for another
// column.
void sort_trials(TrialTable& table, const std::string& column);

// Columns: trial, state, the objective, parameters, steps that were reported, seconds, fingerprint, note; and the best
// trial. A parameter has the last part of its name where no other one ends alike.
std::string table_text(const TrialTable& table);
// With whole names, all digits, and the columns job, version and data_digest left to JSON.
std::string table_csv(const TrialTable& table);
// {"objective":...,"direction":...,"best":...,"trials":[...]}
std::string table_json(const TrialTable& table);

}  // namespace retrace

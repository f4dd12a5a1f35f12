#include "retrace/experiment/trial_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/json.h"
#include "retrace/experiment/study.h"

namespace retrace {
namespace {

using Row = std::vector<std::string>;

std::vector<std::string> parameter_names(const TrialTable& table) {
  std::vector<std::string> names;
  for (const auto& trial : table.trials)
    for (const auto& [name, value] : trial.parameters)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string shown(double value) { return std::isnan(value) ? "" : fmt::format("{:.6g}", value); }

std::string shown(const TrialRecord& trial, const std::string& name) {
  const OptionValue* value = trial.parameters.find(name);
  if (!value) return "";
  const auto number = number_of(*value);
  return number && !std::holds_alternative<int64_t>(*value) ? shown(*number) : printable(value_text(*value));
}

std::string aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const Row& row) {
  std::string line;
  for (const auto& field : row) line += (line.empty() ? "" : ",") + csv_field(field);
  return line + "\n";
}

// The columns that every trial has, but for the state and texts.
std::optional<double> own_number(const TrialRecord& trial, const std::string& column) {
  if (column == "trial") return static_cast<double>(trial.number);
  if (column == "steps") return static_cast<double>(trial.reports.size());
  if (column == "iterations") return static_cast<double>(trial.iterations);
  if (column == "seconds") return trial.seconds;
  return std::nullopt;
}

// The number in a column; NaN where there is none.
double number_in_column(const TrialTable& table, const TrialRecord& trial, const std::string& column) {
  if (column == table.objective) return trial.value;
  if (const auto own = own_number(trial, column)) return *own;
  const OptionValue* value = trial.parameters.find(column);
  return value ? number_of(*value).value_or(std::nan("")) : std::nan("");
}

std::string text_in_column(const TrialRecord& trial, const std::string& column) {
  if (column == "state") return state_name(trial.state);
  if (column == "fingerprint") return trial.fingerprint;
  if (column == "note") return trial.note;
  const OptionValue* value = trial.parameters.find(column);
  return value ? value_text(*value) : "";
}

std::vector<std::string> columns_of(const TrialTable& table) {
  std::vector<std::string> names{"trial",      "state",   table.objective, "steps",
                                 "iterations", "seconds", "fingerprint",   "note"};
  for (const auto& name : parameter_names(table)) names.push_back(name);
  return names;
}

// The whole name of a column that is given in full or by its short name.
std::string column_named(const TrialTable& table, const std::string& given) {
  const auto names = columns_of(table), parameters = parameter_names(table);
  if (std::find(names.begin(), names.end(), given) != names.end()) return given;
  for (const auto& name : parameters)
    if (short_name(name, parameters) == given) return name;
  const std::string near = nearest(given, names);
  throw Error(ErrorKind::usage, 756, fmt::format("the table has no column \"{}\"", printable(given)))
      .expected(joined(names, ", "))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

Json json_of(const TrialRecord& trial) {
  std::vector<Json::Member> members;
  for (const auto& [name, value] : trial.parameters) {
    if (const auto* whole = std::get_if<int64_t>(&value))
      members.emplace_back(name, *whole);
    else if (const auto number = number_of(value))
      members.emplace_back(name, *number);
    else if (const auto* truth = std::get_if<bool>(&value))
      members.emplace_back(name, *truth);
    else
      members.emplace_back(name, value_text(value));
  }
  const auto report = [](const TrialReport& one) {
    return Json::object({{"step", one.step}, {"iteration", one.iteration}, {"value", one.value}});
  };
  return Json::object({{"trial", trial.number},
                       {"state", state_name(trial.state)},
                       {"parameters", Json::object(members)},
                       {"seed", static_cast<int64_t>(trial.seed)},
                       {"value", trial.value},
                       {"iterations", trial.iterations},
                       {"seconds", trial.seconds},
                       {"fingerprint", trial.fingerprint},
                       {"run", trial.run},
                       {"version", trial.version},
                       {"data_digest", trial.data_digest},
                       {"error", trial.error},
                       {"note", trial.note},
                       {"reports", Json::list(trial.reports, report)}});
}

}  // namespace

TrialTable read_trial_table(const std::filesystem::path& study) {
  const Study opened(study, Study::Use::read);
  return {opened.text("objective"), opened.text("direction") == "maximize", opened.trials()};
}

std::string short_name(const std::string& name, const std::vector<std::string>& all) {
  const std::string last = name.substr(name.rfind('.') + 1);
  const auto same = [&](const std::string& other) { return other == last || other.ends_with("." + last); };
  return std::count_if(all.begin(), all.end(), same) == 1 ? last : name;
}

std::vector<std::string> ParameterColumn::kinds() const {
  std::vector<std::string> kinds = texts;
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

ParameterColumn parameter_column(const std::vector<const TrialRecord*>& trials, const std::string& name) {
  ParameterColumn column;
  for (const auto* trial : trials) {
    const OptionValue* value = trial->parameters.find(name);
    column.texts.push_back(value ? value_text(*value) : "");
    if (const auto number = value ? number_of(*value) : std::nullopt) column.numbers.push_back(*number);
  }
  if (column.numbers.size() < trials.size()) column.numbers.clear();
  return column;
}

const TrialRecord& best_of(const TrialTable& table) {
  const int64_t best = best_trial(table.trials, table.maximize);
  if (best == 0) throw Error(ErrorKind::missing, 757, "no trial of the study has finished");
  return *std::find_if(table.trials.begin(), table.trials.end(), [&](const auto& one) { return one.number == best; });
}

TrialTable filtered(const TrialTable& table, const std::vector<std::string>& conditions,
                    const std::vector<std::string>& states) {
  std::vector<std::string> names = columns_of(table);
  const auto parameters = parameter_names(table);
  for (const auto& name : parameters) names.push_back(short_name(name, parameters));
  std::vector<Constraint> all;
  for (const auto& text : conditions) all.emplace_back(text, names);
  TrialTable result{table.objective, table.maximize, {}};
  for (const auto& trial : table.trials) {
    std::vector<double> numbers;
    for (const auto& name : names) numbers.push_back(number_in_column(table, trial, column_named(table, name)));
    const bool holds = std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.holds(numbers); });
    const bool state = std::find(states.begin(), states.end(), state_name(trial.state)) != states.end();
    if (holds && (states.empty() || state)) result.trials.push_back(trial);
  }
  for (const auto& state : states) state_of(state);
  return result;
}

void sort_trials(TrialTable& table, const std::string& column) {
  const bool descending = column.starts_with('-');
  const std::string name = column_named(table, descending ? column.substr(1) : column);
  const auto before = [&](const TrialRecord& a, const TrialRecord& b) {
    const double x = number_in_column(table, a, name), y = number_in_column(table, b, name);
    if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
    if (x != y && !std::isnan(x)) return descending ? x > y : x < y;
    const std::string p = text_in_column(a, name), q = text_in_column(b, name);
    if (std::isnan(x) && p != q) return descending ? p > q : p < q;
    return a.number < b.number;
  };
  std::sort(table.trials.begin(), table.trials.end(), before);
}

std::string table_text(const TrialTable& table) {
  const auto names = parameter_names(table);
  Row head{"trial", "state", table.objective};
  for (const auto& name : names) head.push_back(printable(short_name(name, names)));
  head.insert(head.end(), {"steps", "seconds", "fingerprint", "note"});
  std::vector<Row> rows{head};
  for (const auto& trial : table.trials) {
    Row row{fmt::format("{}", trial.number), state_name(trial.state), shown(trial.value)};
    for (const auto& name : names) row.push_back(shown(trial, name));
    row.insert(row.end(), {fmt::format("{}", trial.reports.size()), fmt::format("{:.1f}", trial.seconds),
                           trial.fingerprint, printable(trial.note)});
    rows.push_back(std::move(row));
  }
  const int64_t best = best_trial(table.trials, table.maximize);
  const auto found =
      std::find_if(table.trials.begin(), table.trials.end(), [&](const auto& t) { return t.number == best; });
  return aligned(rows) + (best == 0
                              ? "best: none finished\n"
                              : fmt::format("best: trial {}, {} {}\n", best, table.objective, shown(found->value)));
}

std::string table_csv(const TrialTable& table) {
  const auto names = parameter_names(table);
  Row head{"trial", "state", table.objective};
  head.insert(head.end(), names.begin(), names.end());
  head.insert(head.end(), {"seed", "steps", "iterations", "seconds", "fingerprint", "run", "note"});
  std::string text = csv_line(head);
  for (const auto& trial : table.trials) {
    Row row{fmt::format("{}", trial.number), state_name(trial.state),
            std::isnan(trial.value) ? "" : fmt::format("{}", trial.value)};
    for (const auto& name : names) {
      const OptionValue* value = trial.parameters.find(name);
      row.push_back(value ? value_text(*value) : "");
    }
    row.insert(row.end(), {fmt::format("{}", trial.seed), fmt::format("{}", trial.reports.size()),
                           fmt::format("{}", trial.iterations), fmt::format("{:.3f}", trial.seconds), trial.fingerprint,
                           trial.run, trial.note});
    text += csv_line(row);
  }
  return text;
}

std::string table_json(const TrialTable& table) {
  const int64_t best = best_trial(table.trials, table.maximize);
  return Json::object({{"objective", table.objective},
                       {"direction", table.maximize ? "maximize" : "minimize"},
                       {"best", best == 0 ? Json() : Json(best)},
                       {"trials", Json::list(table.trials, [](const auto& trial) { return json_of(trial); })}})
      .text();
}

}  // namespace retrace

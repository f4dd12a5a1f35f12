#include "retrace/train/solver_mistakes.h"

#include <fmt/format.h>

#include "retrace/base/joined.h"
#include "retrace/optim/solver_kind.h"

namespace retrace {
namespace {

using Texts = std::vector<std::string>;

const OptionRule* rule_of(const SolverKind& solver, const std::string& name) {
  for (const auto& rule : solver.options)
    if (rule.name == name) return &rule;
  return nullptr;
}

std::string number_of(const OptionValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return fmt::format("{}", *whole);
  return fmt::format("{}", std::get<double>(value));
}

bool is_number(const OptionValue& value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
}

class GroupCheck {
 public:
  explicit GroupCheck(const SolverKind& solver) : solver_(solver) {}

  void check(const ParameterGroup& group) {
    place_ = group.place;
    check_range({.name = "learn_rate_factor", .high = 1e6}, group.learn_rate_factor);
    check_range({.name = "l2_factor", .high = 1e6}, group.l2_factor);
    for (const auto& [name, value] : group.options)
      if (const auto* rule = rule_of(solver_, name))
        check_value(*rule, value);
      else
        add_unknown(name);
  }
  std::vector<Error> take() { return std::move(errors_); }

 private:
  Error& report(int code, const std::string& what) {
    Error& error = errors_.emplace_back(ErrorKind::usage, code, what);
    return place_.empty() ? error : error.where(place_);
  }

  void check_value(const OptionRule& rule, const OptionValue& value) {
    if (value.index() != rule.standard.index())
      report(465, fmt::format("{} of a group of parameters has another type than that of the solver", rule.name))
          .help(fmt::format("write it as training.{}", rule.name));
    else if (is_number(value))
      check_range(rule, value);
  }

  void check_range(const OptionRule& rule, const OptionValue& value) {
    const double number =
        std::holds_alternative<double>(value) ? std::get<double>(value) : static_cast<double>(std::get<int64_t>(value));
    const bool fits = rule.above_low ? number > rule.low : number >= rule.low;
    if (rule.low >= rule.high || (fits && number <= rule.high)) return;
    report(465, fmt::format("{} of a group of parameters is out of range", rule.name))
        .got(number_of(value))
        .expected(fmt::format("{} {} to {}", rule.above_low ? "above" : "from", rule.low, rule.high));
  }

  void add_unknown(const std::string& name) {
    Texts known{"parameters", "learn_rate_factor", "l2_factor", "frozen"}, owners;
    for (const auto& rule : solver_.options) known.emplace_back(rule.name);
    for (const auto& other : all_solvers())
      if (rule_of(other, name)) owners.push_back(fmt::format("\"{}\"", other.name));
    Error& error = report(464, fmt::format("unknown key \"{}\" of a group of parameters", name));
    error.expected(joined(known, ", "));
    if (const auto near = nearest(name, known); !near.empty())
      error.help(fmt::format("did you mean \"{}\"?", near));
    else if (!owners.empty())
      error.help(fmt::format("it has a meaning with training.solver = {}", joined(owners, " or ")));
  }

  const SolverKind& solver_;
  std::string place_;
  std::vector<Error> errors_;
};

// What has no meaning for a solver that looks at all data in each step.
void find_rates(const TrainingOptions& training, const SolverKind& solver, const GivenKeys& given,
                std::vector<Error>& errors) {
  const auto refuse = [&](const char* key, const char* standard) {
    errors.push_back(job_mistake(given, 466, key,
                                 fmt::format("{} has no meaning with solver \"{}\": it sees all data in each step", key,
                                             solver.name))
                         .expected(standard)
                         .help("remove it"));
  };
  if (training.initial_learn_rate != solver.learn_rate) refuse("training.initial_learn_rate", "none: it has no rate");
  if (training.schedule != "none") refuse("training.schedule", "none");
  if (training.accumulate != 1) refuse("training.accumulate", "1");
  if (training.gradient_threshold != 0) refuse("training.gradient_threshold", "0");
  if (training.shuffle == "every-epoch") refuse("training.shuffle", "never, once");
  for (const auto& group : training.groups)
    if (group.learn_rate_factor != 1 || !group.options.empty())
      refuse("training.groups", "groups with l2_factor and frozen alone");
}

}  // namespace

std::vector<Error> find_solver_mistakes(const TrainingOptions& training, const GivenKeys& given) {
  const SolverKind& solver = kind_of(all_solvers(), training.solver, "solver", {});
  GroupCheck check(solver);
  for (const auto& group : training.groups) check.check(group);
  std::vector<Error> errors = check.take();
  if (solver.step_on_all) find_rates(training, solver, given, errors);
  return errors;
}

}  // namespace retrace

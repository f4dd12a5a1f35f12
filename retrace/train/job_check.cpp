#include "retrace/train/job_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/device/device.h"
#include "retrace/nn/layer_graph.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/layer_mistakes.h"

namespace retrace {
namespace {

// The choices with commas between them; punctuation stands in quotes.
std::string choices_text(const OptionRule& rule) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::vector<std::string> texts = rule.choices;
  for (std::string& text : texts)
    if (std::none_of(text.begin(), text.end(), is_letter)) text = fmt::format("\"{}\"", text);
  return joined(texts, ", ");
}

std::string shown(const std::string& value) { return fmt::format("\"{}\"", printable(value.substr(0, 80))); }
template <class Number>
  requires std::is_arithmetic_v<Number>
std::string shown(Number value) {
  return fmt::format("{}", value);
}

std::string bound(double value) {
  return std::abs(value) >= 1 && std::abs(value) <= 1e16 ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

class Checker {
 public:
  Checker(const Job& job, const GivenKeys& given, std::set<std::string> faulty)
      : job_(job), given_(given), faulty_(std::move(faulty)) {}

  std::vector<Error> run() {
    const auto fields = job_fields(job_);
    for (const auto& field : fields) {
      key_ = field.key;
      const size_t before = errors_.size();
      if (const auto value = field.get(job_)) std::visit([&](const auto& typed) { check(typed, field.rule); }, *value);
      if (errors_.size() > before) faulty_.insert(section_of(key_));
    }
    check_texts();
    check_options(fields);
    if (!errors_.empty() || !faulty_.empty()) {
      check_layers();
      return std::move(errors_);
    }
    check_applies(fields);
    for (auto& error : find_misfits(job_, given_)) errors_.push_back(std::move(error));
    return std::move(errors_);
  }

 private:
  Error mistake(int code, const std::string& key, const std::string& what) const {
    return job_mistake(given_, code, key, what);
  }

  Error out_of_range(const std::string& what, const std::string& expected) const {
    return mistake(414, key_, fmt::format("{} {}", key_, what)).expected(expected);
  }

  void check(bool, const OptionRule&) {}

  static bool in_range(double number, const OptionRule& rule) {  // NaN is not
    return rule.low >= rule.high ||
           (rule.above_low ? number > rule.low && number <= rule.high : number >= rule.low && number <= rule.high);
  }

  void add_range_error(const std::string& value, const OptionRule& rule) {
    auto error = out_of_range("is out of range", fmt::format("{} {} to {}", rule.above_low ? "above" : "from",
                                                             bound(rule.low), bound(rule.high)));
    if (!given_.count(key_)) error.got(value);
    errors_.push_back(error);
  }

  template <class Number>
    requires std::is_arithmetic_v<Number>
  void check(Number value, const OptionRule& rule) {
    if (!in_range(static_cast<double>(value), rule)) add_range_error(shown(value), rule);
  }

  void check(const std::vector<double>& values, const OptionRule& rule) {
    const auto wrong = std::find_if(values.begin(), values.end(), [&](double one) { return !in_range(one, rule); });
    if (wrong != values.end()) return add_range_error(shown(*wrong), rule);
    if (rule.range && (values.size() != 2 || !(values[0] <= values[1])))
      return errors_.push_back(out_of_range("is no range", "two numbers, [LOWEST, HIGHEST]"));
    if (values.empty() && !rule.may_be_empty)
      errors_.push_back(out_of_range("is empty", "a number, or some in a list"));
  }

  void check(const std::string& value, const OptionRule& rule) {
    if (rule.choices.empty()) return;
    for (const auto& name : rule.several ? schedule_names(value) : std::vector{value})
      if (!std::count(rule.choices.begin(), rule.choices.end(), name)) return add_choice_error(name, rule);
  }

  void check(const std::vector<std::string>& values, const OptionRule& rule) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!rule.choices.empty() && !std::count(rule.choices.begin(), rule.choices.end(), values[i]))
        return add_choice_error(values[i], rule);
      if (std::count(values.begin(), values.begin() + static_cast<ptrdiff_t>(i), values[i]))
        return errors_.push_back(out_of_range(fmt::format("has \"{}\" twice", values[i]), "each at most once"));
    }
    if (rule.may_be_empty) return;
    if (const auto found = given_.find(key_); values.empty() || (found != given_.end() && found->second.empty))
      errors_.push_back(out_of_range("is empty", fmt::format("some of {}", choices_text(rule))));
  }

  void check(const std::vector<int64_t>& values, const OptionRule& rule) {
    const auto good = [&](int64_t one) { return in_range(static_cast<double>(one), rule); };
    if (const auto wrong = std::find_if_not(values.begin(), values.end(), good); wrong != values.end())
      return add_range_error(shown(*wrong), rule);
    if (rule.ascending && std::adjacent_find(values.begin(), values.end(), std::greater_equal()) != values.end())
      errors_.push_back(out_of_range("is not ascending", "each number above the one before"));
  }

  void add_choice_error(const std::string& value, const OptionRule& rule) {
    auto error = mistake(415, key_, fmt::format("{} has no choice {}", key_, shown(value)));
    error.got("").expected(choices_text(rule));
    if (const auto near = nearest(value, rule.choices); !near.empty())
      error.help(fmt::format("did you mean \"{}\"?", near));
    errors_.push_back(error);
  }

  void check_texts() {
    if (!is_job_name(job_.name))
      errors_.push_back(mistake(414, "name", "name cannot name a folder")
                            .got(shown(job_.name))
                            .expected("1 to 64 letters, digits, '.', '_' or '-', the first a letter or digit"));
    if (!is_device_name(job_.device)) {
      const auto near = nearest(job_.device, {"cpu", "cuda", "gpu", "auto", "cuda:0"});
      errors_.push_back(mistake(415, "device", fmt::format("device has no choice {}", shown(job_.device)))
                            .got("")
                            .expected("cpu, cuda, cuda:N, cuda:N,M, auto")
                            .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near)));
    }
    if (job_.data.path.find('\0') != std::string::npos)
      errors_.push_back(mistake(414, "data.path", "data.path has a NUL character"));
  }

  // Of a job made in code: options that no kind has.
  void check_options(const std::vector<JobField>& fields) {
    const auto known = [&](const std::string& key) {
      return std::any_of(fields.begin(), fields.end(), [&](const JobField& field) { return field.key == key; });
    };
    for (const auto& [section, options] :
         {std::pair("network", &job_.network.options), std::pair("data", &job_.data.options),
          std::pair("training", &job_.training.options)})
      for (const auto& [name, value] : *options)
        if (const std::string key = fmt::format("{}.{}", section, name); !known(key))
          errors_.push_back(mistake(434, key, fmt::format("unknown key \"{}\"", key)));
  }

  // Of a job that has other mistakes.
  void check_layers() {
    if (job_.network.layers.empty() || faulty_.count("network")) return;
    const SourceKind* source = job_.data.source ? find_kind(all_sources(), *job_.data.source) : nullptr;
    if (source && !faulty_.count("data"))
      for (auto& error : find_layer_mistakes(job_, given_, *source)) errors_.push_back(std::move(error));
    else
      nn::checked_layers(job_.network.layers, job_.network.outputs, errors_);
  }

  // Options of another solver, schedule, network or source.
  void check_applies(const std::vector<JobField>& fields) {
    for (const auto& field : fields) {
      if (field.applies || !given_.count(field.key)) continue;
      const std::string what = fmt::format("{} has a meaning only with {}", field.key, field.only_with);
      errors_.push_back(mistake(416, field.key, what).help("remove it"));
    }
  }

  const Job& job_;
  const GivenKeys& given_;
  std::set<std::string> faulty_;  // sections with mistakes
  std::string key_;
  std::vector<Error> errors_;
};

}  // namespace

Error job_mistake(const GivenKeys& given, int code, const std::string& key, const std::string& what) {
  Error error(ErrorKind::usage, code, what);
  if (const auto found = given.find(key); found != given.end())
    error.where(found->second.place).got(found->second.shown);
  return error;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool is_job_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxJobName && name[0] != '.' && name[0] != '-' && name[0] != '_' &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

std::vector<Error> find_mistakes(const Job& job, const GivenKeys& given, std::set<std::string> faulty) {
  return Checker(job, given, std::move(faulty)).run();
}

void check_job(const Job& job) { throw_all(find_mistakes(resolved(job), {})); }

}  // namespace retrace

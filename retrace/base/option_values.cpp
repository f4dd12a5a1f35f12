#include "retrace/base/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "retrace/base/copy_variant.h"
#include "retrace/base/error.h"
#include "retrace/base/joined.h"
#include "retrace/base/option_rules.h"

namespace retrace {

OptionValue::OptionValue(const OptionValue& other) : variant(copy_of(other)) {}

OptionValues::OptionValues() = default;
OptionValues::OptionValues(const OptionValues&) = default;
OptionValues::OptionValues(OptionValues&&) noexcept = default;
OptionValues& OptionValues::operator=(const OptionValues&) = default;
OptionValues& OptionValues::operator=(OptionValues&&) noexcept = default;
OptionValues::~OptionValues() = default;

OptionValues::OptionValues(std::initializer_list<Entry> values) {
  for (const auto& [name, value] : values) set(name, value);
}

void OptionValues::set(std::string_view name, OptionValue value) {
  const auto at = std::find_if(values_.begin(), values_.end(), [&](const Entry& entry) { return entry.first >= name; });
  if (at != values_.end() && at->first == name)
    at->second = std::move(value);
  else
    values_.emplace(at, std::string(name), std::move(value));
}

const OptionValue* OptionValues::find(std::string_view name) const {
  const auto at = std::find_if(values_.begin(), values_.end(), [&](const Entry& entry) { return entry.first == name; });
  return at == values_.end() ? nullptr : &at->second;
}

const OptionValues::Entry* OptionValues::begin() const { return values_.data(); }
const OptionValues::Entry* OptionValues::end() const { return values_.data() + values_.size(); }
bool OptionValues::operator==(const OptionValues& other) const { return values_ == other.values_; }

template <class Value>
const Value& OptionValues::get(std::string_view name) const {
  const OptionValue* value = find(name);
  if (!value) throw Error(ErrorKind::usage, 430, fmt::format("the option \"{}\" has no value", name));
  if (const auto* typed = std::get_if<Value>(value)) return *typed;
  throw Error(ErrorKind::usage, 431, fmt::format("the option \"{}\" has another type", name));
}

bool OptionValues::truth(std::string_view name) const { return get<bool>(name); }
int64_t OptionValues::integer(std::string_view name) const { return get<int64_t>(name); }
const std::string& OptionValues::text(std::string_view name) const { return get<std::string>(name); }
const std::vector<std::string>& OptionValues::texts(std::string_view name) const {
  return get<std::vector<std::string>>(name);
}

const std::vector<int64_t>& OptionValues::integers(std::string_view name) const {
  return get<std::vector<int64_t>>(name);
}

const std::vector<double>& OptionValues::numbers(std::string_view name) const { return get<std::vector<double>>(name); }

double OptionValues::number(std::string_view name) const {
  const OptionValue* value = find(name);
  if (value && std::holds_alternative<int64_t>(*value)) return static_cast<double>(std::get<int64_t>(*value));
  return get<double>(name);
}

namespace {

// A whole number as a number, one number as a list of numbers, where the standard value is one; else the value.
OptionValue as_type_of(const OptionValue& standard, const OptionValue& value) {
  const bool list = std::holds_alternative<std::vector<double>>(standard);
  if (!list && !std::holds_alternative<double>(standard)) return value;
  const auto made = [&](double number) {
    return list ? OptionValue(std::vector<double>{number}) : OptionValue(number);
  };
  if (const auto* whole = std::get_if<int64_t>(&value)) return made(static_cast<double>(*whole));
  if (const auto* number = std::get_if<double>(&value)) return made(*number);
  if (const auto* wholes = std::get_if<std::vector<int64_t>>(&value); wholes && list)
    return std::vector<double>(wholes->begin(), wholes->end());
  return value;
}

}  // namespace

std::string_view kept_text(std::string text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard locked(mutex);
  return *texts.insert(std::move(text)).first;
}

OptionValues with_standard_values(OptionValues given, const std::vector<OptionRule>& rules) {
  for (const auto& rule : rules)
    given.set(rule.name, given.find(rule.name) ? as_type_of(rule.standard, *given.find(rule.name)) : rule.standard);
  return given;
}

OptionValues completed(const OptionValues& given, const std::vector<OptionRule>& rules, std::string_view owner) {
  OptionValues all = with_standard_values({}, rules);
  for (const auto& [name, value] : given) {
    const OptionValue* standard = all.find(name);
    if (!standard) {
      std::vector<std::string> names;
      for (const auto& rule : rules) names.emplace_back(rule.name);
      const auto near = nearest(name, names);
      throw Error(ErrorKind::usage, 432, fmt::format("{} has no option \"{}\"", owner, name))
          .expected(names.empty() ? "no options" : joined(names, ", "))
          .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
    }
    OptionValue made = as_type_of(*standard, value);
    if (made.index() != standard->index())
      throw Error(ErrorKind::usage, 431, fmt::format("{}: the option \"{}\" has another type", owner, name));
    all.set(name, std::move(made));
  }
  return all;
}

}  // namespace retrace

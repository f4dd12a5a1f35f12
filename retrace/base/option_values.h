#pragma once
// Options of things that are chosen by name (a network, a solver, a schedule, ...): their values.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace retrace {

// One value. A copy that runs out of memory throws std::bad_alloc, where that of std::variant may end the process.
class OptionValue : public std::variant<bool, int64_t, double, std::string, std::vector<std::string>,
                                        std::vector<int64_t>, std::vector<double>> {
 public:
  using variant::variant;
  OptionValue() = default;
  OptionValue(const OptionValue&);
  OptionValue(OptionValue&&) noexcept = default;
  OptionValue& operator=(const OptionValue&) = default;
  OptionValue& operator=(OptionValue&&) noexcept = default;
};

// Values by the names of their options, in the order of the names.
class OptionValues {
 public:
  using Entry = std::pair<std::string, OptionValue>;

  OptionValues();
  OptionValues(std::initializer_list<Entry> values);
  OptionValues(const OptionValues&);
  OptionValues(OptionValues&&) noexcept;
  OptionValues& operator=(const OptionValues&);
  OptionValues& operator=(OptionValues&&) noexcept;
  ~OptionValues();

  void set(std::string_view name, OptionValue value);
  // Null if there is none.
  const OptionValue* find(std::string_view name) const;
  // The value of an option of that type; a whole number is a number, too. Throws Error(usage) if there is none.
  bool truth(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;
  const std::vector<int64_t>& integers(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;

  bool empty() const { return values_.empty(); }
  const Entry* begin() const;
  const Entry* end() const;
  bool operator==(const OptionValues& other) const;

 private:
  template <class Value>
  const Value& get(std::string_view name) const;
  std::vector<Entry> values_;  // sorted by name
};

}  // namespace retrace

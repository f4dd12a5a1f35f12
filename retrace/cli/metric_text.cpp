#include "retrace/cli/metric_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace retrace::cli {

std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

std::string metrics_text(double loss, const MetricValues& metrics) {
  std::string text = "loss " + number_text(loss);
  for (const auto& [name, value] : metrics) text += fmt::format(", {} {}", name, number_text(value));
  return text;
}

std::string columns_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      text += i == 0 ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    text += "\n";
  }
  return text;
}

std::string table_text(const std::string& name, const MetricTable& table, const std::vector<std::string>& names) {
  const auto name_of = [&](size_t i) { return names.empty() ? fmt::format("{}", i) : names[i]; };
  std::vector<std::vector<std::string>> rows{{""}};
  for (size_t i = 0; i < table.size(); ++i) {
    rows[0].push_back(name_of(i));
    rows.push_back({name_of(i)});
    for (const double value : table[i]) rows.back().push_back(number_text(value));
  }
  return name + ": classes in rows, what was predicted in columns\n" + columns_text(rows);
}

}  // namespace retrace::cli

#include "retrace/data/csv_look.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/data/csv_table.h"
#include "retrace/data/label_classes.h"

namespace retrace {
namespace {

constexpr size_t kMostCategories = 50;  // of a column of texts that is taken for categories

// What the cells of a column are.
struct LookedAt {
  std::string name;
  bool numbers = true, empty = false;
  std::set<std::string> texts = {};  // different ones; of features no more than tell what they are

  void add(const CsvCell& cell, bool all) {
    if (cell.text.empty()) {
      empty = true;
      return;
    }
    numbers = numbers && is_csv_number(cell.text);
    if (all || texts.size() <= kMostCategories) texts.insert(cell.text);
  }
};

int64_t numbers_in(const std::vector<CsvCell>& cells) {
  return std::count_if(cells.begin(), cells.end(),
                       [](const CsvCell& cell) { return !cell.quoted && is_csv_number(cell.text); });
}

class Look {
 public:
  Look(std::string_view text, std::string_view name) : reader_(text, name) {}

  OptionValues options() {
    if (!reader_.next()) return {};
    const std::vector<CsvCell> first = reader_.cells();
    bool more = reader_.next();
    header_ = numbers_in(first) == 0 || (more && numbers_in(first) < numbers_in(reader_.cells()));
    for (size_t i = 0; i < first.size(); ++i) columns_.push_back({header_ ? first[i].text : std::to_string(i + 1)});
    if (!header_) add(first);
    for (; more; more = reader_.next()) add(reader_.cells());
    return found();
  }

 private:
  // A record of another length is told when the file is read.
  void add(const std::vector<CsvCell>& cells) {
    ++records_;
    for (size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i)
      columns_[i].add(cells[i], i + 1 == columns_.size());
  }

  OptionValues found() const {
    std::vector<std::string> categorical, ignored;
    int64_t features = 0;
    bool empty = false;
    for (size_t i = 0; i + 1 < columns_.size(); ++i) {
      const LookedAt& column = columns_[i];
      const bool few = column.texts.size() <= kMostCategories && 2 * column.texts.size() <= records_;
      if (column.texts.empty() || (!column.numbers && !few)) {
        ignored.push_back(column.name);
        continue;
      }
      if (!column.numbers) categorical.push_back(column.name);
      features += column.numbers ? 1 : static_cast<int64_t>(column.texts.size()) + column.empty;
      empty = empty || column.empty;
    }
    OptionValues options{{"features", features}, {"header", header_}};
    options.set("task", std::string(are_class_labels(columns_.back().texts) ? "classification" : "regression"));
    if (!categorical.empty()) options.set("categorical_columns", categorical);
    if (!ignored.empty()) options.set("ignored_columns", ignored);
    if (empty) options.set("empty_cells", std::string("mean"));
    return options;
  }

  CsvReader reader_;
  std::vector<LookedAt> columns_;
  bool header_ = true;
  size_t records_ = 0;
};

}  // namespace

OptionValues look_at_csv(const std::filesystem::path& file) {
  const std::string text = read_file(file, "CSV file", kCsvLimit);
  return Look(text, file.string()).options();
}

}  // namespace retrace

#include "retrace/data/csv_encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"

namespace retrace {
namespace {

constexpr int64_t kMostWidth = 1'000'000, kMostNumbers = int64_t{1} << 32;  // of a record, of the table
constexpr size_t kMostUnknown = 20;                                         // that are told together

using Categories = std::vector<std::string>;

Categories categories_found(const std::vector<CsvLabel>& texts) {
  std::set<std::string> found;
  for (const auto& text : texts) found.insert(text.text);
  return {found.begin(), found.end()};
}

// Which records train.
std::vector<bool> training_rows(const CsvTable& table) {
  std::vector<bool> rows(static_cast<size_t>(table.rows), true);
  for (const int64_t row : table.parts.test) rows[static_cast<size_t>(row)] = false;
  return rows;
}

// The mean of the numbers that are there in records that train, added in their order.
float mean_found(const CsvTable& table, const std::vector<bool>& trains, size_t column) {
  double sum = 0;
  int64_t count = 0;
  for (size_t row = 0; row < trains.size(); ++row)
    if (const float number = table.features[row * table.columns.size() + column]; trains[row] && !std::isnan(number))
      sum += static_cast<double>(number), ++count;
  if (count == 0)
    throw Error(ErrorKind::bad_data, 300,
                fmt::format("the column \"{}\" has no number, and so no mean", printable(table.columns[column])))
        .where(table.name)
        .help("name it in ignored (in a job data.ignored_columns)");
  return static_cast<float>(sum / static_cast<double>(count));
}

void find_categories(CsvTable& table, const CsvColumns& wanted, const CsvTexts& texts) {
  table.categories.assign(table.columns.size(), {});
  for (const auto& [place, list] : texts)
    table.categories[place] = wanted.categories.empty() ? categories_found(list) : wanted.categories[place];
}

void find_means(CsvTable& table, const CsvColumns& wanted) {
  if (wanted.empty != EmptyCells::mean) return;
  table.means.assign(table.columns.size(), 0);
  const std::vector<bool> trains = training_rows(table);
  for (size_t i = 0; i < table.columns.size(); ++i)
    if (table.categories[i].empty())
      table.means[i] = wanted.means.size() == table.columns.size() ? wanted.means[i] : mean_found(table, trains, i);
}

std::string listed_categories(const Categories& categories) {
  Categories some(categories.begin(),
                  categories.begin() + static_cast<ptrdiff_t>(std::min(categories.size(), kMostUnknown)));
  std::ranges::replace(some, std::string(), "an empty cell");
  return printable(joined(some, ", ") + (some.size() < categories.size() ? ", ..." : ""));
}

Error unknown_category(const CsvTable& table, size_t place, const CsvLabel& text) {
  return Error(ErrorKind::bad_data, 400,
               fmt::format("the column \"{}\" has no category \"{}\"", printable(table.columns[place]),
                           printable(text.text.substr(0, 40))))
      .where(fmt::format("{}:{}:{}", table.name, text.position.line, text.position.column))
      .expected(listed_categories(table.categories[place]))
      .help(
          "categories are those of the training set: add records of this one there, remove the record, or take zeros "
          "for unknown ones by unknown_categories (in a job data.unknown_categories = \"zeros\")");
}

// Numbers with means for those that are not there, and the places of categories and of parts of dates.
class Encoded {
 public:
  Encoded(const CsvTable& table, const CsvColumns& wanted, const CsvTexts& texts, const CsvDates& dates)
      : table_(table), wanted_(wanted), texts_(texts), dates_(dates) {
    for (size_t i = 0; i < table.categories.size(); ++i) {
      places_.push_back(width_);
      width_ += dates.contains(i) ? wanted.date_options.width()
                                  : std::max<int64_t>(1, static_cast<int64_t>(table.categories[i].size()));
    }
  }
  int64_t width() const { return width_; }

  std::vector<float> rows() {
    std::vector<float> rows(static_cast<size_t>(table_.rows * width_));
    for (size_t column = 0; column < places_.size(); ++column)
      table_.categories[column].empty() ? add_numbers(column, rows) : add_categories(column, rows);
    for (const auto& [column, dates] : dates_)
      for (int64_t row = 0; row < table_.rows; ++row)
        wanted_.date_options.add_parts(dates[static_cast<size_t>(row)], rows.data() + at(row, column) + 1);
    throw_all(unknown_);
    return rows;
  }

 private:
  size_t at(int64_t row, size_t column) const { return static_cast<size_t>(row * width_ + places_[column]); }

  void add_numbers(size_t column, std::vector<float>& rows) const {
    for (int64_t row = 0; row < table_.rows; ++row) {
      const float number = table_.features[static_cast<size_t>(row) * table_.columns.size() + column];
      rows[at(row, column)] = std::isnan(number) ? table_.means[column] : number;
    }
  }

  void add_categories(size_t column, std::vector<float>& rows) {
    const Categories& known = table_.categories[column];
    const auto& texts = texts_.at(column);
    for (int64_t row = 0; row < table_.rows && unknown_.size() < kMostUnknown; ++row) {
      const CsvLabel& text = texts[static_cast<size_t>(row)];
      const auto found = std::lower_bound(known.begin(), known.end(), text.text);
      if (found != known.end() && *found == text.text)
        rows[at(row, column) + static_cast<size_t>(found - known.begin())] = 1;
      else if (!wanted_.unknown_is_zeros)
        unknown_.push_back(unknown_category(table_, column, text));
    }
  }

  const CsvTable& table_;
  const CsvColumns& wanted_;
  const CsvTexts& texts_;
  const CsvDates& dates_;
  std::vector<int64_t> places_;
  int64_t width_ = 0;
  std::vector<Error> unknown_;
};

void check_width(const CsvTable& table, const CsvColumns& wanted, int64_t width) {
  if (width > kMostWidth || width > kMostNumbers / table.rows)
    throw Error(ErrorKind::bad_data, 469, fmt::format("the features of the CSV file make {} numbers a record", width))
        .where(table.name)
        .expected(fmt::format("at most {}", std::min(kMostWidth, kMostNumbers / table.rows)))
        .help("name columns with fewer categories");
  if (wanted.features > 0 && width != wanted.features)
    throw Error(ErrorKind::bad_data, 472, fmt::format("the CSV file makes {} features", width))
        .where(table.name)
        .got(fmt::format("{} columns, of which each category{} is a feature", table.columns.size(),
                         wanted.date_options.width() > 1 ? " and each part of a date" : ""))
        .expected(fmt::format("{} features", wanted.features))
        .help(fmt::format("set data.features = {}", width));
}

// Equal texts have equal numbers.
std::vector<int32_t> numbers_of_texts(const std::vector<CsvLabel>& texts) {
  std::map<std::string_view, int32_t> known;
  std::vector<int32_t> numbers;
  for (const auto& text : texts)
    numbers.push_back(known.emplace(text.text, static_cast<int32_t>(known.size())).first->second);
  return numbers;
}

}  // namespace

TestParts draw_csv_parts(const CsvTable& table, const CsvColumns& wanted, const CsvTexts& texts) {
  const std::vector<int32_t> classes = numbers_of_texts(table.labels);
  std::vector<std::vector<int32_t>> categories;
  for (const auto& [place, list] : texts) categories.push_back(numbers_of_texts(list));
  return draw_test_parts(
      table.rows, {.share = wanted.test_share, .seed = wanted.seed, .classes = classes, .categories = categories});
}

void encode_csv_features(CsvTable& table, const CsvColumns& wanted, const CsvTexts& texts, const CsvDates& dates) {
  table.width = static_cast<int64_t>(table.columns.size());
  const bool parts = !dates.empty() && wanted.date_options.width() > 1;
  if (texts.empty() && !parts && wanted.empty != EmptyCells::mean) return;
  find_categories(table, wanted, texts);
  find_means(table, wanted);
  Encoded encoded(table, wanted, texts, dates);
  check_width(table, wanted, encoded.width());
  table.features = encoded.rows();
  table.width = encoded.width();
}

}  // namespace retrace

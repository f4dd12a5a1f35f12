#include "retrace/data/csv_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/csv_table.h"
#include "retrace/data/label_classes.h"

namespace retrace {
namespace {

constexpr size_t kMostCategories = 50;  // of a column of texts that is taken for categories

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Whether a column is called as those are that number the records.
bool is_id_name(const std::string& name) {
  const std::string low = in_lower_case(name);
  return low == "id" || low == "index" || low == "idx" || low == "rowid" || low == "row" ||
         low.starts_with("unnamed") || low.ends_with("_id") ||
         (name.size() > 2 && (name.ends_with("Id") || name.ends_with("ID")));
}

// What the cells of a column are.
struct LookedAt {
  std::string name;
  bool has_id_name = false;
  size_t numbers = 0, points = 0, words = 0, empties = 0, others = 0, commas = 0, dates = 0;
  size_t thousands = 0;              // numbers with separators of them, of which a comma may be a decimal one
  CsvCell thousand = {};             // the first one
  std::string other = {};            // the first one
  double first_day = 0;              // of the earliest date
  TextPosition comma = {};           // of the first number with a decimal comma
  std::set<std::string> texts = {};  // different ones; of features no more than tell what they are
  bool goes_up = true;               // by one, in whole numbers from 0 or 1 on
  int64_t next = 0;                  // number of these
  std::set<int64_t> known = {};      // whole numbers of a column with the name of an id, while all are different

  void add(const CsvCell& cell, bool all) {
    if (cell.text.empty()) {
      ++empties;
      return;
    }
    if (all || texts.size() <= kMostCategories) texts.insert(cell.text);
    if (is_missing_word(cell.text)) {
      ++words;
    } else if (is_csv_number(cell.text)) {
      ++numbers, points += cell.text.find('.') != std::string::npos, add_number(cell.text);
    } else if (has_decimal_comma(cell.text)) {
      if (commas++ == 0) comma = cell.position;
    } else if (!csv_thousands(cell.text).empty()) {
      if (thousands++ == 0) thousand = cell;
    } else {
      if (others++ == 0) other = cell.text;
      if (const auto date = csv_date(cell.text)) first_day = dates++ ? std::min(first_day, date->day) : date->day;
    }
  }

  // Its numbers have decimal commas.
  void take_commas() {
    std::set<std::string> pointed;
    for (const auto& text : texts) pointed.insert(has_decimal_comma(text) ? with_decimal_point(text) : text);
    texts = std::move(pointed);
    numbers += std::exchange(commas, 0), goes_up = false, known.clear();
  }

  bool is_dates() const { return dates > 0 && dates == others && numbers == 0 && commas == 0; }
  bool is_numbers() const { return numbers > 0 && others == 0 && commas == 0; }
  bool is_empty() const { return numbers == 0 && others == 0 && commas == 0; }
  bool has_thousands() const { return thousands > 0 && others == 0; }
  // Whether it numbers the records.
  bool is_id(size_t records) const {
    if (!is_numbers() || numbers != records || records < 2) return false;
    return goes_up || known.size() == records;
  }

 private:
  void add_number(const std::string& text) {
    int64_t number = -1;
    const char* const last = text.data() + text.size();
    const auto [end, failure] = std::from_chars(text.data(), last, number);
    const bool whole = failure == std::errc() && end == last;
    if (numbers == 1) next = number, goes_up = number == 0 || number == 1;
    goes_up = goes_up && whole && number == next++;
    if (whole && has_id_name) known.insert(number);
  }
};

size_t numbers_in(const std::vector<CsvCell>& cells) {
  return static_cast<size_t>(std::count_if(cells.begin(), cells.end(), [](const CsvCell& cell) {
    return !cell.quoted && (is_csv_number(cell.text) || has_decimal_comma(cell.text) || is_missing_word(cell.text));
  }));
}

// Of the first record and of the second, which must be equal; else 0.
size_t cells_by(char delimiter, std::string_view text) {
  try {
    CsvReader reader(text, "", delimiter);
    const size_t cells = reader.next() ? reader.cells().size() : 0;
    return !reader.next() || reader.cells().size() == cells ? cells : 0;
  } catch (const Error&) {  // it is told when the file is read
    return 0;
  }
}

// Names and categories stand in the job file, which is UTF-8.
void check_utf8(std::string_view text, const std::filesystem::path& file) {
  for (size_t at = 0; at < text.size();) {
    const size_t count = utf8_length(text.substr(at));
    if (count == 0)
      throw Error(ErrorKind::bad_data, 499, "the CSV file is no UTF-8")
          .where(fmt::format("{}:{}", printable(file.string()),
                             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1))
          .got(fmt::format("the byte {:#04x}", static_cast<unsigned>(static_cast<unsigned char>(text[at]))))
          .help("convert the file: iconv -f LATIN1 -t UTF-8, or -f UTF-16, or what it is written in");
    at += count;
  }
}

// The one that makes most cells; of equal ones the first.
char delimiter_of(std::string_view text) {
  char best = ',';
  size_t most = 1;
  for (const char delimiter : {',', ';', '\t', '|'})
    if (const size_t cells = cells_by(delimiter, text); cells > most) best = delimiter, most = cells;
  return best;
}

class Look {
 public:
  Look(std::string_view text, std::string_view name, std::string target)
      : delimiter_(delimiter_of(text)), name_(name), target_name_(std::move(target)), reader_(text, name, delimiter_) {}

  DataLook found() {
    if (!reader_.next()) return {};
    const std::vector<CsvCell> first = reader_.cells();
    bool more = reader_.next();
    header_ = numbers_in(first) == 0 || (more && numbers_in(first) < numbers_in(reader_.cells()));
    for (size_t i = 0; i < first.size(); ++i) {
      std::string name = header_ ? first[i].text : std::to_string(i + 1);
      const bool id = name.empty() || is_id_name(name);
      columns_.push_back({i == 0 ? csv_name_of_first(name) : std::move(name), id});
    }
    find_target();
    if (!header_) add(first);
    for (; more; more = reader_.next()) add(reader_.cells());
    find_decimal();
    find_words();
    find_ids();
    find_features();
    find_options();
    return std::move(look_);
  }

 private:
  // A record of another length is told when the file is read.
  void add(const std::vector<CsvCell>& cells) {
    ++records_;
    for (size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i) columns_[i].add(cells[i], i == target_);
  }

  void find_target() {
    constexpr std::array kNames{"target",   "targets",  "label",     "labels",  "y",    "outcome",
                                "response", "survived", "diagnosis", "species", "class"};
    target_ = columns_.size() - 1;
    const auto at = [&](const std::string& name, bool exact) {
      return static_cast<size_t>(
          std::find_if(columns_.begin(), columns_.end(),
                       [&](const LookedAt& one) { return (exact ? one.name : in_lower_case(one.name)) == name; }) -
          columns_.begin());
    };
    if (!target_name_.empty()) {
      std::vector<std::string> names;
      for (const auto& column : columns_) names.push_back(column.name);
      if (at(target_name_, true) == columns_.size()) throw no_csv_column(target_name_, names, name_);
      target_ = at(target_name_, true);
      look_.notes["target_columns"] = "what is learned, as --target says";
      return;
    }
    for (const char* const name : kNames) {
      const bool coordinate = name == std::string_view("y") && at("x", false) < columns_.size();
      if (at(name, false) == columns_.size() || (coordinate && target_ != at(name, false))) continue;
      if (in_lower_case(columns_.back().name) != name) target_ = at(name, false);
      look_.notes["target_columns"] = "what is learned, by its name; retrace init --target NAME takes another column";
      return;
    }
    look_.notes["target_columns"] = "what is learned, the last column; retrace init --target NAME takes another one";
  }

  // Numbers with commas, in a table whose cells are separated by another character: decimals. Between commas they may
  // as well be thousands (in quotes), and where others have points one cannot tell.
  void find_decimal() {
    for (LookedAt& column : columns_) {
      if (column.has_thousands()) refuse_thousands(column);
      column.others += column.thousands;
      if (column.other.empty()) column.other = column.thousand.text;
    }
    const auto numeric = [](const LookedAt& column) { return column.others == 0; };
    const bool points = std::any_of(columns_.begin(), columns_.end(),
                                    [&](const LookedAt& column) { return numeric(column) && column.points > 0; });
    for (LookedAt& column : columns_) {
      if (column.commas == 0 || !numeric(column)) continue;
      if (points || delimiter_ == ',') refuse_commas(column);
      column.take_commas();
      decimal_comma_ = true;
    }
  }

  [[noreturn]] void refuse_thousands(const LookedAt& column) const {
    throw Error(ErrorKind::bad_data, 534,
                fmt::format("numbers of the column \"{}\" have separators of thousands", printable(column.name)))
        .where(reader_.place(column.thousand.position))
        .got(fmt::format("\"{}\"", printable(column.thousand.text)))
        .expected("numbers like 1234.5")
        .help("write the table again without them; with pandas: " +
              csv_pandas(csv_thousands(column.thousand.text), delimiter_));
  }

  [[noreturn]] void refuse_commas(const LookedAt& column) const {
    throw Error(ErrorKind::bad_data, 497,
                fmt::format("numbers of the column \"{}\" have commas", printable(column.name)))
        .where(reader_.place(column.comma))
        .expected(delimiter_ == ',' ? "points, as in 1.5, where cells are separated by commas"
                                    : "points or commas before decimals, and not both in one table")
        .help(
            "write the table again with points, and without separators of thousands; with pandas: "
            "pandas.read_csv(FILE, thousands=\",\").to_csv(FILE, index=False)");
  }

  // Words for empty cells are those that stand among numbers.
  void find_words() {
    std::set<std::string> found;
    for (const LookedAt& column : columns_)
      if ((column.is_numbers() || column.is_dates()) && column.words > 0)
        for (const std::string& text : column.texts)
          if (is_missing_word(text)) found.insert(text);
    words_ = {found.begin(), found.end()};
    for (LookedAt& column : columns_)
      for (const auto& word : words_) column.empties += column.texts.erase(word);
  }

  // Not where nothing else is left. Numbers that go up count in the first column alone.
  void find_ids() {
    constexpr size_t kFewest = 20;  // records: fewer may go up by chance
    const auto may_be = [&](size_t i) {
      if (i == target_ || !columns_[i].is_id(records_)) return false;
      return columns_[i].has_id_name || (i == 0 && records_ >= kFewest);
    };
    const bool others = columns_.size() > 2;
    for (size_t i = 0; others && i < columns_.size(); ++i)
      if (may_be(i)) ignore(i, "numbers the records");
  }

  void ignore(size_t i, const std::string& why) {
    ignored_.push_back(columns_[i].name);
    std::string& note = look_.notes["ignored_columns"];
    note += fmt::format("{}{}: {}", note.empty() ? "" : "; ", printable(columns_[i].name), why);
    columns_[i].texts.clear();
    skipped_.insert(i);
  }

  void find_features();
  void find_options();

  char delimiter_;
  std::string name_, target_name_;
  CsvReader reader_;
  std::vector<LookedAt> columns_;
  std::vector<std::string> words_, ignored_, categorical_, dates_;
  std::set<size_t> skipped_;  // columns
  size_t target_ = 0, records_ = 0;
  bool header_ = true, empty_ = false, decimal_comma_ = false;
  double first_day_ = 0;  // of all dates
  DataLook look_;
};

void Look::find_features() {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const LookedAt& column = columns_[i];
    if (i == target_ || skipped_.contains(i)) continue;
    const bool few = column.texts.size() <= kMostCategories && 2 * column.texts.size() <= records_;
    if (column.is_dates()) {
      first_day_ = dates_.empty() ? column.first_day : std::min(first_day_, column.first_day);
      dates_.push_back(column.name);
    } else if (column.is_empty() || (!column.is_numbers() && !few)) {
      ignore(i, column.is_empty() ? "has no value"
                : column.numbers > column.others
                    ? fmt::format("not all are numbers, such as \"{}\"", printable(column.other.substr(0, 40)))
                    : "texts, most of them different");
      continue;
    }
    if (!column.is_numbers() && !column.is_dates()) categorical_.push_back(column.name);
    empty_ = empty_ || column.empties > 0;
  }
}

void Look::find_options() {
  const LookedAt& target = columns_[target_];
  OptionValues& options = look_.options;
  options = {{"header", header_}};
  options.set("task", std::string(are_class_labels(target.texts) ? "classification" : "regression"));
  options.set("target_columns", std::vector{target.name});
  if (delimiter_ != ',') options.set("delimiter", delimiter_ == '\t' ? "tab" : std::string(1, delimiter_));
  if (decimal_comma_) options.set("decimal", std::string(","));
  if (!categorical_.empty()) options.set("categorical_columns", categorical_);
  if (!dates_.empty()) {
    options.set("date_columns", dates_);
    options.set("date_origin", csv_day_text(static_cast<int64_t>(std::floor(first_day_))));
    look_.notes["date_columns"] =
        "their days since date_origin; date_parts = [\"weekday\", \"month\"] adds 7 and 12 features for each";
    look_.notes["date_origin"] = "the first of these dates";
  }
  if (!ignored_.empty()) options.set("ignored_columns", ignored_);
  if (!words_.empty()) options.set("missing", words_);
  if (empty_) options.set("empty_cells", std::string("mean"));
  if (target.empties == 0) return;
  options.set("empty_cells", std::string("drop"));
  look_.notes["empty_cells"] =
      "records with an empty cell, also of the target, are left out; mean is for features alone";
}

}  // namespace

DataLook look_at_csv(const std::filesystem::path& file, const std::string& target) {
  const std::string text = read_file(file, "CSV file", kCsvLimit);
  check_utf8(text, file);
  return Look(text, file.string(), target).found();
}

}  // namespace retrace

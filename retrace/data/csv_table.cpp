#include "retrace/data/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/joined.h"
#include "retrace/data/csv_encoding.h"

namespace retrace {
namespace {

constexpr size_t kMostMistakes = 20;

enum class NumberFault { none, no_number, not_finite };

// The f32 nearest to the text, which may begin with a plus sign.
NumberFault read_number(std::string_view text, float& number, char decimal) {
  if (decimal == ',' && text.find(',') != std::string_view::npos)
    return text.find('.') == std::string_view::npos ? read_number(with_decimal_point(std::string(text)), number, '.')
                                                    : NumberFault::no_number;
  if (decimal == ',' && text.find('.') != std::string_view::npos) return NumberFault::no_number;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::invalid_argument || end != text.data() + text.size()) return NumberFault::no_number;
  const bool good = failure == std::errc() && std::isfinite(number);
  return good ? NumberFault::none : NumberFault::not_finite;
}

bool is_number(const CsvCell& cell, char decimal) { return !cell.quoted && is_csv_number(cell.text, decimal); }

bool all_numbers(const std::vector<CsvCell>& cells, char decimal) {
  return std::all_of(cells.begin(), cells.end(), [&](const CsvCell& cell) { return is_number(cell, decimal); });
}

bool is_missing_cell(const CsvCell& cell, const CsvColumns& wanted) {
  return std::find(wanted.missing.begin(), wanted.missing.end(), cell.text) != wanted.missing.end();
}

enum class Role { feature, target, ignored };

struct Column {
  std::string quoted_name;
  Role role = Role::feature;
  size_t place = 0;  // among the columns of this role, as the table has them
  bool categorical = false, date = false;
};

// Some names, for people.
std::string listed(std::span<const std::string> names) {
  constexpr size_t most = 20;
  return printable(
      fmt::format("{}{}", joined(names.first(std::min(most, names.size())), ", "), names.size() > most ? ", ..." : ""));
}

// How many columns of features there must be; 0: any. Those of categories and of dates may be several features.
int64_t columns_of(const CsvColumns& wanted) {
  if (!wanted.categories.empty()) return static_cast<int64_t>(wanted.categories.size());
  if (!wanted.categorical.empty() || wanted.features == 0) return 0;
  return wanted.features - std::ssize(wanted.dates) * (wanted.date_options.width() - 1);
}

// For a table that is one column.
const char* advice_for_columns(const std::vector<std::string>& names) {
  return names.size() == 1 && names[0].find_first_of(",;|\t") != std::string::npos
             ? "say what separates the cells: delimiter (in a job data.delimiter = \";\", \"|\" or \"tab\")"
             : "";
}

// Of a column that is named among those of `what`.
Error no_plain_feature(const Column& column, const char* what) {
  return Error(ErrorKind::usage, 403,
               fmt::format("the column {} of {} is {}", column.quoted_name, what,
                           column.categorical ? "one of categories" : "no feature"))
      .help(fmt::format("take it from the columns of {}{}", what,
                        column.role == Role::target ? ": texts that are targets become classes by themselves"
                                                    : ", or of what else it is"));
}

// What the columns are, by the first record.
class Columns {
 public:
  Columns(const CsvReader& reader, const std::string& file, const CsvColumns& wanted) : file_(file), wanted_(wanted) {
    read_names(reader);
    find_roles();
    check_features();
  }
  size_t size() const { return names_.size(); }
  size_t count(Role role) const { return static_cast<size_t>(std::count(roles_.begin(), roles_.end(), role)); }
  std::vector<Column> list() const {
    std::vector<Column> columns;
    for (size_t i = 0; i < size(); ++i)
      columns.push_back({fmt::format("\"{}\"", printable(names_[i])), roles_[i], places_[i]});
    for (const auto& name : wanted_.categorical) mark(columns, name, &Column::categorical, "categories");
    for (const auto& name : wanted_.dates) mark(columns, name, &Column::date, "dates");
    for (auto& column : columns)
      if (column.role == Role::feature && !wanted_.categories.empty())
        column.categorical = column.place < wanted_.categories.size() && !wanted_.categories[column.place].empty();
    return columns;
  }
  // In the order of the table.
  std::vector<std::string> names(Role role) const {
    std::vector<std::string> names(count(role));
    for (size_t i = 0; i < size(); ++i)
      if (roles_[i] == role) names[places_[i]] = names_[i];
    return names;
  }

 private:
  void mark(std::vector<Column>& columns, const std::string& name, bool Column::* as, const char* what) const {
    const size_t at = column_of(name);
    if (at == size()) return;
    Column& column = columns[at];
    if (column.role != Role::feature || column.categorical) throw no_plain_feature(column, what).where(file_);
    column.*as = true;
  }

  void read_names(const CsvReader& reader) {
    const auto& cells = reader.cells();
    if (!wanted_.header) {
      for (size_t i = 0; i < cells.size(); ++i) names_.push_back(fmt::format("{}", i + 1));
      return;
    }
    if (all_numbers(cells, wanted_.decimal))
      throw Error(ErrorKind::bad_data, 356, "the first line of the CSV file holds numbers alone, no names of columns")
          .where(reader.place(cells[0].position))
          .help("set header to false (in a job data.header = false), or put names that are numbers into quotes");
    std::set<std::string> known;
    for (const auto& cell : cells) {
      const std::string name = names_.empty() ? csv_name_of_first(cell.text) : cell.text;
      const bool twice = !known.insert(name).second;
      if (name.empty() || twice)
        throw Error(ErrorKind::bad_data, 357,
                    twice ? fmt::format("the column \"{}\" stands twice in the CSV file", printable(name))
                          : "a column of the CSV file has no name")
            .where(reader.place(cell.position))
            .help("give every column a name of its own");
      names_.push_back(name);
    }
  }

  // The place of a name in the file, which may have been made printable; size() if there is none.
  size_t find(const std::string& name) const {
    auto at = std::find(names_.begin(), names_.end(), name);
    if (at == names_.end())
      at = std::find_if(names_.begin(), names_.end(), [&](const auto& other) { return printable(other) == name; });
    return static_cast<size_t>(at - names_.begin());
  }

  // The number of the column; size() if there is none and that is no mistake.
  size_t column_of(const std::string& name) const {
    const size_t at = find(name);
    if (at < size() || wanted_.for_inputs) return at;
    throw no_csv_column(name, names_, file_);
  }

  void assign_role(const std::string& name, Role role, Role before) {
    const size_t column = column_of(name);
    if (column == size()) return;
    if (roles_[column] != before)
      throw Error(ErrorKind::usage, 359, fmt::format("the column \"{}\" is named twice", printable(name)))
          .where(file_)
          .help("name a column once, as a feature, as a target or as one that is ignored");
    places_[column] = count(role);
    roles_[column] = role;
  }

  void find_roles() {
    places_.assign(size(), 0);
    if (!wanted_.named.empty()) return find_named();
    roles_.assign(size(), Role::feature);
    for (const auto& name : wanted_.ignored) assign_role(name, Role::ignored, Role::feature);
    for (const auto& name : wanted_.targets) assign_role(name, Role::target, Role::feature);
    if (wanted_.targets.empty() && !(wanted_.for_inputs && features() <= columns_of(wanted_)))
      assign_role(names_.back(), Role::target, Role::feature);
    for (const Role role : {Role::feature, Role::target}) {
      size_t place = 0;
      for (size_t i = 0; i < size(); ++i)
        if (roles_[i] == role) places_[i] = place++;
    }
  }

  void find_named() {
    roles_.assign(size(), Role::ignored);
    check_named();
    for (const auto& name : wanted_.named) assign_role(name, Role::feature, Role::ignored);
    for (const auto& name : wanted_.targets) assign_role(name, Role::target, Role::ignored);
    if (wanted_.targets.empty() && !wanted_.for_inputs) assign_role(names_.back(), Role::target, Role::ignored);
  }

  void check_named() const {
    std::vector<std::string> absent;
    for (const auto& name : wanted_.named)
      if (find(name) == size()) absent.push_back(name);
    if (absent.empty()) return;
    const auto near = nearest(absent[0], names_);
    throw Error(
        ErrorKind::bad_data, 695,
        fmt::format("the CSV file has no column for the feature{} {}", absent.size() > 1 ? "s" : "", listed(absent)))
        .where(file_)
        .got("columns " + listed(names_))
        .expected("features " + listed(wanted_.named))
        .help(*advice_for_columns(names_) ? advice_for_columns(names_)
              : near.empty()
                  ? "columns are found by the names that the training set gave them; without a line of names "
                    "they count in its order"
                  : fmt::format("did you mean \"{}\"?", printable(near)));
  }

  int64_t features() const { return static_cast<int64_t>(count(Role::feature)); }

  void check_features() const {
    const int64_t found = features();
    const int64_t columns = columns_of(wanted_);
    if (found == 0 || (columns > 0 && found != columns))
      throw Error(ErrorKind::bad_data, 358, fmt::format("the CSV file has {} columns of features", found))
          .where(file_)
          .got(fmt::format("{} columns, {} of them targets, {} ignored", size(), count(Role::target),
                           count(Role::ignored)))
          .expected(columns > 0 ? fmt::format("{} columns of features", columns) : "at least one column of features")
          .help(advice_for_columns(names_));
  }

  const std::string& file_;
  const CsvColumns& wanted_;
  std::vector<std::string> names_;
  std::vector<Role> roles_;
  std::vector<size_t> places_;
};

std::string help_for_thousands(const std::string& text, const CsvColumns& wanted) {
  std::string help =
      "write it without a separator of thousands; with pandas: " + csv_pandas(csv_thousands(text), wanted.delimiter);
  if (wanted.decimal == '.' && has_decimal_comma(text))
    help += "; if the comma stands before decimals, say so by decimal (in a job data.decimal = \",\")";
  return help;
}

// Of a cell that is no number where one is wanted; `missing`: it may stand for an empty one.
std::string help_for_no_number(const CsvCell& cell, const CsvColumns& wanted, bool target, bool missing) {
  if (!csv_thousands(cell.text).empty()) return help_for_thousands(cell.text, wanted);
  if (wanted.decimal == '.' && has_decimal_comma(cell.text))
    return "it has a decimal comma: say so by decimal (in a job data.decimal = \",\")";
  if (wanted.decimal == ',' && is_csv_number(cell.text))
    return "it has a decimal point, where decimal says that numbers have commas: make them alike";
  if (csv_date(cell.text))
    return target ? "make a number of it, such as days; with pandas: (pandas.to_datetime(t[\"day\"]) - "
                    "pandas.Timestamp(0)) / pandas.Timedelta(days=1)"
                  : "name the column in dates, which makes days of it, or in ignored (in a job data.date_columns, "
                    "data.ignored_columns)";
  if (missing)
    return "if it stands for an empty cell, name it in missing, and say what empty cells are by empty_cells (in a job "
           "data.missing, data.empty_cells)";
  if (target) return "write it like -1.5e3, or remove the record";
  return wanted.cleans ? "write it like -1.5e3, or name the column in categorical or ignored (in a job "
                         "data.categorical_columns, data.ignored_columns)"
                       : "write it like -1.5e3, or name the column in ignored (in a job data.ignored_columns)";
}

const std::string kDateForm = "a date like 2024-05-01, 2024-05-01 12:30 or 1.5.2024, in the column of dates ";
constexpr const char
    *kMissingHelp =
        "if it stands for an empty cell, name it in missing (in a job data.missing), and say what empty "
        "cells are by empty_cells (in a job data.empty_cells)",
    *kDateHelp =
        "write it so; with pandas: t[\"day\"] = pandas.to_datetime(t[\"day\"], dayfirst=True), where "
        "days stand first";

class TableReader {
 public:
  TableReader(std::string_view text, std::string_view name, const CsvColumns& wanted)
      : reader_(text, name, wanted.delimiter), wanted_(wanted) {
    table_.name = printable(name);
  }

  CsvTable read() {
    if (!reader_.next()) throw no_record();
    const Columns columns(reader_, table_.name, wanted_);
    columns_ = columns.list();
    table_.columns = columns.names(Role::feature);
    table_.targets = columns.names(Role::target);
    if (!wanted_.header || reader_.next()) {
      do add_record();
      while (mistakes_.size() < kMostMistakes && reader_.next());
    }
    throw_all(mistakes_);
    if (table_.rows == 0) throw no_record();
    if (wanted_.test_share > 0) table_.parts = draw_csv_parts(table_, wanted_, texts_);
    encode_csv_features(table_, wanted_, texts_, dates_);
    return std::move(table_);
  }

 private:
  Error no_record() const {
    return Error(ErrorKind::bad_data, 354, "the CSV file has no record")
        .where(table_.name)
        .expected(wanted_.header ? "a line of names, and at least one record" : "at least one record");
  }

  void add_record() {
    const auto& cells = reader_.cells();
    if (cells.size() != columns_.size()) {
      add_mistake(350, fmt::format("a record has {} cells", cells.size()), cells[0].position)
          .expected(fmt::format("{}, as the first line has", columns_.size()))
          .help(cells.size() > columns_.size()
                    ? fmt::format("put a cell that holds {} into quotes", delimiter_text(wanted_.delimiter))
                    : "");
      return;
    }
    if (wanted_.empty == EmptyCells::dropped && !wanted_.for_inputs && has_empty(cells)) return;
    ++table_.rows;
    const std::span<float> features = add_row(table_.features, table_.columns.size());
    const bool targets = !wanted_.for_inputs;
    const std::span<float> values = add_row(table_.values, targets && !wanted_.labels ? table_.targets.size() : 0);
    for (size_t i = 0; i < cells.size() && mistakes_.size() < kMostMistakes; ++i) {
      const Column& column = columns_[i];
      if (column.role == Role::feature)
        read_feature(cells[i], column, features[column.place]);
      else if (column.role == Role::target && targets && wanted_.labels)
        add_label(cells[i], column);
      else if (column.role == Role::target && targets)
        read_cell(cells[i], column, values[column.place]);
    }
  }

  bool has_empty(const std::vector<CsvCell>& cells) const {
    for (size_t i = 0; i < cells.size(); ++i)
      if (columns_[i].role != Role::ignored && is_empty(cells[i])) return true;
    return false;
  }

  // Texts of categories stand in a list of their own until all are known, and means that are not known are NaN.
  void read_feature(const CsvCell& cell, const Column& column, float& number) {
    const bool empty = is_empty(cell), fills = wanted_.empty == EmptyCells::mean && empty;
    if (column.categorical) {
      if (empty && !fills) return add_empty(cell, column);
      texts_[column.place].push_back({empty ? "" : cell.text, cell.position});
    } else if (fills) {
      number = std::numeric_limits<float>::quiet_NaN();
      if (column.date) dates_[column.place].push_back({.day = std::numeric_limits<double>::quiet_NaN()});
    } else {
      column.date ? read_date(cell, column, number) : read_cell(cell, column, number);
    }
  }

  void read_date(const CsvCell& cell, const Column& column, float& number) {
    if (is_empty(cell)) return add_empty(cell, column);
    const auto date = csv_date(cell.text);
    if (!date)
      return void(add_mistake(539, fmt::format("{} is no date", shown(cell)), cell.position)
                      .expected(kDateForm + column.quoted_name)
                      .help(may_be_missing(cell) ? kMissingHelp : kDateHelp));
    number = static_cast<float>(date->day - wanted_.date_options.origin);
    dates_[column.place].push_back(*date);
  }

  static std::span<float> add_row(std::vector<float>& rows, size_t width) {
    rows.resize(rows.size() + width);
    return std::span(rows).last(width);
  }

  void add_label(const CsvCell& cell, const Column& column) {
    if (is_empty(cell)) return add_empty(cell, column);
    table_.labels.push_back({cell.text, cell.position});
  }

  void add_no_number(const CsvCell& cell, const Column& column) {
    const bool target = column.role == Role::target || wanted_.named_are_targets;
    add_mistake(352, fmt::format("{} is no number", shown(cell)), cell.position)
        .expected(fmt::format("a number: the column {} is {}", column.quoted_name, target ? "a target" : "a feature"))
        .help(help_for_no_number(cell, wanted_, target, may_be_missing(cell)));
  }

  void read_cell(const CsvCell& cell, const Column& column, float& number) {
    if (is_empty(cell)) return add_empty(cell, column);
    switch (read_number(cell.text, number, wanted_.decimal)) {
      case NumberFault::none: return;
      case NumberFault::no_number: return add_no_number(cell, column);
      case NumberFault::not_finite:
        add_mistake(353, fmt::format("{} is no finite f32", shown(cell)), cell.position)
            .expected("0, or a number whose absolute value is from 1.4e-45 to 3.4e38")
            .help(may_be_missing(cell)
                      ? "replace it, remove the record, or name it in missing (in a job data.missing), as an empty cell"
                      : "replace it, or remove the record");
    }
  }

  bool is_empty(const CsvCell& cell) const { return cell.text.empty() || is_missing_cell(cell, wanted_); }

  bool may_be_missing(const CsvCell& cell) const { return wanted_.cleans && is_missing_word(cell.text); }

  void add_empty(const CsvCell& cell, const Column& column) {
    add_mistake(351, fmt::format("a cell of the column {} is empty", column.quoted_name), cell.position)
        .got(cell.text.empty() ? "" : fmt::format("\"{}\", which stands for an empty cell", printable(cell.text)))
        .help(
            !wanted_.cleans ? "fill it, or remove the record"
            : column.role == Role::target
                ? "fill it, remove the record, or set empty_cells (in a job data.empty_cells = \"drop\")"
                : "fill it, remove the record, or set empty_cells (in a job data.empty_cells = \"mean\" or \"drop\")");
  }

  Error& add_mistake(int code, const std::string& what, TextPosition position) {
    return mistakes_.emplace_back(ErrorKind::bad_data, code, what).where(reader_.place(position));
  }

  static std::string shown(const CsvCell& cell) {
    constexpr size_t most = 40;
    return fmt::format("\"{}{}\"", printable(cell.text.substr(0, most)), cell.text.size() > most ? "..." : "");
  }

  CsvReader reader_;
  const CsvColumns& wanted_;
  std::vector<Column> columns_;
  CsvTable table_;
  CsvTexts texts_;
  CsvDates dates_;
  std::vector<Error> mistakes_;
};

}  // namespace

CsvTable parse_csv_table(std::string_view text, std::string_view name, const CsvColumns& columns) {
  const FloatingPointScope floating_point;  // what reads numbers may round
  return TableReader(text, name, columns).read();
}

CsvTable read_csv_table(const std::filesystem::path& file, const CsvColumns& columns) {
  return parse_csv_table(read_file(file, "CSV file", kCsvLimit), file.string(), columns);
}

char csv_delimiter(std::string_view word) { return word == "tab" ? '\t' : word[0]; }

bool is_missing_word(std::string_view text) {
  constexpr std::array kWords{"NA",   "N/A",  "n/a",  "na",   "#N/A", "NaN", "nan", "NAN",
                              "NULL", "Null", "null", "None", "?",    "-",   "--",  "."};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

std::string csv_name_of_first(const std::string& text) { return text.empty() ? "1" : text; }

bool has_decimal_comma(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma + 1 == text.size()) return false;
  float number = 0;
  return read_number(text, number, ',') == NumberFault::none;
}

std::string csv_pandas(const std::string& thousands, char delimiter) {
  const std::string separator = delimiter == ','    ? ""
                                : delimiter == '\t' ? ", sep=\"\\t\""
                                                    : fmt::format(", sep=\"{}\"", delimiter);
  const char* const decimal = thousands == "." ? ", decimal=\",\"" : "";
  return fmt::format("pandas.read_csv(FILE{}, thousands=\"{}\"{}).to_csv(FILE, index=False)", separator, thousands,
                     decimal);
}

std::string csv_thousands(std::string_view text) {
  std::string_view rest = text;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  const auto digits = [&] { return std::min(rest.find_first_not_of("0123456789"), rest.size()); };
  const size_t first = digits();
  if (first < 1 || first > 3) return "";
  rest.remove_prefix(first);
  for (const std::string_view separator : {",", ".", " ", "'", "_", "\u00a0", "\u202f", "\u2019"}) {
    if (!rest.starts_with(separator)) continue;
    int groups = 0;
    for (; rest.starts_with(separator); ++groups) {
      rest.remove_prefix(separator.size());
      if (digits() != 3) return "";
      rest.remove_prefix(3);
    }
    const bool decimals = !rest.empty() && (rest[0] == '.' || rest[0] == ',');
    if (decimals) rest.remove_prefix(1), rest.remove_prefix(digits());
    const bool other = separator == "." && groups == 1 && !decimals;  // 1.234 is a number
    return rest.empty() && !other ? std::string(separator) : "";
  }
  return "";
}

std::string with_decimal_point(std::string text) {
  if (const size_t comma = text.find(','); comma != std::string::npos) text[comma] = '.';
  return text;
}

Error no_csv_column(const std::string& name, const std::vector<std::string>& columns, const std::string& file) {
  const auto near = nearest(name, columns);
  return Error(ErrorKind::bad_data, 355, fmt::format("the CSV file has no column \"{}\"", printable(name)))
      .where(file)
      .expected(listed(columns))
      .help(near.empty() ? advice_for_columns(columns) : fmt::format("did you mean \"{}\"?", printable(near)));
}

EmptyCells empty_csv_cells(std::string_view word) {
  return word == "mean" ? EmptyCells::mean : word == "drop" ? EmptyCells::dropped : EmptyCells::refused;
}

bool is_csv_number(std::string_view text, char decimal) {
  float number = 0;
  return read_number(text, number, decimal) != NumberFault::no_number;
}

bool are_csv_names(const std::vector<std::string>& columns) {
  return std::any_of(columns.begin(), columns.end(),
                     [](const auto& name) { return name.find_first_not_of("0123456789") != std::string::npos; });
}

bool has_csv_header(std::string_view text, std::string_view name, int64_t features, const CsvColumns& columns) {
  CsvReader reader(text, name, columns.delimiter);
  if (!reader.next()) return false;
  return std::count_if(reader.cells().begin(), reader.cells().end(), [&](const CsvCell& cell) {
           return is_number(cell, columns.decimal) || (columns.empty == EmptyCells::mean && cell.text.empty()) ||
                  is_missing_cell(cell, columns);
         }) < features;
}

}  // namespace retrace

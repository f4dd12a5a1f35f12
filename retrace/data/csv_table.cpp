#include "retrace/data/csv_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"

namespace retrace {
namespace {

constexpr size_t kMostMistakes = 20;

enum class NumberFault { none, no_number, not_finite };

// The f32 nearest to the text, which may begin with a plus sign.
NumberFault read_number(std::string_view text, float& number) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::invalid_argument || end != text.data() + text.size()) return NumberFault::no_number;
  const bool good = failure == std::errc() && std::isfinite(number);
  return good ? NumberFault::none : NumberFault::not_finite;
}

bool is_number(const CsvCell& cell) { return !cell.quoted && is_csv_number(cell.text); }

bool all_numbers(const std::vector<CsvCell>& cells) { return std::all_of(cells.begin(), cells.end(), is_number); }

enum class Role { feature, target, ignored };

struct Column {
  std::string quoted_name;
  Role role = Role::feature;
};

// What the columns are, by the first record.
class Columns {
 public:
  Columns(const CsvReader& reader, const std::string& file, const CsvColumns& wanted) : file_(file), wanted_(wanted) {
    read_names(reader);
    find_roles();
    check_features();
  }
  size_t size() const { return names_.size(); }
  int64_t count(Role role) const { return std::count(roles_.begin(), roles_.end(), role); }
  std::vector<Column> list() const {
    std::vector<Column> columns;
    for (size_t i = 0; i < size(); ++i) columns.push_back({fmt::format("\"{}\"", printable(names_[i])), roles_[i]});
    return columns;
  }
  std::vector<std::string> features() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < size(); ++i)
      if (roles_[i] == Role::feature) names.push_back(names_[i]);
    return names;
  }

 private:
  void read_names(const CsvReader& reader) {
    const auto& cells = reader.cells();
    if (!wanted_.header) {
      for (size_t i = 0; i < cells.size(); ++i) names_.push_back(fmt::format("{}", i + 1));
      return;
    }
    if (all_numbers(cells))
      throw Error(ErrorKind::bad_data, 356, "the first line of the CSV file holds numbers alone, no names of columns")
          .where(reader.place(cells[0].position))
          .help("set header to false (in a job data.header = false), or put names that are numbers into quotes");
    std::set<std::string> known;
    for (const auto& cell : cells) {
      const bool twice = !known.insert(cell.text).second;
      if (cell.text.empty() || twice)
        throw Error(ErrorKind::bad_data, 357,
                    twice ? fmt::format("the column \"{}\" stands twice in the CSV file", printable(cell.text))
                          : "a column of the CSV file has no name")
            .where(reader.place(cell.position))
            .help("give every column a name of its own");
      names_.push_back(cell.text);
    }
  }

  // The number of the column; names_.size() if there is none and that is no mistake.
  size_t column_of(const std::string& name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at != names_.end() || wanted_.for_inputs) return static_cast<size_t>(at - names_.begin());
    constexpr size_t most = 20;
    const auto near = nearest(name, names_);
    throw Error(ErrorKind::bad_data, 355, fmt::format("the CSV file has no column \"{}\"", printable(name)))
        .where(file_)
        .expected(printable(fmt::format("{}{}", fmt::join(std::span(names_).first(std::min(most, names_.size())), ", "),
                                        names_.size() > most ? ", ..." : "")))
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", printable(near)));
  }

  void assign_role(const std::string& name, Role role) {
    const size_t column = column_of(name);
    if (column == names_.size()) return;
    if (roles_[column] != Role::feature)
      throw Error(ErrorKind::usage, 359, fmt::format("the column \"{}\" is named twice", printable(name)))
          .where(file_)
          .help("name a column once, as a target or as one that is ignored");
    roles_[column] = role;
  }

  void find_roles() {
    roles_.assign(names_.size(), Role::feature);
    for (const auto& name : wanted_.ignored) assign_role(name, Role::ignored);
    for (const auto& name : wanted_.targets) assign_role(name, Role::target);
    if (wanted_.targets.empty() && !(wanted_.for_inputs && count(Role::feature) <= wanted_.features))
      assign_role(names_.back(), Role::target);
  }

  void check_features() const {
    const int64_t found = count(Role::feature);
    if (found == 0 || (wanted_.features > 0 && found != wanted_.features))
      throw Error(ErrorKind::bad_data, 358, fmt::format("the CSV file has {} columns of features", found))
          .where(file_)
          .got(fmt::format("{} columns, {} of them targets, {} ignored", names_.size(), count(Role::target),
                           count(Role::ignored)))
          .expected(wanted_.features > 0 ? fmt::format("{} columns of features", wanted_.features)
                                         : "at least one column of features");
  }

  const std::string& file_;
  const CsvColumns& wanted_;
  std::vector<std::string> names_;
  std::vector<Role> roles_;
};

class TableReader {
 public:
  TableReader(std::string_view text, std::string_view name, const CsvColumns& wanted)
      : reader_(text, name), wanted_(wanted) {
    table_.name = printable(name);
  }

  CsvTable read() {
    if (!reader_.next()) throw no_record();
    const Columns columns(reader_, table_.name, wanted_);
    columns_ = columns.list();
    table_.columns = columns.features();
    table_.targets = static_cast<size_t>(columns.count(Role::target));
    if (!wanted_.header || reader_.next()) {
      do add_record();
      while (mistakes_.size() < kMostMistakes && reader_.next());
    }
    throw_all(mistakes_);
    if (table_.rows == 0) throw no_record();
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
          .help(cells.size() > columns_.size() ? "put a cell that holds a comma into quotes" : "");
      return;
    }
    ++table_.rows;
    for (size_t i = 0; i < cells.size() && mistakes_.size() < kMostMistakes; ++i) {
      const Column& column = columns_[i];
      if (column.role == Role::feature)
        add_number(cells[i], column, table_.features);
      else if (column.role == Role::target && !wanted_.for_inputs)
        add_target(cells[i], column);
    }
  }

  void add_target(const CsvCell& cell, const Column& column) {
    if (!wanted_.labels) return add_number(cell, column, table_.values);
    if (cell.text.empty()) return add_empty(cell, column);
    table_.labels.push_back({cell.text, cell.position});
  }

  void add_number(const CsvCell& cell, const Column& column, std::vector<float>& numbers) {
    if (cell.text.empty()) return add_empty(cell, column);
    switch (read_number(cell.text, numbers.emplace_back())) {
      case NumberFault::none: return;
      case NumberFault::no_number:
        add_mistake(352, fmt::format("{} is no number", shown(cell)), cell.position)
            .expected(fmt::format("a number: the column {} is {}", column.quoted_name,
                                  column.role == Role::target ? "a target" : "a feature"))
            .help("write it like -1.5e3, or name the column in ignored (in a job data.ignored_columns)");
        return;
      case NumberFault::not_finite:
        add_mistake(353, fmt::format("{} is no finite f32", shown(cell)), cell.position)
            .expected("0, or a number whose absolute value is from 1.4e-45 to 3.4e38")
            .help("replace it, or remove the record");
    }
  }

  void add_empty(const CsvCell& cell, const Column& column) {
    add_mistake(351, fmt::format("a cell of the column {} is empty", column.quoted_name), cell.position)
        .help("fill it, or remove the record");
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

bool is_csv_number(std::string_view text) {
  float number = 0;
  return read_number(text, number) != NumberFault::no_number;
}

bool has_csv_header(std::string_view text, std::string_view name, int64_t features) {
  CsvReader reader(text, name);
  if (!reader.next()) return false;
  return std::count_if(reader.cells().begin(), reader.cells().end(), is_number) < features;
}

}  // namespace retrace

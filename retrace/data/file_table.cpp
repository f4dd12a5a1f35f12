#include "retrace/data/file_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/base/joined.h"
#include "retrace/data/label_classes.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

std::string file_name(const fs::path& table) { return printable(table.filename().string()); }

Error no_column(const fs::path& table, const std::string& file, const std::string& name,
                const std::vector<std::string>& header) {
  const auto near = nearest(name, header);
  return Error(ErrorKind::bad_data, 407, fmt::format("{} has no column \"{}\"", file_name(table), printable(name)))
      .where(printable(table.string()))
      .got("columns " + printable(joined(header, ", ")))
      .expected(fmt::format("a line of names: \"{}\", and one name for each target", printable(file)))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", printable(near)));
}

Error several_columns(const fs::path& table, const std::vector<std::string>& targets) {
  return Error(ErrorKind::bad_data, 407, fmt::format("{} has several columns of targets", file_name(table)))
      .where(printable(table.string()))
      .got("columns " + printable(joined(targets, ", ")))
      .expected("one")
      .help("name it: data.target_columns = [\"" + printable(targets[0]) + "\"]");
}

// The header, and the places of the columns in it.
struct Header {
  std::vector<std::string> all, targets;
  size_t file = 0;
  std::vector<size_t> places;  // of the targets
};
Header header_of(CsvReader& reader, const fs::path& table, const FileTableColumns& columns) {
  Header header;
  header.all = table_columns(reader, table);
  const auto place_of = [&](const std::string& name) {
    const auto found = std::find(header.all.begin(), header.all.end(), name);
    if (found == header.all.end()) throw no_column(table, columns.file, name, header.all);
    return static_cast<size_t>(found - header.all.begin());
  };
  header.file = place_of(columns.file);
  if (columns.alone) return header;
  header.targets = columns.targets;
  if (columns.targets.empty())
    std::copy_if(header.all.begin(), header.all.end(), std::back_inserter(header.targets),
                 [&](const std::string& name) { return name != columns.file; });
  if (header.targets.empty()) throw no_column(table, columns.file, "target", header.all);
  for (const auto& name : header.targets) header.places.push_back(place_of(name));
  return header;
}

void check_width(const CsvReader& reader, const Header& header) {
  if (reader.cells().size() == header.all.size()) return;
  throw Error(ErrorKind::bad_data, 350, fmt::format("a record has {} cells", reader.cells().size()))
      .where(reader.place(reader.cells()[0].position))
      .expected(fmt::format("{}, as the first line has", header.all.size()))
      .help(reader.cells().size() > header.all.size() ? "put a cell that holds a comma into quotes" : "");
}

// The only table of a folder, for training, where it has no train.csv.
fs::path only_table(const fs::path& folder) {
  std::vector<std::string> tables;
  std::error_code failure;
  for (const auto& name : folder_names(folder, failure))
    if (name[0] != '.' && name.ends_with(".csv")) tables.push_back(name);
  return folder / (tables.size() == 1 && !tables[0].starts_with("test") ? tables[0] : "train.csv");
}

}  // namespace

std::string FileTable::place(const CsvLabel& cell) const {
  return fmt::format("{}:{}:{}", printable(name), cell.position.line, cell.position.column);
}

FileTable read_file_table(const fs::path& table, const FileTableColumns& columns) {
  const std::string text = read_file(table, "CSV file", kCsvLimit), name = table.string();
  CsvReader reader(text, name);
  const Header header = header_of(reader, table, columns);
  if (columns.texts && header.targets.size() > 1) throw several_columns(table, header.targets);
  FileTable made{.targets = header.targets, .files = {}, .name = name};
  while (reader.next()) {
    check_width(reader, header);
    const CsvCell& file = reader.cells()[header.file];
    made.files.push_back({file.text, file.position});
    if (!columns.texts) continue;
    const CsvCell& own = reader.cells()[header.places[0]];
    made.texts.push_back({own.text, own.position});
  }
  if (made.files.empty())
    throw Error(ErrorKind::bad_data, 553, "the table has no record")
        .where(printable(name))
        .expected("a line of names, and a line for each sample");
  if (!columns.texts && !columns.alone)
    made.values =
        parse_csv_table(text, name, {.named = header.targets, .for_inputs = true, .named_are_targets = true}).features;
  return made;
}

fs::path table_of(Split split, const SourceRequest& request) {
  std::error_code ignored;
  if (fs::is_regular_file(request.path, ignored)) {
    if (request.whole || (split == Split::test && request.only_test)) return request.path;
    throw no_folder_of_tables(request.path);
  }
  if (!fs::exists(request.path, ignored)) throw missing_path(request.path, "data folder");
  const fs::path table = request.path / (split == Split::train ? "train.csv" : "test.csv");
  return split == Split::train && !fs::exists(table, ignored) ? only_table(request.path) : table;
}

Error no_folder_of_tables(const fs::path& path) {
  return Error(ErrorKind::missing, 672, fmt::format("data.path \"{}\" is no folder", printable(path.string())))
      .expected("a folder that holds train.csv and test.csv")
      .help(
          "put the training set into DIR/train.csv and the test set into DIR/test.csv, and set data.path to DIR; for "
          "one file without a test set give data.test_share = 0.2");
}

std::vector<std::string> table_columns(CsvReader& reader, const fs::path& table) {
  std::vector<std::string> names;
  if (reader.next())
    for (const auto& cell : reader.cells()) names.push_back(cell.text);
  const size_t other = names.size() == 1 ? names[0].find_first_of(";\t|") : std::string::npos;
  if (other != std::string::npos)
    throw Error(ErrorKind::bad_data, 559, "no comma separates the cells of the table")
        .where(printable(table.string()))
        .got(printable(names[0].substr(0, 80)))
        .help(
            fmt::format("write it anew; with pandas: pandas.read_csv(FILE, sep=\"{}\").to_csv(FILE, index=False), with "
                        "decimal=\",\" where numbers have commas",
                        printable(names[0].substr(other, 1))));
  return names;
}

TableClasses classes_of_table(const FileTable& table, const std::vector<std::string>& known) {
  std::set<std::string> names;
  for (const CsvLabel& label : table.texts) {
    if (label.text.empty())
      throw Error(ErrorKind::bad_data, 554, "a record has no class")
          .where(table.place(label))
          .help("write its class, or take the record out");
    names.insert(label.text);
  }
  TableClasses classes{known.empty() ? classes_of_labels(names, table.name) : known, {}};
  classes.numbers = numbers_of_labels(table.texts, printable(table.name), classes.names);
  return classes;
}

std::vector<TargetColumn> look_at_file_table(const fs::path& table, const std::string& file) {
  const std::string text = read_file(table, "CSV file", kCsvLimit), name = table.string();
  CsvReader reader(text, name);
  const Header header = header_of(reader, table, {.file = file});
  std::vector<TargetColumn> columns;
  for (const auto& target : header.targets) columns.push_back({target});
  while (reader.next())
    for (size_t i = 0; i < columns.size(); ++i) {
      const size_t at = header.places[i];
      columns[i].numbers = columns[i].numbers && at < reader.cells().size() && is_csv_number(reader.cells()[at].text);
    }
  return columns;
}

}  // namespace retrace

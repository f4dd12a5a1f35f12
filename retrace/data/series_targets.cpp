#include "retrace/data/series_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/csv_table.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

constexpr const char* kFileColumn = "file";

std::string text_of_targets(const fs::path& folder) { return read_file(folder / kTargetsFile, "CSV file", kCsvLimit); }

std::vector<std::string> texts_of(const std::vector<CsvCell>& cells) {
  std::vector<std::string> texts;
  for (const auto& cell : cells) texts.push_back(cell.text);
  return texts;
}

Error no_column(const std::string& where, const std::string& name, const std::vector<std::string>& header) {
  const auto near = nearest(name, header);
  return Error(ErrorKind::bad_data, 407, fmt::format("{} has no column \"{}\"", kTargetsFile, printable(name)))
      .where(where)
      .got("columns " + printable(joined(header, ", ")))
      .expected(fmt::format("a line of names: \"{}\", and one name for each target", kFileColumn))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", printable(near)));
}

size_t place_of(const std::string& where, const std::string& name, const std::vector<std::string>& header) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) throw no_column(where, name, header);
  return static_cast<size_t>(found - header.begin());
}

// The header, and the columns of targets in it.
struct Header {
  std::vector<std::string> all, targets;
};
Header header_of(CsvReader& reader, const std::string& where, const std::vector<std::string>& columns) {
  Header header;
  if (reader.next()) header.all = texts_of(reader.cells());
  place_of(where, kFileColumn, header.all);
  for (const auto& name : columns) place_of(where, name, header.all);
  header.targets = columns;
  if (columns.empty())
    std::copy_if(header.all.begin(), header.all.end(), std::back_inserter(header.targets),
                 [](const std::string& name) { return name != kFileColumn; });
  if (header.targets.empty()) throw no_column(where, "target", header.all);
  return header;
}

Error misfit(const std::string& what, const std::string& where) {
  return Error(ErrorKind::bad_data, 406, what)
      .where(where)
      .expected(fmt::format("one record in {} for each .csv and .npy file beside it", kTargetsFile))
      .help("take the record or the file away, or write what is missing: file,TARGET");
}

// The record of each file.
std::vector<size_t> records_of(const fs::path& folder, const std::vector<fs::path>& files,
                               const std::vector<CsvCell>& names, const CsvReader& reader) {
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < files.size(); ++i) known.emplace(files[i].filename().string(), i);
  std::vector<size_t> records(files.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string where = reader.place(names[i].position), shown = printable(names[i].text);
    const auto found = known.find(names[i].text);
    if (found == known.end()) throw misfit(fmt::format("there is no series \"{}\" beside it", shown), where);
    if (records[found->second] < names.size())
      throw misfit(fmt::format("the series \"{}\" has two records", shown), where);
    records[found->second] = i;
  }
  for (size_t i = 0; i < files.size(); ++i)
    if (records[i] == names.size())
      throw misfit(fmt::format("the series \"{}\" has no record", printable(files[i].filename().string())),
                   printable((folder / kTargetsFile).string()));
  return records;
}

}  // namespace

FileTargets read_file_targets(const fs::path& folder, const std::vector<fs::path>& files,
                              const std::vector<std::string>& columns, bool texts) {
  const std::string text = text_of_targets(folder), name = (folder / kTargetsFile).string();
  CsvReader reader(text, name);
  const Header header = header_of(reader, printable(name), columns);
  if (texts && header.targets.size() > 1)
    throw Error(ErrorKind::bad_data, 407, fmt::format("{} has several columns of texts", kTargetsFile))
        .where(printable(name))
        .got("columns " + printable(joined(header.targets, ", ")))
        .expected("one, the text that each series says")
        .help("name it: data.target_columns = [\"" + printable(header.targets[0]) + "\"]");
  const size_t file = place_of(name, kFileColumn, header.all), first = place_of(name, header.targets[0], header.all);
  std::vector<CsvCell> names, own;
  while (reader.next()) {
    if (reader.cells().size() != header.all.size())
      throw Error(ErrorKind::bad_data, 350, fmt::format("a record has {} cells", reader.cells().size()))
          .where(reader.place(reader.cells()[0].position))
          .expected(fmt::format("{}, as the first line has", header.all.size()))
          .help(reader.cells().size() > header.all.size() ? "put a cell that holds a comma into quotes" : "");
    names.push_back(reader.cells()[file]), own.push_back(reader.cells()[first]);
  }
  const std::vector<size_t> records = records_of(folder, files, names, reader);
  FileTargets made{.names = header.targets};
  if (texts) {
    for (const size_t record : records) made.texts.push_back(own[record].text);
    return made;
  }
  const CsvTable table =
      parse_csv_table(text, name, {.named = header.targets, .for_inputs = true, .named_are_targets = true});
  const size_t width = header.targets.size();
  for (const size_t record : records)
    made.values.insert(made.values.end(), table.features.begin() + static_cast<ptrdiff_t>(record * width),
                       table.features.begin() + static_cast<ptrdiff_t>((record + 1) * width));
  return made;
}

std::vector<TargetColumn> look_at_targets(const fs::path& folder) {
  const std::string text = text_of_targets(folder), name = (folder / kTargetsFile).string();
  CsvReader reader(text, name);
  const Header header = header_of(reader, printable(name), {});
  std::vector<TargetColumn> columns;
  for (const auto& target : header.targets) columns.push_back({target});
  while (reader.next())
    for (auto& column : columns) {
      const size_t at = place_of(name, column.name, header.all);
      column.numbers = column.numbers && at < reader.cells().size() && is_csv_number(reader.cells()[at].text);
    }
  return columns;
}

}  // namespace retrace

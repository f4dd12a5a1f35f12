#include "retrace/data/series_targets.h"

#include <fmt/format.h>

#include <map>

#include "retrace/base/file.h"
#include "retrace/data/file_table.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

Error misfit(const std::string& what, const std::string& where) {
  return Error(ErrorKind::bad_data, 406, what)
      .where(where)
      .expected(fmt::format("one record in {} for each .csv and .npy file beside it", kTargetsFile))
      .help("take the record or the file away, or write what is missing: file,TARGET");
}

// The record of each file.
std::vector<size_t> records_of(const std::vector<fs::path>& files, const FileTable& table) {
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < files.size(); ++i) known.emplace(files[i].filename().string(), i);
  std::vector<size_t> records(files.size(), table.files.size());
  for (size_t i = 0; i < table.files.size(); ++i) {
    const CsvLabel& name = table.files[i];
    const std::string shown = printable(name.text);
    const auto found = known.find(name.text);
    if (found == known.end())
      throw misfit(fmt::format("there is no series \"{}\" beside it", shown), table.place(name));
    if (records[found->second] < table.files.size())
      throw misfit(fmt::format("the series \"{}\" has two records", shown), table.place(name));
    records[found->second] = i;
  }
  for (size_t i = 0; i < files.size(); ++i)
    if (records[i] == table.files.size())
      throw misfit(fmt::format("the series \"{}\" has no record", printable(files[i].filename().string())),
                   printable(table.name));
  return records;
}

}  // namespace

FileTargets read_file_targets(const fs::path& folder, const std::vector<fs::path>& files,
                              const std::vector<std::string>& columns, bool texts) {
  const FileTable table = read_file_table(folder / kTargetsFile, {.targets = columns, .texts = texts});
  FileTargets made{.names = table.targets};
  const size_t width = table.targets.size();
  for (const size_t record : records_of(files, table)) {
    if (texts) {
      made.texts.push_back(table.texts[record].text);
      continue;
    }
    const auto first = table.values.begin() + static_cast<ptrdiff_t>(record * width);
    made.values.insert(made.values.end(), first, first + static_cast<ptrdiff_t>(width));
  }
  return made;
}

}  // namespace retrace

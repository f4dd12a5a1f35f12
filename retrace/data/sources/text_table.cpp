// Texts and their classes, in a table.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "retrace/base/file.h"
#include "retrace/data/class_folders.h"
#include "retrace/data/file_table.h"
#include "retrace/data/label_classes.h"
#include "retrace/data/padded_texts.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

FileTable read_texts(Split split, const SourceRequest& request) {
  return read_file_table(
      table_of(split, request),
      {.file = request.options.text("text_column"), .targets = request.options.texts("target_columns"), .texts = true});
}

// The names of the classes are those of the training set.
TableClasses classes_of_texts(Split split, const SourceRequest& request, const FileTable& table) {
  const auto& known = request.training.class_names;
  if (split == Split::train || !known.empty()) return classes_of_table(table, known);
  return classes_of_table(table, classes_of_table(read_texts(Split::train, request), {}).names);
}

std::vector<LabelledTokens> labelled(const FileTable& table, const std::vector<int32_t>& classes,
                                     const OptionValues& options) {
  const Tokens tokens = tokens_of(options);
  std::vector<LabelledTokens> texts;
  for (size_t i = 0; i < table.files.size(); ++i)
    texts.push_back(
        {padded_tokens({table.place(table.files[i]), table.files[i].text}, tokens, options.integer("length")),
         classes.empty() ? 0 : classes[i]});
  return texts;
}

SourceSet load_text_table(Split split, const SourceRequest& request) {
  const FileTable table = read_texts(split, request);
  const TableClasses classes = classes_of_texts(split, request, table);
  std::vector<std::string> files{table.name};
  const Tokens tokens = tokens_of(request.options);
  if (tokens.vocabulary)
    files.insert(files.end(), tokens.vocabulary->files().begin(), tokens.vocabulary->files().end());
  return {padded_texts(labelled(table, classes.numbers, request.options), request.options.integer("length"),
                       std::move(files)),
          std::ssize(classes.names),
          {.class_names = classes.names}};
}

SourceDescription description_of_text_table(Split split, const SourceRequest& request) {
  const FileTable table = read_texts(split, request);
  const TableClasses classes = classes_of_texts(split, request, table);
  return {std::ssize(table.files),
          {{DType::f32, {request.options.integer("length")}, Labels("C"), {}}, {DType::i32, {}, {}, {}}},
          std::ssize(classes.names),
          {.class_names = classes.names}};
}

// A table with the column of texts, or text files.
SourceInputs inputs_of_text_table(const fs::path& input, const SourceRequest& request) {
  const int64_t length = request.options.integer("length");
  if (input.extension() == ".csv") {
    const FileTable table = read_file_table(input, {.file = request.options.text("text_column"), .alone = true});
    return {padded_texts(labelled(table, {}, request.options), length), {}};
  }
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const Tokens tokens = tokens_of(request.options);
  std::vector<LabelledTokens> texts;
  std::vector<std::string> names;
  for (const auto& file : files_to_predict(input, {"folder of texts", "text file or table", {".txt", ".csv"}})) {
    names.push_back(file.string());
    texts.push_back({padded_tokens({names.back(), read_file(file, "text file", kMostBytes)}, tokens, length)});
  }
  return {padded_texts(std::move(texts), length), std::move(names)};
}

// -- for retrace init -----------------------------------------------------------------------------------------------

struct TextColumn {
  std::string name;
  size_t records = 0, blanks = 0, numbers = 0, whole_numbers = 0;
  std::set<std::string> different = {};

  void add(const CsvCell& cell) {
    ++records, numbers += is_csv_number(cell.text);
    whole_numbers += !cell.text.empty() && cell.text.find_first_not_of("0123456789") == std::string::npos;
    blanks += static_cast<size_t>(std::count(cell.text.begin(), cell.text.end(), ' '));
    different.insert(cell.text);
  }
  // Most are sentences, and differ.
  bool is_text() const { return numbers == 0 && blanks >= 2 * records && 2 * different.size() > records; }
  bool numbers_records() const { return whole_numbers == records && records > 1 && different.size() == records; }
};

std::vector<TextColumn> look_at_columns(const fs::path& table) {
  const std::string text = read_file(table, "CSV file", kCsvLimit);
  CsvReader reader(text, table.string());
  std::vector<TextColumn> columns;
  if (reader.next())
    for (const auto& cell : reader.cells()) columns.push_back({cell.text});
  while (reader.next())
    for (size_t i = 0; i < std::min(columns.size(), reader.cells().size()); ++i) columns[i].add(reader.cells()[i]);
  return columns;
}

// The column of texts, and the only other one that does not number the records, which is a class.
struct TextsFound {
  std::string text, target;
};
std::optional<TextsFound> find_texts(const fs::path& table, const std::string& target) {
  TextsFound found{.text = {}, .target = target};
  for (const auto& column : look_at_columns(table)) {
    if (column.name == target) continue;
    if (column.is_text() && found.text.empty())
      found.text = column.name;
    else if (target.empty() && !column.numbers_records()) {
      if (!found.target.empty() || !are_class_labels(column.different)) return std::nullopt;
      found.target = column.name;
    }
  }
  if (found.text.empty() || found.target.empty()) return std::nullopt;
  return found;
}

DataLook look_text_table(const fs::path& path, const std::string& target) {
  const fs::path table = table_of(Split::train, {.path = path, .whole = true});
  const auto found = find_texts(table, target);
  if (!found) throw missing_path(table, "table of texts");
  return {{{"text_column", found->text}, {"target_columns", std::vector<std::string>{found->target}}},
          {{"target_columns", "what is learned; retrace init --target NAME takes another column"}}};
}

std::vector<OptionRule> rules_of_text_table() {
  std::vector<OptionRule> all{
      {.name = "text_column", .help = "the column of the table that holds the texts", .standard = std::string("text")},
      {.name = "target_columns",
       .help = "the column of the classes; none: the only one besides text_column",
       .standard = std::vector<std::string>{},
       .may_be_empty = true}};
  for (auto& rule : padded_text_rules()) all.push_back(std::move(rule));
  return all;
}

}  // namespace

SourceKind text_table_source() {
  return {.name = "text-table",
          .help = "texts of classes in the tables train.csv and test.csv of the folder data.path, a record for each",
          .targets = {{.name = "class"}},
          .reads_folder = true,
          .files = "train.csv and test.csv, tables of texts",
          .options = rules_of_text_table(),
          .size_keys = "data.length",
          .sample = [](const SourceRequest& request) { return Shape{request.options.integer("length")}; },
          .load = load_text_table,
          .description = description_of_text_table,
          .inputs = inputs_of_text_table,
          .class_names =
              [](const SourceRequest& request) {
                const auto& known = request.training.class_names;
                return known.empty() ? classes_of_table(read_texts(Split::train, request), {}).names : known;
              },
          .look_for_target = look_text_table,
          .nearer_than = "csv",
          .origin = [](Split split, int,
                       const SourceRequest& request) { return printable(table_of(split, request).string()); }};
}

}  // namespace retrace

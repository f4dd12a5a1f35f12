// Images whose classes or values stand in a table.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/data/array_store.h"
#include "retrace/data/broken_images.h"
#include "retrace/data/file_table.h"
#include "retrace/data/image_options.h"
#include "retrace/data/image_search.h"
#include "retrace/data/label_classes.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/transform.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

bool is_regression_images(const OptionValues& options) { return options.text("task") == "regression"; }

// Where the images of a table lie.
fs::path folder_of(const fs::path& table, const OptionValues& options) {
  return table.parent_path() / options.text("image_folder");
}

constexpr const char* kEndings[] = {"", ".jpg", ".jpeg", ".png"};

Error no_image(const FileTable& table, const CsvLabel& name, const fs::path& folder, const std::string& ending) {
  Error error = Error(ErrorKind::bad_data, 552, fmt::format("there is no image \"{}\"", printable(name.text)))
                    .where(table.place(name))
                    .got(printable((folder / (name.text + ending)).string()));
  for (const char* const other : kEndings)
    if (std::error_code ignored; !name.text.empty() && fs::is_regular_file(folder / (name.text + other), ignored))
      return error.help(fmt::format("set data.image_ending = \"{}\"", other));
  return error.help("say where the images lie, seen from the table: data.image_folder = \"images\"");
}

// The paths of the images, of which each has to be there: the first 20 mistakes are told.
std::vector<std::string> files_of(const FileTable& table, const fs::path& folder, const std::string& ending) {
  constexpr size_t kMost = 20;
  std::vector<std::string> files;
  std::vector<Error> mistakes;
  for (const CsvLabel& name : table.files) {
    files.push_back((folder / (name.text + ending)).string());
    if (std::error_code ignored; !name.text.empty() && fs::is_regular_file(files.back(), ignored)) continue;
    if (mistakes.size() < kMost) mistakes.push_back(no_image(table, name, folder, ending));
  }
  throw_all(mistakes);
  return files;
}

// A set as it was read. Sizes are those of its images.
struct ReadImages {
  ImageDatastore images;
  FileTable table;
  std::vector<std::string> classes;
};

ReadImages read_images(Split split, const SourceRequest& request, const TrainingFacts& facts) {
  const OptionValues& options = request.options;
  const fs::path path = table_of(split, request);
  const bool values = is_regression_images(options);
  FileTable table =
      read_file_table(path, {.file = options.text("file_column"),
                             .targets = facts.targets.empty() ? options.texts("target_columns") : facts.targets,
                             .texts = !values});
  const auto files = files_of(table, folder_of(path, options), options.text("image_ending"));
  const ImageDatastoreOptions wanted = image_store_options(request, facts.sizes);
  if (values) return {image_list_datastore(files, {}, wanted, Place()), std::move(table), {}};
  TableClasses classes = classes_of_table(table, facts.class_names);
  std::vector<std::string> labels;
  for (const int32_t number : classes.numbers) labels.push_back(classes.names[static_cast<size_t>(number)]);
  ImageDatastoreOptions of_classes = wanted;
  of_classes.class_names = classes.names;
  return {image_list_datastore(files, labels, of_classes, Place()), std::move(table), std::move(classes.names)};
}

// Names of columns are kept with those of the features, which images have none of.
TrainingFacts facts_of(const ReadImages& read) {
  TrainingFacts facts{.class_names = read.classes, .sizes = read.images.sizes()};
  if (read.classes.empty()) facts.features = {"image"}, facts.targets = read.table.targets;
  return facts;
}

// Classes, columns and sizes are those of the training set, where there is one.
ReadImages read_images(Split split, const SourceRequest& request) {
  if (split == Split::train) return read_images(split, request, {});
  TrainingFacts facts = request.training;
  std::error_code ignored;
  const bool known = !facts.class_names.empty() || !facts.targets.empty();
  const bool alone = fs::is_regular_file(request.path, ignored) || !fs::exists(request.path / "train.csv", ignored);
  if (facts.sizes.rank() == 0 && !(known && alone)) facts = facts_of(read_images(Split::train, request, {}));
  return read_images(split, request, facts);
}

Tensor values_of(const ReadImages& read) {
  const auto width = std::ssize(read.table.targets);
  return Tensor::from(read.table.values, {std::ssize(read.table.files), width}, "BC");
}

SourceSet load_image_table(Split split, const SourceRequest& request) {
  const ReadImages read = read_images(split, request);
  if (!is_regression_images(request.options)) return {read.images, std::ssize(read.classes), facts_of(read)};
  const Datastore values = array_store({values_of(read)}, {.files = {read.table.name}});
  return {combine({read.images, values}), 0, facts_of(read)};
}

SourceDescription description_of_image_table(Split split, const SourceRequest& request) {
  const ReadImages read = read_images(split, request);
  SourceDescription made{read.images.size(), {{DType::f32, read.images.sizes(), Labels("SSC"), {}}}};
  made.classes = std::ssize(read.classes), made.facts = facts_of(read);
  if (is_regression_images(request.options))
    made.variables.push_back({DType::f32, {std::ssize(read.table.targets)}, Labels("C"), {}});
  else
    made.variables.push_back({DType::i32, {}, {}, {}});
  return made;
}

// -- for retrace init -----------------------------------------------------------------------------------------------

// How the cells of a column name images.
struct ImageNaming {
  std::string column, folder, ending;
};

// Folders that lie beside a table.
std::vector<std::string> folders_beside(const fs::path& table) {
  std::vector<std::string> folders{""};
  std::error_code failure;
  for (const auto& name : folder_names(table.parent_path(), failure))
    if (std::error_code ignored; name[0] != '.' && fs::is_directory(table.parent_path() / name, ignored))
      folders.push_back(name);
  return folders;
}

// The first column whose first cell names an image beside the table, or in a folder beside it.
std::optional<ImageNaming> find_naming(const fs::path& table) {
  constexpr uint64_t kStart = 1 << 16;
  const std::string text = read_file_start(table, "CSV file", kStart);
  CsvReader reader(text, table.string());
  std::vector<std::string> names;
  if (reader.next())
    for (const auto& cell : reader.cells()) names.push_back(cell.text);
  if (names.empty() || !reader.next()) return std::nullopt;
  for (size_t i = 0; i < std::min(names.size(), reader.cells().size()); ++i)
    for (const auto& folder : folders_beside(table))
      for (const char* const ending : kEndings) {
        const fs::path file = table.parent_path() / folder / (reader.cells()[i].text + ending);
        std::error_code ignored;
        if (is_image_name(file.filename().string()) && fs::is_regular_file(file, ignored))
          return ImageNaming{names[i], folder, ending};
      }
  return std::nullopt;
}

// What the other columns are: one of classes, or values.
struct ImageTargets {
  std::vector<std::string> columns;
  bool classes = false;
};

bool are_classes(const fs::path& table, const ImageNaming& naming, const std::string& column) {
  std::set<std::string> labels;
  for (const auto& label : read_file_table(table, {naming.column, {column}, true}).texts) labels.insert(label.text);
  return are_class_labels(labels);
}

// The last column of texts; several columns of numbers are values, one may be numbers of classes.
ImageTargets find_targets(const fs::path& table, const ImageNaming& naming, const std::string& target) {
  if (!target.empty()) return {{target}, are_classes(table, naming, target)};
  const auto columns = look_at_file_table(table, naming.column);
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  if (names.size() == 1) return {names, are_classes(table, naming, names[0])};
  const auto texts = std::find_if(columns.rbegin(), columns.rend(), [](const auto& column) { return !column.numbers; });
  if (texts == columns.rend()) return {names, false};
  return {{texts->name}, true};
}

DataLook look_image_table(const fs::path& path, const std::string& target) {
  const SourceRequest request{.path = path, .whole = true};
  const fs::path table = table_of(Split::train, request);
  const auto naming = find_naming(table);
  if (!naming) throw missing_path(table, "table of images");
  const ImageTargets targets = find_targets(table, *naming, target);
  DataLook look{.options = {{"file_column", naming->column},
                            {"image_folder", naming->folder},
                            {"image_ending", naming->ending},
                            {"task", std::string(targets.classes ? "classification" : "regression")},
                            {"target_columns", targets.columns}},
                .notes = {}};
  look.notes["target_columns"] = "what is learned; retrace init --target NAME takes another column";
  const FileTable read = read_file_table(table, {naming->column, targets.columns, targets.classes});
  const auto files = files_of(read, table.parent_path() / naming->folder, naming->ending);
  const ImageFiles images = listed_image_files(files, {});
  tell_broken_images(images);
  for (const auto& [name, value] : image_look(image_list_datastore(files, {}, {}, Place()).sizes()))
    look.options.set(name, value);
  return look;
}

std::vector<OptionRule> rules_of_image_table() {
  std::vector<OptionRule> all{
      {.name = "task",
       .help = "what is learned: a class or values",
       .standard = std::string("classification"),
       .choices = {"classification", "regression"}},
      {.name = "file_column", .help = "the column of the table that names the images", .standard = std::string("file")},
      {.name = "image_folder",
       .help = "where the images lie, seen from the table; nothing: beside it",
       .standard = std::string(),
       .may_be_empty = true},
      {.name = "image_ending",
       .help = "what the table leaves out of the names of files, such as .jpg",
       .standard = std::string(),
       .may_be_empty = true},
      {.name = "target_columns",
       .help = "the columns that are learned; none: all but file_column",
       .standard = std::vector<std::string>{},
       .may_be_empty = true}};
  for (auto& rule : image_rules()) all.push_back(std::move(rule));
  return all;
}

}  // namespace

SourceKind image_table_source() {
  return {
      .name = "image-table",
      .help =
          "JPEG and PNG files that the tables train.csv and test.csv of the folder data.path name, with their class "
          "or values",
      .targets = {{.name = "class"}, {.name = "value", .kind = nn::OutputKind::values}},
      .reads_folder = true,
      .files = "train.csv and test.csv, tables that name images",
      .options = rules_of_image_table(),
      .has_target =
          [](const SourceTarget& target, const OptionValues& options) {
            return is_regression_images(options) == (target.name == "value");
          },
      .sample = sample_of_images,
      .load = load_image_table,
      .description = description_of_image_table,
      .class_names =
          [](const SourceRequest& request) {
            if (is_regression_images(request.options)) return std::vector<std::string>();
            const auto& known = request.training.class_names;
            return known.empty() ? read_images(Split::train, request).classes : known;
          },
      .look_for_target = look_image_table,
      .nearer_than = "csv",
      .origin = [](Split split, int,
                   const SourceRequest& request) { return printable(table_of(split, request).string()); }};
}

}  // namespace retrace

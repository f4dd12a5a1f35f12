#include "retrace/data/class_folders.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/base/joined.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder, fs::file_type type, const std::string& what) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) throw missing_path(folder, what.c_str());
  std::vector<std::string> names = folder_names(folder, failure);
  if (failure) throw read_failed(folder, what.c_str(), failure.value());
  std::erase_if(names, [&](const std::string& name) {
    return name[0] == '.' || fs::symlink_status(folder / name, failure).type() != type;
  });
  std::sort(names.begin(), names.end());
  return names;
}

bool ends_as(const std::string& name, const ClassFolderWords& words) {
  return std::any_of(words.endings.begin(), words.endings.end(),
                     [&](const std::string& ending) { return name.ends_with(ending); });
}

Error unknown_class(const fs::path& folder, const std::vector<std::string>& known, const ClassFolderWords& words) {
  return Error(ErrorKind::bad_data, 286, fmt::format("a {} is of no class of the training", words.folder))
      .where(printable(folder.string()))
      .expected(fmt::format("one of {}", printable(joined(known, ", "))))
      .help("the training set has a folder for each class: move the files, or train with the class");
}

void add_files(const fs::path& folder, const ClassFolderWords& words, std::vector<fs::path>& files) {
  for (const auto& name : names_in(folder, fs::file_type::regular, words.folder))
    if (ends_as(name, words)) files.push_back(folder / name);
  for (const auto& name : names_in(folder, fs::file_type::directory, words.folder))
    add_files(folder / name, words, files);
}

}  // namespace

fs::path set_of_classes(Split split, const SourceRequest& request, const ClassFolderWords& words) {
  const bool training = split == Split::train;
  const fs::path &path = request.path, folder = path / (training ? "train" : "test");
  std::error_code failure;
  if ((!training && !request.only_test) || !fs::is_directory(path, failure)) return folder;
  if (fs::exists(folder, failure) || fs::exists(path / "train", failure)) return folder;
  int64_t classes = 0;
  for (const auto& name : folder_names(path, failure)) {
    if (name[0] == '.' || fs::symlink_status(path / name, failure).type() != fs::file_type::directory) continue;
    const auto inside = folder_names(path / name, failure);
    classes += std::any_of(inside.begin(), inside.end(),
                           [&](const std::string& file) { return file[0] != '.' && ends_as(file, words); });
  }
  return classes > (training ? 1 : 0) ? path : folder;
}

std::vector<std::string> classes_in(const fs::path& folder, const ClassFolderWords& words) {
  std::vector<std::string> classes = names_in(folder, fs::file_type::directory, words.folder);
  if (classes.empty()) throw missing_path(folder / "CLASS", words.folder.c_str());
  return classes;
}

std::vector<fs::path> class_files_in(const fs::path& folder, const ClassFolderWords& words) {
  std::vector<fs::path> files;
  for (const auto& name : names_in(folder, fs::file_type::regular, words.folder))
    if (ends_as(name, words)) files.push_back(folder / name);
  if (files.empty()) throw missing_path(folder / ("*" + words.endings[0]), words.file.c_str());
  return files;
}

std::vector<ClassFile> files_of_classes(const fs::path& folder, const std::vector<std::string>& classes,
                                        const ClassFolderWords& words) {
  std::vector<std::vector<fs::path>> by_class(classes.size());
  size_t most = 0;
  for (const auto& name : classes_in(folder, words)) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) throw unknown_class(folder / name, classes, words);
    auto& own = by_class[static_cast<size_t>(found - classes.begin())] = class_files_in(folder / name, words);
    most = std::max(most, own.size());
  }
  std::vector<ClassFile> files;
  for (size_t i = 0; i < most; ++i)
    for (size_t number = 0; number < by_class.size(); ++number)
      if (i < by_class[number].size()) files.push_back({by_class[number][i], static_cast<int32_t>(number)});
  return files;
}

std::vector<fs::path> files_to_predict(const fs::path& input, const ClassFolderWords& words) {
  std::error_code failure;
  std::vector<fs::path> files;
  if (fs::is_directory(input, failure))
    add_files(input, words, files);
  else if (ends_as(input.string(), words))
    files.push_back(input);
  if (files.empty())
    throw Error(ErrorKind::usage, 299,
                fmt::format("predict finds no {} in \"{}\"", words.file, printable(input.string())))
        .expected(
            fmt::format("a file whose name ends with {}, or a folder of such files", joined(words.endings, " or ")));
  return files;
}

}  // namespace retrace

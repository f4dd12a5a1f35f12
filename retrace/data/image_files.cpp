#include "retrace/data/image_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/file_container.h"
#include "retrace/data/image_search.h"

namespace retrace {
namespace {

// The name of the folder that a file lies in; "" if its path does not say it.
std::string_view folder_name(std::string_view path) {
  const size_t end = path.rfind('/');
  if (end == std::string_view::npos) return "";
  const size_t begin = path.rfind('/', end - 1);
  return begin == std::string_view::npos || end == 0 ? path.substr(0, end) : path.substr(begin + 1, end - begin - 1);
}

void check_folders(const FoundImages& found) {
  if (!found.empty.empty())
    throw Error(ErrorKind::bad_data, 338,
                fmt::format("the folder \"{}\" of a class has no image",
                            printable(*std::min_element(found.empty.begin(), found.empty.end()))))
        .help("remove it, or put images of the class into it");
  if (found.folder.empty()) return;
  for (const auto& path : found.images)
    if (path.find('/', found.folder.size() + 1) == std::string::npos)
      throw Error(ErrorKind::bad_data, 339,
                  fmt::format("the image \"{}\" is not in the folder of a class", printable(path)))
          .expected("a folder for each class, with the images of the class in it")
          .help("move it into the folder of its class, or take it out");
}

std::vector<std::string> names_found(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths)  // files of a folder follow each other
    if (const auto name = folder_name(path); names.empty() || names.back() != name) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The numbers of these names of classes, one for each file.
template <class Name>
void add_labels(ImageFiles& files, Name name_of) {
  std::unordered_map<std::string_view, int32_t> numbers;
  for (const auto& name : files.class_names) numbers.emplace(name, static_cast<int32_t>(numbers.size()));
  for (size_t i = 0; i < files.paths.size(); ++i) {
    const std::string_view name = name_of(i);
    const auto found = numbers.find(name);
    if (found == numbers.end())
      throw Error(ErrorKind::bad_data, 340,
                  fmt::format("the image \"{}\" is of no known class", printable(files.paths[i])))
          .got(printable(name))
          .expected(printable(joined(files.class_names, ", ")))
          .help("add the class to the training set (in a program, to class_names), or take its images out");
    files.labels.push_back(found->second);
  }
}

}  // namespace

ImageFiles find_image_files(const std::string& location, bool labels, const std::vector<std::string>& class_names) {
  FoundImages found = search_images(location);
  if (labels) check_folders(found);
  ImageFiles files{std::move(found.images), {}, {}, std::move(found.container), std::move(found.entries)};
  if (!labels) return files;
  files.class_names = class_names.empty() ? names_found(files.paths) : class_names;
  add_labels(files, [&](size_t i) { return folder_name(files.paths[i]); });
  return files;
}

ImageFiles listed_image_files(const std::vector<std::string>& paths, const std::vector<std::string>& labels,
                              const std::vector<std::string>& class_names) {
  if (paths.empty() || (!labels.empty() && labels.size() != paths.size()))
    throw Error(ErrorKind::usage, 551, "image_list_datastore: there is no image, or not one label for each")
        .got(fmt::format("{} files, {} labels", paths.size(), labels.size()))
        .expected("one file or more, and no labels or as many");
  for (const auto& path : paths)
    if (std::error_code ignored; !std::filesystem::exists(path, ignored)) throw missing_path(path, "image");
  ImageFiles files{paths, {}, {}, nullptr, {}};
  if (labels.empty()) return files;
  files.class_names = class_names;
  if (class_names.empty()) {
    const std::set<std::string> names(labels.begin(), labels.end());
    files.class_names.assign(names.begin(), names.end());
  }
  add_labels(files, [&](size_t i) { return std::string_view(labels[i]); });
  return files;
}

std::string ImageFiles::bytes(size_t file) const {
  if (!container) return read_file(paths[file], "image", kImageFileLimit);
  const uint64_t bytes = container->file(entries[file]).bytes;
  if (bytes > kImageFileLimit)
    throw Error(ErrorKind::bad_data, 504, fmt::format("image \"{}\" is too large", printable(paths[file])))
        .got(fmt::format("{} bytes", bytes))
        .expected(fmt::format("at most {} bytes", kImageFileLimit));
  return container->content(entries[file], bytes);
}

std::string ImageFiles::start(size_t file, uint64_t most) const {
  return container ? container->content(entries[file], most) : read_file_start(paths[file], "image", most);
}

}  // namespace retrace

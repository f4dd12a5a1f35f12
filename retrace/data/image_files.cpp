#include "retrace/data/image_files.h"

#include <fmt/format.h>

#include <algorithm>

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

// The place of a name in sorted names; -1 if it is not there.
int32_t place_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int32_t>(found - names.begin());
}

std::vector<std::string> names_found(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths)  // files of a folder follow each other
    if (const auto name = folder_name(path); names.empty() || names.back() != name) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void add_labels(ImageFiles& files) {
  std::string_view last;
  int32_t label = -1;
  for (const auto& path : files.paths) {
    if (const auto name = folder_name(path); label < 0 || name != last) {
      last = name;
      label = place_of(files.class_names, name);
      if (label < 0)
        throw Error(ErrorKind::bad_data, 340, fmt::format("the image \"{}\" is of no known class", printable(path)))
            .got(printable(name))
            .expected(printable(joined(files.class_names, ", ")))
            .help("add the class to the training set (in a program, to class_names), or take its folder out");
    }
    files.labels.push_back(label);
  }
}

}  // namespace

ImageFiles find_image_files(const std::string& location, bool labels, const std::vector<std::string>& class_names) {
  FoundImages found = search_images(location);
  if (labels) check_folders(found);
  ImageFiles files{std::move(found.images), {}, {}, std::move(found.container), std::move(found.entries)};
  if (!labels) return files;
  files.class_names = class_names.empty() ? names_found(files.paths) : class_names;
  add_labels(files);
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

#include "retrace/data/image_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "retrace/base/file.h"

namespace retrace {
namespace fs = std::filesystem;
namespace {

// The name of the folder that a file lies in; "" if its path does not say it.
std::string_view folder_name(std::string_view path) {
  const size_t end = path.rfind('/');
  if (end == std::string_view::npos) return "";
  const size_t begin = path.rfind('/', end - 1);
  return begin == std::string_view::npos || end == 0 ? path.substr(0, end) : path.substr(begin + 1, end - begin - 1);
}

// Looks through folders.
class Search {
 public:
  // Adds what is in and below a folder. Returns whether that is an image.
  bool look(const std::string& folder) {
    check_circle(folder);
    bool found = false;
    std::vector<std::string> folders;
    std::error_code failure;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
      const std::string& path = entry->path().native();
      const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
      if (name[0] == '.') continue;
      std::error_code ignored;  // a link that leads nowhere is not a folder
      if (entry->is_directory(ignored))
        folders.push_back(path);
      else if (is_image_name(name))
        images.push_back(path), found = true;
    }
    if (failure) throw read_failed(folder, "image folder", failure.value());
    for (const auto& inner : folders) found = look(inner) || found;
    if (!found) empty.push_back(folder);
    above_.pop_back();
    return found;
  }

  std::vector<std::string> images;
  std::vector<std::string> empty;  // folders without an image

 private:
  // Puts the folder on the way down.
  void check_circle(const std::string& folder) {
    std::error_code ignored;
    for (const auto& outer : above_)
      if (fs::is_symlink(folder, ignored) && fs::equivalent(folder, outer, ignored))
        throw Error(ErrorKind::bad_data, 337,
                    fmt::format("\"{}\" is a link to a folder that it lies in", printable(folder)))
            .help("remove the link");
    above_.push_back(folder);
  }

  std::vector<std::string> above_;
};

bool has_wildcard(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

// The paths that a pattern matches.
std::vector<std::string> expanded(const std::string& pattern) {
  std::vector<std::string> found{pattern.starts_with('/') ? "/" : ""};
  for (size_t begin = 0; begin <= pattern.size();) {
    const size_t end = std::min(pattern.find('/', begin), pattern.size());
    const std::string part = pattern.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) continue;
    std::vector<std::string> next;
    for (const auto& base : found) {
      const std::string front = base.empty() || base == "/" ? base : base + "/";
      std::error_code ignored;
      if (!has_wildcard(part)) {
        if (fs::exists(front + part, ignored)) next.push_back(front + part);
        continue;
      }
      for (fs::directory_iterator entry(base.empty() ? "." : base, ignored); entry != fs::directory_iterator();
           entry.increment(ignored))
        if (const auto name = entry->path().filename().native(); matches_wildcard(part, name))
          next.push_back(front + name);
    }
    found = std::move(next);
  }
  return found;
}

constexpr const char* kEndings = "files whose names end in .jpg, .jpeg or .png";

Search search(const std::string& location) {
  Search found;
  std::error_code ignored;
  std::string start = location;
  while (start.size() > 1 && start.back() == '/') start.pop_back();
  if (fs::is_directory(start, ignored)) {
    if (!found.look(start))
      throw Error(ErrorKind::missing, 336, fmt::format("there is no image in the folder \"{}\"", printable(start)))
          .expected(kEndings);
  } else if (fs::exists(start, ignored)) {
    found.images.push_back(start);
  } else if (has_wildcard(location)) {
    for (const auto& path : expanded(location))
      if (fs::is_directory(path, ignored))
        found.look(path);
      else if (is_image_name(fs::path(path).filename().native()))
        found.images.push_back(path);
    if (found.images.empty())
      throw Error(ErrorKind::missing, 336, fmt::format("no image matches \"{}\"", printable(location)))
          .expected(kEndings);
  } else {
    throw missing_path(location, "image folder");
  }
  std::sort(found.images.begin(), found.images.end());
  return found;
}

void check_folders(const std::string& location, const Search& found) {
  if (!found.empty.empty())
    throw Error(ErrorKind::bad_data, 338,
                fmt::format("the folder \"{}\" of a class has no image",
                            printable(*std::min_element(found.empty.begin(), found.empty.end()))))
        .help("remove it, or put images of the class into it");
  std::error_code ignored;
  if (!fs::is_directory(location, ignored)) return;
  const size_t front = location.size() + (location.ends_with('/') ? 0 : 1);
  for (const auto& path : found.images)
    if (path.find('/', std::min(front, path.size())) == std::string::npos)
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
            .expected(printable(fmt::format("{}", fmt::join(files.class_names, ", "))))
            .help("add the class to the training set (in a program, to class_names), or take its folder out");
    }
    files.labels.push_back(label);
  }
}

}  // namespace

bool is_image_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name[0] == '.') return false;
  std::string ending(name.substr(dot));
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

bool matches_wildcard(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  size_t p = 0, n = 0, star = std::string_view::npos, after = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*')
      star = p++, after = n;
    else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]))
      ++p, ++n;
    else if (star != std::string_view::npos)
      p = star + 1, n = ++after;
    else
      return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

ImageFiles find_image_files(const std::string& location, bool labels, const std::vector<std::string>& class_names) {
  Search found = search(location);
  if (labels) check_folders(location, found);
  ImageFiles files{std::move(found.images), {}, {}};
  if (!labels) return files;
  files.class_names = class_names.empty() ? names_found(files.paths) : class_names;
  add_labels(files);
  return files;
}

}  // namespace retrace

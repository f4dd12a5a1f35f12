#include "retrace/data/image_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "retrace/base/file.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/image_files.h"
#include "retrace/data/s3_archive.h"
#include "retrace/data/s3_files.h"
#include "retrace/data/tar.h"

namespace retrace {
namespace fs = std::filesystem;
namespace {

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

FoundImages search_folders(const std::string& location) {
  Search found;
  std::string folder;
  std::error_code ignored;
  std::string start = location;
  while (start.size() > 1 && start.back() == '/') start.pop_back();
  if (fs::is_directory(start, ignored)) {
    folder = start;
    if (!found.look(start)) throw no_image_at(start, true);
  } else if (fs::exists(start, ignored)) {
    found.images.push_back(start);
  } else if (has_wildcard(location)) {
    for (const auto& path : expanded(location))
      if (fs::is_directory(path, ignored))
        found.look(path);
      else if (is_image_name(fs::path(path).filename().native()))
        found.images.push_back(path);
    if (found.images.empty()) throw no_image_at(location, false);
  } else {
    throw missing_path(location, "image folder");
  }
  std::sort(found.images.begin(), found.images.end());
  return {std::move(found.images), std::move(found.empty), std::move(folder), nullptr, {}};
}

}  // namespace

Error no_image_at(const std::string& location, bool is_folder) {
  return Error(ErrorKind::missing, 336,
               fmt::format("{} \"{}\"", is_folder ? "there is no image in the folder" : "no image matches",
                           printable(location)))
      .expected("files whose names end in .jpg, .jpeg or .png");
}

bool has_wildcard(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

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

FoundImages search_images(const std::string& location) {
  if (is_s3(location)) {
    if (const auto archive = s3_archive_path(location))
      return search_container(s3_archive(archive->archive), archive->inside);
    return search_container(s3_files(location), parse_s3(location).key);
  }
  if (const auto archive = archive_path(location))
    return search_container(open_archive(archive->archive), archive->inside);
  return search_folders(location);
}

}  // namespace retrace

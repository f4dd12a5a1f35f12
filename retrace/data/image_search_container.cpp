#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/file.h"
#include "retrace/data/file_container.h"
#include "retrace/data/image_files.h"
#include "retrace/data/image_search.h"

namespace retrace {
namespace {

using Parts = std::vector<std::string_view>;

// The names between the '/' of a path.
Parts parts_of(std::string_view path) {
  Parts parts;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool matches(std::string_view pattern, std::string_view name) {
  return has_wildcard(pattern) ? matches_wildcard(pattern, name) : pattern == name;
}

// Collects what a location within a container matches.
class ContainerSearch {
 public:
  ContainerSearch(std::shared_ptr<const FileContainer> container, const std::string& inside)
      : container_(std::move(container)),
        wanted_(parts_of(inside)),
        many_(has_wildcard(inside)),
        shown_(wanted_.empty() ? container_->name() : container_->name() + "/" + inside) {
    while (shown_.ends_with('/')) shown_.pop_back();
  }

  FoundImages found() {
    found_.container = container_;
    bool is_folder = wanted_.empty();
    for (size_t i = 0; i < container_->size(); ++i) {
      const ContainedFile& entry = container_->file(i);
      const Parts parts = parts_of(entry.name);
      if (!is_wanted(parts)) continue;
      is_folder = is_folder || parts.size() > wanted_.size() || entry.kind == ContainedFile::Kind::folder;
      add(i, entry, parts);
    }
    if (found_.images.empty()) throw nothing(is_folder);
    for (const auto& folder : folders_)
      if (!full_.contains(folder)) found_.empty.push_back(path_of(folder));
    if (is_folder && !many_) found_.folder = shown_;
    return std::move(found_);
  }

 private:
  std::string path_of(std::string_view name) const { return fmt::format("{}/{}", container_->name(), name); }

  // Whether the location, or a folder that it matches, has the entry; hidden ones are not in folders.
  bool is_wanted(const Parts& parts) const {
    if (parts.size() < wanted_.size()) return false;
    for (size_t i = 0; i < parts.size(); ++i)
      if (i < wanted_.size() ? !matches(wanted_[i], parts[i]) : parts[i][0] == '.') return false;
    return true;
  }

  void add(size_t index, const ContainedFile& entry, const Parts& parts) {
    const bool named = parts.size() == wanted_.size() && !many_;  // one file, whatever its name is
    const bool image = entry.kind != ContainedFile::Kind::folder && (named || is_image_name(parts.back()));
    if (entry.kind == ContainedFile::Kind::symbolic_link || (entry.kind == ContainedFile::Kind::hard_link && image))
      throw Error(ErrorKind::bad_data, 653, fmt::format("\"{}\" is a link", printable(path_of(entry.name))))
          .expected("files and folders")
          .help("make the archive anew, with the options --dereference --hard-dereference of tar");
    if (image) found_.images.push_back(path_of(entry.name)), found_.entries.push_back(index);
    const size_t depth = parts.size() - (entry.kind == ContainedFile::Kind::folder ? 0 : 1);
    for (size_t i = std::max<size_t>(wanted_.size(), 1); i <= depth; ++i) {
      const std::string_view folder(entry.name.data(),
                                    static_cast<size_t>(parts[i - 1].data() + parts[i - 1].size() - entry.name.data()));
      folders_.insert(folder);
      if (image) full_.insert(folder);
    }
  }

  Error nothing(bool is_folder) const {
    if (many_ || is_folder) return no_image_at(shown_, !many_);
    const std::string_view inside = std::string_view(shown_).substr(container_->name().size() + 1);
    return Error(ErrorKind::missing, 655,
                 fmt::format("there is no \"{}\" in the {} \"{}\"", printable(inside), container_->kind(),
                             printable(container_->name())))
        .help(advice(inside));
  }

  // Where the location is below another folder of the container, or what is at its top.
  std::string advice(std::string_view inside) const {
    std::set<std::string_view> tops;  // as deep as the location
    for (size_t i = 0; i < container_->size(); ++i) {
      const ContainedFile& entry = container_->file(i);
      const size_t at = ("/" + entry.name + "/").find(fmt::format("/{}/", inside));
      if (at != std::string::npos)
        return fmt::format("did you mean \"{}\"?", printable(path_of(entry.name.substr(0, at + inside.size()))));
      const Parts parts = parts_of(entry.name);
      const std::string_view last = parts[std::min(parts.size(), wanted_.size()) - 1];
      tops.insert(
          std::string_view(entry.name.data(), static_cast<size_t>(last.data() + last.size() - entry.name.data())));
    }
    if (tops.empty()) return "it is empty";
    std::vector<std::string> names(tops.begin(), tops.end());
    const std::string near = nearest(std::string(inside), names);
    if (!near.empty()) return fmt::format("did you mean \"{}\"?", printable(path_of(near)));
    return fmt::format("it begins with \"{}\"", printable(path_of(names[0])));
  }

  std::shared_ptr<const FileContainer> container_;
  Parts wanted_;
  bool many_;          // wildcards: any number of folders and files
  std::string shown_;  // the location
  FoundImages found_;
  std::set<std::string_view> folders_, full_;  // all of them, and those with an image in or below them
};

}  // namespace

FoundImages search_container(std::shared_ptr<const FileContainer> container, const std::string& inside) {
  return ContainerSearch(std::move(container), inside).found();
}

}  // namespace retrace

#include "retrace/data/npz_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/npy.h"
#include "retrace/data/zip.h"

namespace retrace {
namespace {

constexpr std::string_view kNpyEnding = ".npy";
constexpr const char* kInputs[] = {"x", "inputs", "images", "data", "features"};
constexpr const char* kTargets[] = {"y", "targets", "labels", "target", "label"};

std::string array_name(const std::string& member) {
  return member.ends_with(kNpyEnding) ? member.substr(0, member.size() - kNpyEnding.size()) : member;
}

std::string lower_name(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

bool is_npz(const std::filesystem::path& path) {
  std::error_code ignored;
  return path.extension() == ".npz" && std::filesystem::is_regular_file(path, ignored);
}

std::optional<NpzPlace> npz_place(const std::filesystem::path& path) {
  if (!is_npz(path.parent_path())) return std::nullopt;
  return NpzPlace{path.parent_path(), array_name(path.filename().string())};
}

std::vector<std::string> npz_names(const std::filesystem::path& file) {
  std::vector<std::string> names;
  for (const auto& member : zip_members(read_file(file, "NPZ file", kNpyLimit), file.string()))
    names.push_back(array_name(member.name));
  return names;
}

std::string npz_bytes(const NpzPlace& place, uint64_t most) {
  const std::string name = place.file.string(), archive = read_file(place.file, "NPZ file", kNpyLimit);
  std::vector<std::string> names;
  for (const auto& member : zip_members(archive, name)) {
    if (array_name(member.name) == place.array) return zip_content(archive, member, name, most);
    names.push_back(array_name(member.name));
  }
  const std::string near = nearest(place.array, names);
  throw Error(ErrorKind::bad_data, 536,
              fmt::format("NPZ file \"{}\" has no array \"{}\"", printable(name), printable(place.array)))
      .got(printable(joined(names, ", ")))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", printable(near)));
}

std::optional<std::string> npz_array_of(const std::vector<std::string>& names, const std::string& set, NpzPart part) {
  for (const std::string word : part == NpzPart::inputs ? std::span(kInputs) : std::span(kTargets))
    for (const auto& name : names) {
      const std::string known = lower_name(name);
      if (known == (set.empty() ? word : word + "_" + set) || (!set.empty() && known == set + "_" + word)) return name;
    }
  return std::nullopt;
}

}  // namespace retrace

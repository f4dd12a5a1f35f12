#pragma once
// Files that no data source reads.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace retrace {

struct UnreadFiles {
  std::string found;  // how many, and their endings
  std::string help;   // what makes files of them that a source reads
};

// What a folder (with its folders, as far as a few thousand names go) or a file holds that no source reads under its
// name: none if all endings are unknown, or there is nothing.
std::optional<UnreadFiles> unread_files(const std::filesystem::path& location);

// The file of a folder whose name alone ends in one of these endings, each with a blank behind it; none where there are
// more, or none.
std::optional<std::filesystem::path> only_file(const std::filesystem::path& folder, std::string_view endings);

}  // namespace retrace

#pragma once
// Files of weights that other frameworks write.

#include <filesystem>
#include <string>

namespace retrace {

// A line of Python that makes a file for load() of a file with such an ending, and whose files these are ("PyTorch");
// empty where the ending is none of another framework.
struct ForeignFile {
  std::string framework, conversion;
};
ForeignFile foreign_file(const std::filesystem::path& path);

// Throws Error(usage) if a file written there would be taken for one of another framework.
void check_own_ending(const std::filesystem::path& path);

}  // namespace retrace

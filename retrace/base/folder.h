#pragma once
// What is in a folder.

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace retrace {

// The names in a folder without "." and "..", in no order. What the system says in the way is in `failure`, behind the
// names before it. Throws std::bad_alloc where std::filesystem's iterators, as of libstdc++ 12, end the process.
std::vector<std::string> folder_names(const std::filesystem::path& folder, std::error_code& failure);

}  // namespace retrace

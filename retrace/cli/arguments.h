#pragma once
// The arguments of this command, for processes that run it again.

#include <string>
#include <vector>

namespace retrace::cli {

// Without "NAME VALUE" and "NAME=VALUE".
void drop_option(std::vector<std::string>& command, const std::string& name);
// Without "NAME".
void drop_flag(std::vector<std::string>& command, const std::string& name);

}  // namespace retrace::cli

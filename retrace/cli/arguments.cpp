#include "retrace/cli/arguments.h"

#include <cstddef>

namespace retrace::cli {

void drop_option(std::vector<std::string>& command, const std::string& name) {
  for (size_t i = 0; i < command.size();) {
    const bool alone = command[i] == name;
    if (alone || command[i].starts_with(name + "=")) {
      const auto at = command.begin() + static_cast<ptrdiff_t>(i);
      command.erase(at, at + (alone && i + 1 < command.size() ? 2 : 1));
    } else {
      ++i;
    }
  }
}

void drop_flag(std::vector<std::string>& command, const std::string& name) { std::erase(command, name); }

}  // namespace retrace::cli

#include "retrace/base/folder.h"

#include <dirent.h>

#include <cerrno>
#include <memory>

namespace retrace {

std::vector<std::string> folder_names(const std::filesystem::path& folder, std::error_code& failure) {
  std::vector<std::string> names;
  const auto note = [&] { failure.assign(errno, std::generic_category()); };
  failure.clear();
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return note(), names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (!entry) break;
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  }
  if (errno) note();
  return names;
}

}  // namespace retrace

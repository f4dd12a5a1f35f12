#pragma once
// A folder of its own for a test, removed with it.

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "retrace/base/error.h"

namespace retrace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "retrace_test_XXXXXX").string();
    ensure(::mkdtemp(name.data()) != nullptr, "a folder for the test");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  operator const std::filesystem::path&() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace retrace

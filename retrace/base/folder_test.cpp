#include "retrace/base/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace retrace {
namespace {

TEST(FolderNames, AreOfAllEntries) {
  const std::filesystem::path folder = testing::TempDir() + "folder-names-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder / "b");
  std::ofstream(folder / ".a") << "1";
  std::filesystem::create_symlink("nowhere", folder / "c");
  std::error_code failure = std::make_error_code(std::errc::io_error);
  auto names = folder_names(folder, failure);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{".a", "b", "c"}));
  EXPECT_FALSE(failure);
  EXPECT_TRUE(folder_names(folder / "none", failure).empty());
  EXPECT_EQ(failure, std::errc::no_such_file_or_directory);
  folder_names(folder / ".a", failure);
  EXPECT_EQ(failure, std::errc::not_a_directory);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace retrace

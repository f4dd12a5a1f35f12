#include "retrace/cloud/object_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <filesystem>

#include "retrace/base/file.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "lock") files.push_back(entry.path());
  return files;
}

TEST(ObjectCache, KeepsWhatItWasGiven) {
  const TemporaryFolder folder;
  ObjectCache cache((folder / "objects").string(), 1 << 20);
  EXPECT_FALSE(cache.find("a"));
  for (const size_t size : {0, 1, 7, 8, 9, 1000}) {
    const std::string name = std::to_string(size), bytes(size, 'x');
    cache.keep(name, bytes);
    EXPECT_EQ(cache.find(name), bytes);
  }
  EXPECT_FALSE(cache.find("a"));
  EXPECT_EQ(ObjectCache((folder / "objects").string(), 1 << 20).find("9"), std::string(9, 'x'));
  cache.forget("9");
  EXPECT_FALSE(cache.find("9"));
}

TEST(ObjectCache, DamageCountsAsAbsent) {
  const TemporaryFolder folder;
  ObjectCache cache(folder.path().string(), 1 << 20);
  const std::string bytes = "the content of an object";
  cache.keep("a", bytes);
  const auto path = files_in(folder).at(0);
  const std::string whole = read_file(path, "file", 1000);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] ^= 1;
    write_file_whole(path, changed);
    EXPECT_FALSE(cache.find("a")) << i;
    write_file_whole(path, std::string_view(whole).substr(0, i));
    EXPECT_FALSE(cache.find("a")) << i;
  }
  write_file_whole(path, whole);
  EXPECT_EQ(cache.find("a"), bytes);
}

TEST(ObjectCache, WhatWasUsedLongAgoGoesFirst) {
  const TemporaryFolder folder;
  constexpr uint64_t most = 1 << 20;
  ObjectCache cache(folder.path().string(), most);
  const std::string bytes(10000, 'x');
  for (int i = 0; i < 60; ++i) cache.keep("old " + std::to_string(i), bytes);
  const timeval yesterday[2] = {{time(nullptr) - 86400, 0}, {time(nullptr) - 86400, 0}};
  for (const auto& path : files_in(folder)) ::utimes(path.c_str(), yesterday);
  EXPECT_TRUE(cache.find("old 7"));  // and was used today
  for (int i = 0; i < 80; ++i) {
    cache.keep("new " + std::to_string(i), bytes);
    uint64_t all = 0;
    for (const auto& path : files_in(folder)) all += std::filesystem::file_size(path);
    ASSERT_LE(all, most);
  }
  int old = 0;
  for (int i = 0; i < 60; ++i) old += cache.find("old " + std::to_string(i)).has_value();
  for (int i = 0; i < 80; ++i) EXPECT_TRUE(cache.find("new " + std::to_string(i))) << i;
  EXPECT_TRUE(cache.find("old 7"));
  EXPECT_LT(old, 30);
}

TEST(ObjectCache, WithoutAFolderNothingIsKept) {
  ObjectCache none("", 1 << 20);
  none.keep("a", "b");
  EXPECT_FALSE(none.find("a"));
  ObjectCache nowhere("/proc/none", 1 << 20);
  nowhere.keep("a", "b");
  EXPECT_FALSE(nowhere.find("a"));
}

}  // namespace
}  // namespace retrace

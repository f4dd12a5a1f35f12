#include "retrace/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace retrace {
namespace {
namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "retrace_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(FileTest, WritesWholeAndReadsBack) {
  const fs::path path = folder_ / "a.bin";
  const std::string zeros(70000, '\0');
  const std::string_view pieces[] = {"one", zeros, "two"};
  write_file_whole(path, pieces);
  EXPECT_EQ(read_file(path, "file", 100000), "one" + zeros + "two");
  write_file_whole(path, "short");
  EXPECT_EQ(read_file(path, "file", 5), "short");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, FailedWriteLeavesNothing) {
  // A folder stands where the file should go: the last step, the rename, fails.
  fs::create_directories(folder_ / "target" / "inside");
  try {
    write_file_whole(folder_ / "target", "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
    EXPECT_NE(error.message().find("target"), std::string::npos);
  }
  EXPECT_EQ(entries(), 1u);
  EXPECT_THROW(write_file_whole(folder_ / "absent" / "x", "text"), Error);
}

TEST_F(FileTest, FullDiskIsAnOutputError) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY));
  if (full.get() < 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_FALSE(write_all(full.get(), "text"));
  EXPECT_EQ(errno, ENOSPC);
}

TEST_F(FileTest, MissingPathNamesTheNearest) {
  std::ofstream(folder_ / "digits.toml") << "x";
  EXPECT_NE(std::string(missing_path(folder_ / "digit.toml", "job file").what())
                .find("did you mean \"" + (folder_ / "digits.toml").string() + "\"?"),
            std::string::npos);
  EXPECT_NE(std::string(missing_path(folder_ / "no" / "way" / "x.toml", "job file").what())
                .find("nearest folder that exists is \"" + folder_.string() + "\""),
            std::string::npos);
  const std::string relative = missing_path("quite/absent", "job file").what();
  EXPECT_NE(relative.find("\".\""), std::string::npos) << relative;
  EXPECT_NE(std::string(missing_path("", "job file").what()).find("job file \"\""), std::string::npos);
}

TEST_F(FileTest, RefusesWhatIsNoBoundedRegularFile) {
  std::ofstream(folder_ / "big") << std::string(11, 'x');
  const auto kind = [&](const fs::path& path) {
    try {
      read_file(path, "file", 10);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind(folder_ / "big"), ErrorKind::bad_data);
  EXPECT_EQ(kind(folder_), ErrorKind::bad_data);
  EXPECT_EQ(kind("/dev/null"), ErrorKind::bad_data);
  EXPECT_EQ(kind(folder_ / "none"), ErrorKind::missing);
  EXPECT_EQ(kind(folder_ / "big" / "below"), ErrorKind::missing);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(kind(folder_ / "pipe"), ErrorKind::bad_data);
}

TEST(Printable, RemovesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_EQ(printable("na\xc3\xafve \xe2\x82\xac"), "na\xc3\xafve \xe2\x82\xac");
  EXPECT_EQ(printable("\xff\xc3"), "??");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "?2J");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");
}

}  // namespace
}  // namespace retrace

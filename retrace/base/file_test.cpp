#include "retrace/base/file.h"
#include "tests/temporary_folder.h"

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
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  TemporaryFolder folder_;
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
                .find("nearest folder that exists is \"" + folder_.path().string() + "\""),
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

// The text of the error of missing_path.
std::string missing_text(const fs::path& path, const char* what) { return missing_path(path, what).what(); }
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(FileTest, MissingPathTellsLinksAndFilesAndProposesTheRightKind) {
  fs::create_symlink("nowhere.toml", folder_ / "job.toml");
  const std::string link = missing_text(folder_ / "job.toml", "job file");
  EXPECT_TRUE(says(link, "is a link to \"nowhere.toml\", which does not exist")) << link;
  std::ofstream(folder_ / "t10k-images-idx3-ubyte.gz") << "x";
  const std::string train = missing_text(folder_ / "train-images-idx3-ubyte.gz", "IDX file");
  EXPECT_FALSE(says(train, "t10k")) << train;
  std::ofstream(folder_ / "data") << "x";
  EXPECT_TRUE(says(missing_text(folder_ / "data" / "images", "IDX file"), "data\" is a file, not a folder"));
  EXPECT_FALSE(says(missing_text(folder_ / "dat", "data folder"), "did you mean"));
  fs::create_directory(folder_ / "mnt");
  EXPECT_FALSE(says(missing_text(folder_ / "no" / "such", "data folder"), "mnt"));
  fs::create_directories(folder_ / "runs" / "digits-1");
  const std::string far = missing_text(folder_ / "run" / "digits-1", "run folder");
  EXPECT_TRUE(says(far, "did you mean \"" + (folder_ / "runs" / "digits-1").string())) << far;
}

struct stat status_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

TEST_F(FileTest, WritesThroughLinksAndKeepsTheMode) {
  std::ofstream(folder_ / "real") << "old";
  fs::permissions(folder_ / "real", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", folder_ / "link");
  write_file_whole(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "real", "file", 10), "new");
  EXPECT_EQ(status_of(folder_ / "real").st_mode & 07777u, 0600u);
  fs::create_symlink("later", folder_ / "dangling");
  write_file_whole(folder_ / "dangling", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "dangling"));
  EXPECT_EQ(read_file(folder_ / "later", "file", 10), "new");
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_THROW(write_file_whole(folder_ / "a", "new"), Error);
}

TEST_F(FileTest, WritesIntoPipesAndDevicesAndReplacesNone) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const FileDescriptor reader(::open((folder_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
  write_file_whole(folder_ / "pipe", "text");
  char text[8] = {};
  EXPECT_EQ(::read(reader.get(), text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  EXPECT_TRUE(S_ISFIFO(status_of(folder_ / "pipe").st_mode));
  // A link: as root, replacing /dev/null itself would break the machine.
  fs::create_symlink("/dev/null", folder_ / "null");
  write_file_whole(folder_ / "null", "text");
  EXPECT_TRUE(fs::is_symlink(folder_ / "null"));
  EXPECT_TRUE(S_ISCHR(status_of("/dev/null").st_mode));
  EXPECT_EQ(entries(), 2u);
}

TEST_F(FileTest, OutputsThatAreInputsAreRefused) {
  std::ofstream(folder_ / "in") << "x";
  fs::create_symlink("in", folder_ / "soft");
  fs::create_hard_link(folder_ / "in", folder_ / "hard");
  const fs::path inputs[] = {folder_ / "absent", folder_ / "in"};
  const auto kind = [&](const fs::path& output) {
    try {
      check_output(output, inputs);
      return -1;
    } catch (const Error& error) {
      return static_cast<int>(error.kind());
    }
  };
  for (const char* name : {"in", "soft", "hard"})
    EXPECT_EQ(kind(folder_ / name), static_cast<int>(ErrorKind::usage)) << name;
  EXPECT_EQ(kind(folder_ / "other"), -1);
  EXPECT_EQ(kind("/dev/null"), -1);
  EXPECT_EQ(kind(folder_), static_cast<int>(ErrorKind::output));
  EXPECT_EQ(kind(folder_ / "none" / "x"), static_cast<int>(ErrorKind::output));
}

TEST_F(FileTest, FailedReadsAndShortFilesAreToldApart) {
  std::ofstream(folder_ / "short") << "abc";
  const FileDescriptor file(::open((folder_ / "short").c_str(), O_RDONLY));
  std::byte bytes[4];
  EXPECT_FALSE(read_exactly(file.get(), bytes, 0));
  EXPECT_EQ(errno, 0);
  EXPECT_FALSE(read_exactly(-1, bytes, 0));
  EXPECT_EQ(errno, EBADF);
  EXPECT_TRUE(says(read_failed("f", "file", 0).what(), "became shorter"));
  EXPECT_TRUE(says(read_failed("f", "file", EIO).what(), system_reason(EIO)));
  EXPECT_EQ(read_file_start(folder_ / "short", "file", 2), "ab");
  EXPECT_EQ(read_file_start(folder_ / "short", "file", 9), "abc");
}

TEST(Errors, ShowWhatATerminalMayShow) {
  EXPECT_STREQ(Error(ErrorKind::usage, 401, "a\x1b[31mb").got("x\ty\nz").what(),
               "error[RT0401]: a?[31mb\n  got:      x y\nz");
  const std::string text = Error(ErrorKind::usage, 401, std::string(100000, 'k')).what();
  EXPECT_LT(text.size(), 1100u);
  const std::vector<Error> many(90, Error(ErrorKind::usage, 401, "mistake"));
  try {
    throw_all(many);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(says(error.what(), "70 more mistakes are not shown"));
    EXPECT_LT(std::string(error.what()).size(), 1000u);
  }
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

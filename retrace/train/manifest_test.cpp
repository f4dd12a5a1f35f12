#include "retrace/train/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "retrace/base/file.h"
#include "retrace/train/run_folder.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    fs::create_directories(run_ / "checkpoints");
    write("job.toml", "name = \"a\"\n");
    write("steps.jsonl", "");
    write("checkpoints/step-20.safetensors", "twenty");
    write("notes.txt", "of a user");
    write_manifest(run_, {{"seed", "1"}, {"training set samples", "\"7\""}});
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(run_ / name, std::ios::binary | std::ios::trunc) << text;
  }
  std::string text() { return read_file(run_ / "manifest.json", "manifest", 1 << 20); }
  std::string problems() {
    return error_of([&] { check_files(run_); });
  }
  std::string error(const std::string& what) {
    return fmt::format(
        "error[RT0643]: the run \"{}\" is not what was written: {}\n"
        "  help:     take it from a copy of the run, or train anew; without manifest.json a run is taken as it is",
        run_.string(), what);
  }

  TemporaryFolder root_;
  fs::path run_ = root_ / "run";
};

TEST_F(ManifestTest, HasSizeAndHashOfEveryFileOfTheRun) {
  const auto manifest = read_manifest(run_);
  ASSERT_TRUE(manifest);
  ASSERT_EQ(manifest->files.size(), 3u);
  EXPECT_EQ(manifest->files[0].name, "job.toml");
  EXPECT_EQ(manifest->files[0].hash, (FileHash{11, sha256_text("name = \"a\"\n")}));
  EXPECT_EQ(manifest->files[2].name, "checkpoints/step-20.safetensors");
  EXPECT_EQ(manifest->identity, (NamedValues{{"seed", "1"}, {"training set samples", "\"7\""}}));
  EXPECT_EQ(problems(), "no error");
  write("notes.txt", "others");
  EXPECT_EQ(problems(), "no error") << "no file of the run";
}

TEST_F(ManifestTest, NamesWhatChanged) {
  write("job.toml", "name = \"b\"\n");
  EXPECT_EQ(problems(), error("job.toml has other content"));
  EXPECT_EQ(error_of([&] { check_file(run_, "steps.jsonl"); }), "no error");
  EXPECT_EQ(error_of([&] { check_file(run_, "job.toml"); }), error("job.toml has other content"));
  write("steps.jsonl", "x");
  write("versions.json", "{}");
  fs::remove(run_ / "checkpoints/step-20.safetensors");
  EXPECT_EQ(problems(), error("job.toml has other content; steps.jsonl has 1 bytes, not 0; "
                              "checkpoints/step-20.safetensors is missing; versions.json was not there"));
  fs::remove(run_ / "manifest.json");
  EXPECT_EQ(problems(), "no error") << "the remedy that the text names";
}

TEST_F(ManifestTest, ProtectsItself) {
  const std::string whole = text();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    write("manifest.json", changed);
    EXPECT_TRUE(says(problems(), "error[RT0642]: the manifest \"")) << i;
  }
  for (size_t size = 0; size < whole.size(); size += 7) {
    write("manifest.json", whole.substr(0, size));
    EXPECT_TRUE(says(problems(), "error[RT0642]")) << size;
  }
}

}  // namespace
}  // namespace retrace

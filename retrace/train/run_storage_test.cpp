// Runs in object storage, as folders of files.
#include "retrace/train/run_storage.h"

#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "tests/error_testing.h"
#include "tests/s3_testing.h"

namespace retrace {
namespace {

class RunStorageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.runs()) GTEST_SKIP() << "botocore is not installed (package python3-botocore)";
    server_.put("bucket", "other", "x");
  }
  void cache(const char* name) { server_.environment.set("XDG_CACHE_HOME", (caches_ / name).string()); }
  static void write(const std::filesystem::path& run, const std::string& name, const std::string& text) {
    std::filesystem::create_directories((run / name).parent_path());
    write_file_whole(run / name, text);
  }
  static std::string text_of(const std::filesystem::path& path) { return read_file(path, "file", 1000); }

  static constexpr const char* kRun = "s3://bucket/runs/one";
  TemporaryFolder caches_;
  S3Server server_;
};

TEST_F(RunStorageTest, IsCopiedAndFetchedElsewhere) {
  cache("here");
  const auto run = folder_for_new_run(kRun, true);
  {
    RunUpload upload(run, kRun);
    write(run, "metrics.jsonl", "one\n"), write(run, ".lock", "mine"), write(run, "a.partial", "half");
    write(run, "checkpoints/step-5.safetensors", "five"), write(run, "manifest.json", "{}");
    upload.finish();
    // The next checkpoint takes the place of the first one.
    std::filesystem::remove(run / "checkpoints/step-5.safetensors");
    std::filesystem::remove(run / "manifest.json");
    write(run, "checkpoints/step-10.safetensors", "ten");
    server_.tell("seen");
    upload.finish();
    EXPECT_EQ(server_.requests("metrics.jsonl"), 0) << "nothing that has not changed";
  }
  EXPECT_EQ(run_on_disk(kRun), run);
  cache("there");
  const auto there = run_on_disk(kRun);
  EXPECT_NE(there, run);
  EXPECT_EQ(text_of(there / "metrics.jsonl"), "one\n");
  EXPECT_EQ(text_of(there / "checkpoints/step-10.safetensors"), "ten");
  for (const char* absent : {"checkpoints/step-5.safetensors", "manifest.json", ".lock", "a.partial"})
    EXPECT_FALSE(std::filesystem::exists(there / absent)) << absent;
  // Here is less than in the storage, and then more.
  write(there, "checkpoints/step-20.safetensors", "twenty");
  RunUpload(there, kRun).finish();
  cache("here");
  EXPECT_EQ(text_of(run_on_disk(kRun) / "checkpoints/step-20.safetensors"), "twenty");
  write(run, "checkpoints/step-30.safetensors", "thirty");
  EXPECT_EQ(text_of(run_on_disk(kRun) / "checkpoints/step-30.safetensors"), "thirty");
}

TEST_F(RunStorageTest, FailuresAreTriedAgainAndSaidAtTheEnd) {
  cache("here");
  const auto run = folder_for_new_run(kRun, true);
  RunUpload upload(run, kRun);
  write(run, "metrics.jsonl", "one\n");
  server_.faults(R"([{"match": "PUT", "status": 403, "code": "AccessDenied"}])");
  const std::string text = error_of([&] { upload.finish(); });
  EXPECT_TRUE(says(text, "RT0685"));
  EXPECT_TRUE(says(text, "the whole run is in \"" + run.string()));
  EXPECT_EQ(error_of([&] { upload.finish(); }), "no error");
  EXPECT_TRUE(
      says(error_of([&] { folder_for_new_run(kRun, true); }), "there is something at \"s3://bucket/runs/one\""));
}

TEST_F(RunStorageTest, NamesOfObjectsDoNotLeadOutOfTheFolder) {
  cache("here");
  server_.put("bucket", "runs/one/metrics.jsonl", "one\n");
  server_.put("bucket", "runs/one/../../evil", "x");
  server_.put("bucket", "runs/one//evil", "x");
  const auto run = run_on_disk(kRun);
  EXPECT_EQ(text_of(run / "metrics.jsonl"), "one\n");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(caches_.path()))
    EXPECT_NE(entry.path().filename(), "evil");
  EXPECT_TRUE(says(error_of([] { run_on_disk("s3://bucket/none"); }), "RT0698"));
  EXPECT_TRUE(says(error_of([] { run_on_disk("s3://bucket/"); }), "is a bucket, not a run in it"));
  EXPECT_EQ(run_on_disk("runs/digits-1"), "runs/digits-1");
}

}  // namespace
}  // namespace retrace

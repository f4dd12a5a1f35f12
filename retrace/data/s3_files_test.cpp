// Images in object storage beside the same in a folder.
#include "retrace/data/s3_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/data/image_store.h"
#include "retrace/data/image_testing.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/s3_copy.h"
#include "tests/error_testing.h"
#include "tests/s3_testing.h"

namespace retrace {
namespace {

class S3FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.runs()) GTEST_SKIP() << "botocore is not installed (package python3-botocore)";
    // The cache of the process is that of its first test.
    static const TemporaryFolder cache;
    server_.environment.set("RETRACE_OBJECT_CACHE", cache.path().string());
    for (const char* name : {"cat/1 a.png", "cat/2+b.png", "dog/\xc3\xbc.png", "dog/3.png", "dog/4.png"}) {
      const auto value = static_cast<uint8_t>(name[4] + name[5]);
      folder_.write(name,
                    png_of(std::vector<uint8_t>(6, value), {.height = 2, .width = 3, .colours = PNG_COLOR_TYPE_GRAY}));
    }
    folder_.write("dog/notes.txt", "no image");
    folder_.write("dog/.hidden.png", "no image");
    load();
  }
  // Into a bucket of its own, so that no test reads the list of another.
  void load() { server_.tell("load", fmt::format("{} pets/ {}", bucket_, folder_.path().string())); }
  std::string at(const std::string& path) const { return fmt::format("s3://{}/{}", bucket_, path); }
  ImageDatastore pets() const { return image_datastore(at("pets"), {.labels = LabelsFrom::folder_names}); }

  static inline int count_ = 0;
  const std::string bucket_ = fmt::format("bucket{}", ++count_);
  S3Server server_;
  ImageFolder folder_;
};

TEST_F(S3FilesTest, HaveTheBitsAndTheOrderOfTheFolder) {
  const auto there = pets(), here = image_datastore(folder_.path().string(), {.labels = LabelsFrom::folder_names});
  ASSERT_EQ(there.size(), 5);
  EXPECT_EQ(there.class_names(), here.class_names());
  EXPECT_EQ(there.labels(), here.labels());
  EXPECT_EQ(there.files()[3], at("pets/dog/4.png"));
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_EQ(there.get(i)[0].to_vector<uint8_t>(), here.get(i)[0].to_vector<uint8_t>()) << i;
}

TEST_F(S3FilesTest, AreReadOnceAndListedOnce) {
  const auto store = pets();
  MiniBatchQueue queue(store, {.mini_batch_size = 2, .prefetch_threads = 3});
  for (int pass = 0; pass < 3; ++pass, queue.reset())
    while (queue.has_data()) queue.next();
  const std::string seen = server_.tell("seen");
  EXPECT_TRUE(says(seen, "GET /" + bucket_ + "?encoding-type"));
  EXPECT_EQ(seen.find("list-type", seen.find("list-type") + 1), std::string::npos);
  for (const char* name : {"1%20a", "2%2Bb", "3.", "4.", "%C3%BC"}) {
    const size_t first = seen.find(name);
    EXPECT_NE(first, std::string::npos) << name;
    EXPECT_EQ(seen.find(name, first + 1), std::string::npos) << name;
  }
}

TEST_F(S3FilesTest, FoldersWildcardsAndSingleObjectsAreFound) {
  const auto count = [&](const std::string& path) { return image_datastore(at(path)).size(); };
  EXPECT_EQ(count(""), 5);
  EXPECT_EQ(count("pets/dog/"), 3);
  EXPECT_EQ(count("pets/*/?.png"), 2);
  EXPECT_EQ(count("*/cat"), 2);
  EXPECT_EQ(count("pets/dog/3.png"), 1);
}

TEST_F(S3FilesTest, WhatIsNotThereIsSaidWithWhatIs) {
  const auto refusal = [&](const std::string& path) { return error_of([&] { image_datastore(at(path)); }); };
  EXPECT_TRUE(says(refusal("pets/dgo"), fmt::format("there is no \"pets/dgo\" in the bucket \"s3://{}\"", bucket_)));
  EXPECT_TRUE(says(refusal("pets/dgo"), fmt::format("did you mean \"s3://{}/pets/dog\"?", bucket_)));
  EXPECT_TRUE(says(refusal("pest"), fmt::format("did you mean \"s3://{}/pets\"?", bucket_)));
  EXPECT_TRUE(says(refusal("pets/*.gif"), "no image matches"));
  EXPECT_TRUE(says(error_of([] { image_datastore("s3://absent/x"); }), "the bucket of \"s3://absent\" does not exist"));
  EXPECT_TRUE(says(error_of([] { image_datastore("s3://"); }), "s3://BUCKET/KEY"));
}

TEST_F(S3FilesTest, AnObjectThatChangesIsNotTakenForTheOldOne) {
  const auto store = pets();
  server_.put(bucket_, "pets/dog/4.png", "another");
  EXPECT_TRUE(says(error_of([&] { store.get(3); }), "has changed since it was listed"));
}

// A transfer that is broken off is no image, neither here nor in the cache.
TEST_F(S3FilesTest, TransfersThatAreBrokenOffYieldNoHalfImage) {
  const auto images = [](const std::string& at) { return image_datastore(at, {.labels = LabelsFrom::folder_names}); };
  const auto here = images(folder_.path().string());
  int count = 0;
  for (const std::string fault : {R"("truncate": true)", R"("shorten": true)", R"("lengthen": true)",
                                  R"("close": true)", R"("status": 503, "headers": {"Retry-After": "1"})"}) {
    const std::string bucket = fmt::format("{}-{}", bucket_, ++count);
    server_.tell("load", fmt::format("{} pets/ {}", bucket, folder_.path().string()));
    const auto there = images(fmt::format("s3://{}/pets", bucket));
    server_.faults(fmt::format(R"([{{"match": ".png", {}}}])", fault));
    for (int round = 0; round < 2; ++round)
      for (int64_t i = 0; i < 5; ++i)
        EXPECT_EQ(there.get(i)[0].to_vector<uint8_t>(), here.get(i)[0].to_vector<uint8_t>()) << fault << i;
    EXPECT_EQ(server_.requests("GET /" + bucket + "/pets/"), fault.find("close") == std::string::npos ? 6 : 5) << fault;
  }
}

TEST_F(S3FilesTest, CopiesAreFilesOnTheDisk) {
  server_.put(bucket_, "table/train.csv", "a,b\n1,2\n");
  server_.put(bucket_, "table/deeper/x.csv", "left out");
  const auto folder = local_copy(at("table/"));
  EXPECT_EQ(read_file(folder / "train.csv", "copy", 100), "a,b\n1,2\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.csv"));
  EXPECT_EQ(read_file(local_copy(at("table/train.csv")), "copy", 100), "a,b\n1,2\n");
  EXPECT_TRUE(says(error_of([&] { local_copy(at("tabel")); }), "RT0689"));
}

}  // namespace
}  // namespace retrace

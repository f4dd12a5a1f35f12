// Jobs on volumes of classes in NPY files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/npy_testing.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

class VolumesJobTest : public testing::Test {
 protected:
  // Of 4 x 5 x 6: class a is bright in the front half, class b behind it.
  VolumesJobTest() {
    for (int i = 0; i < 40; ++i) {
      std::vector<float> values;
      for (int z = 0; z < 4; ++z)
        for (int k = 0; k < 30; ++k)
          values.push_back((z < 2) == (i % 2 == 0) ? 1 : 0.1f * static_cast<float>(std::sin(i + z + k)));
      write(fmt::format("{}/{}/{:02}.npy", i < 32 ? "train" : "test", i % 2 == 0 ? "a" : "b", i),
            npy_of<float>("<f4", i % 4 < 2 ? "(4, 5, 6)" : "(4, 5, 6, 1)", values));
    }
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / "data" / name).parent_path());
    write_file_whole(root_ / "data" / name, text);
  }
  Job job(const std::vector<JobOverride>& overrides = {}) const {
    return parse_job(
        "seed = 3\n[network]\nlayers = [{type = \"conv3d\", size = 3, filters = 4, padding = \"same\"}, {type = "
        "\"batch_norm\"}, {type = \"relu\"}, {type = \"max_pool3d\", size = 2}, {type = \"linear\", features = 2}]\n"
        "[data]\nsource = \"volumes\"\npath = \"" +
            (root_ / "data").string() +
            "\"\nvolume_depth = 4\nvolume_height = 5\nvolume_width = 6\nvolume_channels = 1\n[training]\n"
            "mini_batch_size = 8\nmax_epochs = 4\nshards = 2\ninitial_learn_rate = 0.01\nshuffle = \"every-epoch\"\n",
        "x.toml", overrides);
  }
  std::string print(const std::vector<JobOverride>& overrides) const {
    return train_job(job(overrides), {.write_run = false}).fingerprint;
  }
  std::string refused(const std::vector<JobOverride>& overrides = {}) const {
    return error_of([&] { print(overrides); });
  }
  TemporaryFolder root_;
};

TEST_F(VolumesJobTest, AreLearnedTestedReplayedAndPredicted) {
  const auto result = train_job(job(), {.out = root_ / "run"});
  EXPECT_EQ(result.metrics.at(0).second, 1);
  EXPECT_EQ(test_run(root_ / "run", {}).loss, result.loss);
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 2, .last = 4}).difference);
  const auto found = predict_run(root_ / "run", root_ / "data/test");
  EXPECT_EQ(found.rows, 8);
  EXPECT_TRUE(says(found.csv, "index,file,class,class_name,score_a,score_b"));
  EXPECT_EQ(predict_run(root_ / "run", root_ / "data/test/b/33.npy").rows, 1);
}

TEST_F(VolumesJobTest, HaveOneResult) {
  const std::string once = print({});
  EXPECT_EQ(print({{"threads", "1", ""}}), once);
  EXPECT_EQ(print({{"workers", "2", ""}}), once);
  EXPECT_EQ(print({{"training.loader_threads", "0", ""}}), once);
  EXPECT_EQ(print({{"training.acceleration", "plain", ""}}), once);
}

TEST_F(VolumesJobTest, AreFoundByInit) {
  const auto start = start_job({.data = (root_ / "data").string(), .file = "a.toml"});
  EXPECT_EQ(start.source, "volumes");
  for (const char* part : {"volumes of [4,5,6,1]", "2 classes are learned", "{type = \"conv3d\"", "volume_depth = 4"})
    EXPECT_TRUE(says(start.text, part)) << start.text;
}

TEST_F(VolumesJobTest, BytesAreDividedBy255) {
  write("train/a/00.npy", npy_of<uint8_t>("|u1", "(4, 5, 6)", std::vector<uint8_t>(120, 51)));
  const JobData data = load_job_data(job(), make_job_network(job()));
  EXPECT_EQ(data.train.get(0)[0].to_vector<float>()[7], 51.0f / 255);
}

TEST_F(VolumesJobTest, WhatDoesNotFit) {
  EXPECT_TRUE(says(refused({{"data.volume_depth", "0", ""}}), "set data.volume_depth"));
  EXPECT_TRUE(says(refused({{"data.volume_depth", "3", ""}}), "a volume has another shape than the others"));
  write("train/a/00.npy", npy_of<float>("<f4", "(4, 5)", std::vector<float>(20, 1)));
  EXPECT_TRUE(says(refused(), "a volume has no depth, height and width"));
  std::vector<float> values(120, 1);
  values[3] = std::nanf("");
  write("train/a/00.npy", npy_of<float>("<f4", "(4, 5, 6)", values));
  EXPECT_TRUE(says(refused(), "a volume has numbers that are not finite"));
}

}  // namespace
}  // namespace retrace

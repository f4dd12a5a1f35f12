// Jobs on images of different sizes, which transforms bring to one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "retrace/data/image_testing.h"
#include "retrace/train/job_data.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// Bright above or below; every image has sizes of its own.
void write_images(const ImageFolder& folder) {
  for (const std::string split : {"train", "test"})
    for (int n = 0; n < 12; ++n) {
      const int64_t height = 14 + n, width = 30 - n;
      std::vector<uint8_t> values;
      for (int64_t i = 0; i < height * width * 3; ++i)
        values.push_back(static_cast<uint8_t>((i < height / 2 * width * 3) == (n % 2 == 0) ? 230 : 20 + n));
      folder.write(fmt::format("{}/{}/{}.jpg", split, n % 2 == 0 ? "above" : "below", n),
                   jpeg_of(values, height, width, 3));
    }
}

std::string text_of(const ImageFolder& folder, const std::string& data) {
  return "device = \"cpu\"\nseed = 2\n[network]\nlayers = [{type = \"image_input\"}, {type = \"linear\", features = "
         "2}]\n[data]\nsource = \"images\"\npath = \"" +
         folder.at("") + "\"\n" + data +
         "[training]\nmini_batch_size = 4\nmax_epochs = 15\ninitial_learn_rate = 0.02\n";
}

TEST(ImageSizesJob, TrainsTestsAndPredictsImagesOfAnySize) {
  const ImageFolder folder;
  const TemporaryFolder root;
  write_images(folder);
  const Job job =
      parse_job(text_of(folder,
                        "image_channels = 3\ntransforms = [\"resize\", \"random-crop-to-size\", \"to-grey\", "
                        "\"center-crop\"]\nresize_height = 10\nresize_width = 12\ncrop_height = 8\n"),
                "x.toml");
  EXPECT_EQ(make_job_network(job).sample, (Shape{8, 8, 1}));
  const auto trained = train_job(job, {.out = root / "run"});
  EXPECT_EQ(trained.metrics.at(0).second, 1.0);
  const auto tested = test_run(root / "run");
  EXPECT_EQ(tested.loss, trained.loss);
  // The test set is resized and cut in the middle; nothing is drawn for it.
  const JobData data = load_job_data(job, make_job_network(job));
  EXPECT_EQ(data.test.get(3)[0].shape(), (Shape{8, 8, 1}));
  EXPECT_EQ(data.test.source()->get(3, 0)[0].to_vector<float>(), data.test.source()->get(3, 5)[0].to_vector<float>());
  const auto described = describe_job_data(job, make_job_network(job));
  EXPECT_EQ(described.train.variables[0].shape, (Shape{8, 8, 1}));
  std::istringstream csv(predict_run(root / "run", folder.at("test")).csv);
  std::string line;
  std::getline(csv, line);
  int rows = 0;
  for (; std::getline(csv, line); ++rows) {
    const auto known = line.find("above") != std::string::npos ? "0" : "1";
    EXPECT_TRUE(says(line, fmt::format(".jpg,{},", known)));
  }
  EXPECT_EQ(rows, 12);
  Job other = job;
  other.threads = 1, other.training.shards = 1;
  EXPECT_EQ(train_job(other, {.write_run = false}).fingerprint, trained.fingerprint);
}

TEST(ImageSizesJob, SaysWhichTransformIsMissing) {
  const ImageFolder folder;
  write_images(folder);
  const auto refusal = [&](const std::string& data) {
    return error_of([&] { parse_job(text_of(folder, data), "x.toml"); });
  };
  EXPECT_EQ(refusal("image_channels = 3\ntransforms = [\"random-crop-to-size\"]\ncrop_height = 8\n"),
            "error[RT0385]: data.transforms bring training and test images to different sizes\n"
            "  where:    x.toml:9:1\n"
            "  got:      [8,8,3] and [0,0,3] (0: as the images are)\n"
            "  expected: one size; random transforms are done in training only\n"
            "  help:     put \"center-crop\" behind them: it leaves what has its size as it is");
  EXPECT_EQ(refusal("transforms = [\"resize\", \"to-grey\"]\nresize_height = 8\nresize_width = 8\n"),
            "error[RT0386]: data.image_channels must be given, since a transform changes the channels\n"
            "  expected: 1 (grey) or 3 (red, green, blue): what images are before it\n"
            "  help:     set data.image_channels");
  EXPECT_TRUE(says(refusal("transforms = [\"resize\"]\nresize_height = 8\nresize_width = 8\n"),
                   "help:     set data.image_channels"));
  EXPECT_EQ(refusal("image_height = 6\nimage_width = 9\nimage_channels = 3\ntransforms = [\"center-crop\"]\n"
                    "crop_height = 8\n"),
            "error[RT0382]: transform \"center-crop\": the image is smaller than the part\n"
            "  where:    x.toml:11:1\n"
            "  got:      an image of 6 x 9 pixels (height x width)\n"
            "  expected: at least 8 x 8\n"
            "  help:     put the transform \"resize\" before it, or cut out a smaller part");
  // A size that the images have not stays an error where nothing brings them to one.
  const Job job = parse_job(
      text_of(folder, "image_height = 14\nimage_width = 30\nimage_channels = 3\ntransforms = [\"random-crop\"]\n"),
      "x.toml");
  EXPECT_TRUE(says(error_of([&] { train_job(job, {.write_run = false}); }), "has the wrong size"));
}

// Networks by name read images of any size through a resize, too.
TEST(ImageSizesJob, ABuiltInNetworkReadsWhatTransformsMake) {
  const ImageFolder folder;
  write_images(folder);
  Job job = read_job(std::string(RETRACE_SOURCE_DIR) + "/jobs/cifar10.toml",
                     {{"data.transforms", "[\"resize\", \"random-crop\"]", "--set"},
                      {"data.resize_height", "32", "--set"},
                      {"data.resize_width", "32", "--set"},
                      {"data.image_height", "0", "--set"},
                      {"data.image_width", "0", "--set"},
                      {"data.path", folder.at(""), "--set"}});
  job.network.width = 2, job.training.max_epochs = 1, job.training.mini_batch_size = 4, job.device = "cpu";
  EXPECT_EQ(train_job(job, {.write_run = false}).iterations, 3);
}

}  // namespace
}  // namespace retrace

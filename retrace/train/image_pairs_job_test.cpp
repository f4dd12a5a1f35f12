// Jobs on images whose targets are masks or other images.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/data/image_file.h"
#include "retrace/data/image_testing.h"
#include "retrace/report/samples.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

constexpr int kSide = 12;

// A bright and a dim square on a dark ground, whose pixels are classes 2, 1 and 0 of a mask.
class ImagePairsJobTest : public testing::Test {
 protected:
  struct Scene {
    std::vector<uint8_t> image, classes;
  };
  static Scene scene(int i) {
    Scene made;
    const int top = i % 7, left = i * 3 % 7, other = 6 + i % 3;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const bool bright = y >= top && y < top + 4 && x >= left && x < left + 4;
        const bool dim = !bright && y >= other && y < other + 4 && x >= 8;
        made.classes.push_back(bright ? 2 : dim ? 1 : 0);
        made.image.push_back(static_cast<uint8_t>((bright ? 220 : dim ? 120 : 10) + (i + x * 7 + y * 5) % 25));
      }
    return made;
  }
  static std::string grey(const std::vector<uint8_t>& values) {
    return png_of(values, {.height = kSide, .width = kSide, .colours = PNG_COLOR_TYPE_GRAY});
  }
  static std::string mask(const Scene& scene, const std::vector<uint8_t>& values) {
    std::vector<uint8_t> pixels;
    for (const uint8_t k : scene.classes) pixels.push_back(values[k]);
    return grey(pixels);
  }
  // 16 pairs to train on and 8 to test on.
  void write(const std::string& images, const std::string& masks, const std::vector<uint8_t>& values) const {
    for (int i = 0; i < 24; ++i) {
      const std::string set = i < 16 ? "train" : "test", name = fmt::format("{:02}", i);
      const Scene made = scene(i);
      folder_.write(fmt::format("{}/{}/{}.png", set, images, name), grey(made.image));
      folder_.write(fmt::format("{}/{}/{}.png", set, masks, name), mask(made, values));
    }
  }
  std::string text(const std::string& data, const std::string& end) const {
    return fmt::format(
        "seed = 3\n[network]\nlayers = [{{type = \"conv2d\", size = 3, filters = 8, padding = \"same\"}}, {{type = "
        "\"batch_norm\"}}, {{type = \"relu\"}}, {{type = \"conv2d\", size = 3, padding = \"same\", {}]\n[data]\nsource "
        "= "
        "\"image-pairs\"\npath = \"{}\"\nimage_height = {}\nimage_width = {}\nimage_channels = 1\n{}"
        "[training]\nmini_batch_size = 8\nmax_epochs = 30\nshards = 2\ninitial_learn_rate = 0.02\nshuffle = "
        "\"every-epoch\"\n{}",
        end, folder_.at(""), kSide, kSide, data,
        data.find("regression") == std::string::npos ? "metrics = [\"accuracy\", \"mean-iou\"]\n" : "");
  }
  Job job(const std::string& data = {}, const std::vector<JobOverride>& overrides = {}) const {
    return parse_job(text(data, "filters = 3}, {type = \"softmax\"}"), "x.toml", overrides);
  }
  std::string print(const std::vector<JobOverride>& overrides) const {
    return train_job(
               job("transforms = [\"random-affine\", \"random-horizontal-flip\"]\nrotation = [-20, 20]\n", overrides),
               {.write_run = false})
        .fingerprint;
  }
  std::string refused(const std::string& data = {}) const {
    return error_of([&] { train_job(job(data), {.write_run = false}); });
  }
  ImageFolder folder_;
};

TEST_F(ImagePairsJobTest, ClassesOfPixelsAreLearnedTestedReplayedAndPredicted) {
  write("images", "masks", {0, 100, 255});
  const auto result = train_job(job(), {.out = folder_ / "run"});
  EXPECT_EQ(result.metrics.at(0).first, "accuracy");
  EXPECT_GT(result.metrics.at(0).second, 0.98);
  EXPECT_EQ(result.metrics.at(1).first, "mean_iou");
  EXPECT_GT(result.metrics.at(1).second, 0.9);
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
  EXPECT_FALSE(replay_run(folder_ / "run", {.first = 2, .last = 4}).difference);
  EXPECT_TRUE(says(samples_html(folder_ / "run"), "Input, output, target."));
  EXPECT_TRUE(predicts_images(folder_ / "run"));
  EXPECT_TRUE(says(error_of([&] { predict_run(folder_ / "run", folder_ / "test/images"); }), "--out images"));
  EXPECT_EQ(predict_run_images(folder_ / "run", folder_ / "test/images", folder_ / "made"), 8);
  int64_t same = 0, all = 0;
  for (int i = 16; i < 24; ++i) {
    const Tensor made = read_image(folder_.at(fmt::format("made/{}.png", i)));
    EXPECT_EQ(made.shape(), (Shape{kSide, kSide, 1}));
    const auto values = made.to_vector<uint8_t>(),
               truth = read_image(folder_.at(fmt::format("test/masks/{}.png", i))).to_vector<uint8_t>();
    for (size_t k = 0; k < values.size(); ++k) same += values[k] == truth[k], ++all;
  }
  EXPECT_DOUBLE_EQ(static_cast<double>(same) / static_cast<double>(all), result.metrics.at(0).second);
  // Without its training set a run tests other data by the colours of its classes.
  std::filesystem::remove_all(folder_ / "train");
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
}

TEST_F(ImagePairsJobTest, HaveOneResult) {
  write("images", "masks", {0, 100, 255});
  const std::string once = print({});
  EXPECT_EQ(print({{"threads", "1", ""}}), once);
  EXPECT_EQ(print({{"workers", "2", ""}}), once);
  EXPECT_EQ(print({{"training.loader_threads", "0", ""}}), once);
  EXPECT_EQ(print({{"training.acceleration", "plain", ""}}), once);
}

TEST_F(ImagePairsJobTest, MasksMoveWithTheirImages) {
  write("images", "masks", {0, 100, 255});
  const Job colours = parse_job(
      text("transforms = [\"random-affine\", \"random-crop\", \"resize\", \"to-rgb\"]\nrotation = [-180, 180]\nscale = "
           "[0.7, 1.4]\nresize_height = 24\nresize_width = 24\n",
           "filters = 3}, {type = \"softmax\"}"),
      "x.toml");
  const JobData data = load_job_data(colours, make_job_network(colours));
  int64_t fits = 0, all = 0;
  for (int64_t i = 0; i < data.train.size(); ++i) {
    const Observation one = data.train.get(i);
    EXPECT_EQ(one[0].shape(), (Shape{24, 24, 3}));
    EXPECT_EQ(one[1].shape(), (Shape{24, 24, 1}));
    EXPECT_EQ(one[1].type(), DType::i32);
    const auto pixels = one[0].to_vector<float>();
    const auto classes = one[1].to_vector<int32_t>();
    for (size_t k = 0; k < classes.size(); ++k, ++all) {
      const float value = pixels[3 * k] * 255;
      fits += (value > 200 ? 2 : value > 90 ? 1 : 0) == classes[k];
    }
  }
  EXPECT_GT(static_cast<double>(fits) / static_cast<double>(all), 0.85) << "all but the borders of the squares";
}

TEST_F(ImagePairsJobTest, PixelsOfIgnoredColoursDoNotCount) {
  write("images", "masks", {0, 1, 255});
  const std::string data = "mask_values = [\"0\", \"1\"]\nignored_mask_values = [\"255\"]\n";
  const Job ignoring = parse_job(text(data, "filters = 2}, {type = \"softmax\"}"), "x.toml");
  const auto result = train_job(ignoring, {.out = folder_ / "run"});
  EXPECT_GT(result.metrics.at(0).second, 0.98);
  EXPECT_TRUE(says(refused("mask_values = [\"0\", \"1\"]\n"), "error[RT0568]: the mask"));
  EXPECT_TRUE(says(refused("mask_values = [\"0\", \"one\"]\n"), "\"one\" is no colour of a mask"));
  EXPECT_TRUE(says(refused(data + "# two\n") + refused("mask_values = [\"0\", \"255\", \"#ffffff\"]\n"),
                   "a colour of masks has two meanings"));
}

TEST_F(ImagePairsJobTest, ImagesAreLearned) {
  for (int i = 0; i < 24; ++i) {
    const Scene made = scene(i);
    std::vector<uint8_t> inverse;
    for (const uint8_t value : made.image) inverse.push_back(static_cast<uint8_t>(255 - value));
    folder_.write(fmt::format("noisy/{}/{:02}.png", i < 16 ? "train" : "test", i), grey(made.image));
    folder_.write(fmt::format("clean/{}/{:02}_clean.png", i < 16 ? "train" : "test", i), grey(inverse));
  }
  const Job images =
      parse_job(text("task = \"regression\"\ninput_folder = \"noisy\"\ntarget_folder = \"clean\"\ntarget_suffix = "
                     "\"_clean\"\n",
                     "filters = 1}"),
                "x.toml");
  const auto result = train_job(images, {.out = folder_ / "run"});
  EXPECT_LT(result.metrics.at(0).second, 0.1);
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
  EXPECT_EQ(predict_run_images(folder_ / "run", folder_ / "noisy/test", folder_ / "made"), 8);
  EXPECT_EQ(read_image(folder_.at("made/16.png")).shape(), (Shape{kSide, kSide, 1}));
  // Without its training set a run tests other data of the sizes that its job says.
  std::filesystem::remove_all(folder_ / "noisy/train"), std::filesystem::remove_all(folder_ / "clean/train");
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
}

TEST_F(ImagePairsJobTest, AreFoundByInit) {
  write("pictures", "annotations", {0, 1, 255});
  const auto start = start_job({.data = folder_.at(""), .file = "a.toml"});
  EXPECT_EQ(start.source, "image-pairs") << "and not as classes";
  for (const char* part : {"images of [12,12,1]", "2 classes at each pixel are learned", "input_folder = \"pictures\"",
                           "target_folder = \"annotations\"", "mask_values = [\"0\", \"1\"]",
                           "ignored_mask_values = [\"255\"]", "mean-iou"})
    EXPECT_TRUE(says(start.text, part)) << start.text;
  // Without a test set, masks in colours, and names that end in "_mask"; one image is larger.
  std::filesystem::remove_all(folder_ / "train"), std::filesystem::remove_all(folder_ / "test");
  for (int i = 0; i < 6; ++i) {
    folder_.write(fmt::format("images/{}.png", i), grey(scene(i).image));
    std::vector<uint8_t> colours;
    for (const uint8_t k : scene(i).classes)
      for (const int c : {255, 128, 0}) colours.push_back(k == 0 ? 0 : k == 1 ? static_cast<uint8_t>(c) : 7);
    folder_.write(fmt::format("masks/{}_mask.png", i), png_of(colours, {.height = kSide, .width = kSide}));
  }
  const auto colours = start_job({.data = folder_.at(""), .file = "a.toml"});
  for (const char* part : {"test_share", "target_suffix = \"_mask\"", "mask_values = [\"0\", \"7\", \"#ff8000\"]",
                           "3 classes at each pixel"})
    EXPECT_TRUE(says(colours.text, part)) << colours.text;
  const auto result =
      train_job(parse_job(colours.text, "a.toml", {{"training.max_epochs", "1", ""}}), {.out = folder_ / "run"});
  EXPECT_EQ(predict_run_images(folder_ / "run", folder_ / "images/3.png", folder_ / "made"), 1);
  EXPECT_EQ(read_image(folder_.at("made/3.png")).shape(), (Shape{kSide, kSide, 3}));
}

TEST_F(ImagePairsJobTest, WhatDoesNotFit) {
  write("images", "masks", {0, 100, 255});
  folder_.write("train/images/alone.png", grey(scene(1).image));
  EXPECT_TRUE(says(refused(), "alone.png\" has no target"));
  std::filesystem::remove(folder_ / "train/images/alone.png");
  EXPECT_TRUE(says(refused("target_folder = \"labels\"\n"), "labels\" does not exist"));
  EXPECT_TRUE(says(error_of([&] {
                     train_job(parse_job(text("", "filters = 2}, {type = \"softmax\"}"), "x.toml"),
                               {.write_run = false});
                   }),
                   "has 3 classes"));
  folder_.write("train/masks/03.png",
                png_of({0, 100, 255, 0}, {.height = 2, .width = 2, .colours = PNG_COLOR_TYPE_GRAY}));
  EXPECT_TRUE(says(refused(), "03.png\" has another size than its image"));
  EXPECT_EQ(refused("image_fit = \"resize\"\n"), "no error");
  folder_.write("train/masks/03.jpg", jpeg_of(scene(3).image, kSide, kSide, 1));
  EXPECT_TRUE(says(refused(), "two files are the target of one image"));
}

TEST_F(ImagePairsJobTest, PredictedImagesHaveTheSizesOfTheirFilesAndAFolderOfTheirOwn) {
  write("images", "masks", {0, 100, 255});
  const std::filesystem::path run = folder_ / "run";
  train_job(job("image_fit = \"resize\"\n", {{"training.max_epochs", "1", ""}}), {.out = run});
  folder_.write("large/a/x.png",
                png_of(std::vector<uint8_t>(20 * 30), {.height = 20, .width = 30, .colours = PNG_COLOR_TYPE_GRAY}));
  EXPECT_EQ(predict_run_images(run, folder_ / "large", folder_ / "made"), 1);
  EXPECT_EQ(read_image(folder_.at("made/a/x.png")).shape(), (Shape{20, 30, 1}));
  const auto refusal = [&](const char* to) {
    return error_of([&] { predict_run_images(run, folder_ / "large", folder_ / to); });
  };
  EXPECT_TRUE(says(refusal("large"), "the folder of the input"));
  EXPECT_TRUE(says(refusal("run"), "the folder of a run"));
  EXPECT_TRUE(says(refusal("large/a/x.png"), "got:      a file"));
  folder_.write("large/a/x.jpg", jpeg_of(scene(1).image, kSide, kSide, 1));
  EXPECT_TRUE(says(refusal("made"), "two images would be written to"));
}

}  // namespace
}  // namespace retrace

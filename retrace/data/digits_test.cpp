#include "retrace/data/datasets.h"
#include "retrace/data/image_set_files.h"

#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/hash.h"
#include "retrace/data/idx.h"
#include "retrace/data/strokes.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using namespace datasets;

uint64_t hash_of(const ImageSet& set) {
  const auto bytes = [](const auto& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  return hash_combine(hash_bytes(bytes(set.pixels)),
                      hash_combine(hash_bytes(bytes(set.labels)), hash_bytes(bytes(set.angles))));
}

// Every machine, compiler and preset draws these very pixels.
TEST(Digits, AreTheSameEverywhere) {
  EXPECT_EQ(hash_of(make_digits(Split::train, {.seed = 1})), 623414220961440536u);
  EXPECT_EQ(hash_of(make_digits(Split::test, {.seed = 1})), 15487102165173497021u);
}

TEST(Digits, AreAFunctionOfSeedAndIndex) {
  const Digit one = make_digit(3, 17);
  make_digit(9, 9);
  EXPECT_EQ(make_digit(3, 17).pixels, one.pixels);
  EXPECT_NE(make_digit(4, 17).pixels, one.pixels);
  EXPECT_NE(make_digit(3, 27).pixels, one.pixels);
  const ImageSet few = make_digits(Split::train, {.count = 20, .seed = 3});
  EXPECT_TRUE(std::equal(one.pixels.begin(), one.pixels.end(), few.pixels.begin() + 17 * 784));
  EXPECT_EQ(few.angles[17], one.angle);
}

TEST(Digits, DoNotDependOnTheCallersFloatingPointEnvironment) {
#if defined(__x86_64__)
  const Digit one = make_digit(1, 8);
  const uint64_t before = floating_point_control();
  set_floating_point_control(before | 0xe040);  // flush to zero, denormals are zero, round towards zero
  const Digit other = make_digit(1, 8);
  set_floating_point_control(before);
  EXPECT_EQ(one.pixels, other.pixels);
  EXPECT_EQ(one.angle, other.angle);
#else
  GTEST_SKIP() << "the bits of this machine's control register are not known here";
#endif
}

TEST(Digits, ClassesAreEvenAndAnglesUniform) {
  for (const Split split : {Split::train, Split::test}) {
    const ImageSet set = make_digits(split, {.seed = 1});
    ASSERT_EQ(set.count, 5000);
    ASSERT_EQ(set.pixels.size(), 5000u * 784u);
    int classes[10] = {}, ninths[9] = {};
    for (size_t i = 0; i < 5000; ++i) {
      ++classes[set.labels[i]];
      ASSERT_TRUE(set.angles[i] >= -45.0f && set.angles[i] <= 45.0f);
      ++ninths[std::min(8, static_cast<int>((set.angles[i] + 45.0f) / 10.0f))];
    }
    for (int count : classes) EXPECT_EQ(count, 500);
    for (int count : ninths) EXPECT_NEAR(count, 5000 / 9, 100);
    EXPECT_EQ(set.labels[0], 0);
  }
}

TEST(Digits, TestImagesAreNotTrainingImages) {
  std::set<std::string> seen;
  for (const Split split : {Split::train, Split::test}) {
    const ImageSet set = make_digits(split, {.seed = 1});
    for (size_t i = 0; i < 5000; ++i)
      EXPECT_TRUE(seen.emplace(reinterpret_cast<const char*>(set.pixels.data()) + i * 784, 784).second);
  }
}

TEST(Digits, PositiveAnglesTurnCounterClockwise) {
  // The ink of a 1 lies along its stroke: turned counter-clockwise its top is on the left.
  int right = 0, count = 0;
  for (uint64_t i = 1; i < 2000; i += 10) {
    const Digit digit = make_digit(1, i);
    if (std::abs(digit.angle) < 20.0f) continue;
    double ink = 0, mx = 0, my = 0, xy = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int p = 0; p < 784; ++p) {
        const double w = digit.pixels[static_cast<size_t>(p)] > 100 ? 1.0 : 0.0, x = p % 28, y = p / 28;
        if (pass == 0) ink += w, mx += w * x, my += w * y;
        if (pass == 1) xy += w * (x - mx / ink) * (y - my / ink);
      }
    ++count;
    right += (xy > 0) == (digit.angle > 0);
  }
  EXPECT_GT(count, 50);
  EXPECT_GT(right, count * 95 / 100);
}

// Multinomial logistic regression on the pixels, trained by gradient descent.
class LinearClassifier {
 public:
  void train(const ImageSet& set, int epochs) {
    constexpr int64_t batch = 50;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const float rate = 0.5f / static_cast<float>(batch) / (1.0f + 0.2f * static_cast<float>(epoch));
      for (int64_t first = 0; first + batch <= set.count; first += batch) {
        std::vector<float> step(weights_.size());
        for (int64_t i = first; i < first + batch; ++i) add_gradient(set, static_cast<size_t>(i), step);
        for (size_t w = 0; w < weights_.size(); ++w) weights_[w] -= rate * step[w];
      }
    }
  }
  // The share of right answers.
  double accuracy(const ImageSet& set) const {
    int64_t right = 0;
    for (size_t i = 0; i < static_cast<size_t>(set.count); ++i) {
      const auto score = scores(set, i);
      right += std::max_element(score.begin(), score.end()) - score.begin() == set.labels[i];
    }
    return static_cast<double>(right) / static_cast<double>(set.count);
  }

 private:
  static constexpr size_t kPixels = 784, kClasses = 10, kRow = kPixels + 1;  // the last of a row is the bias
  std::array<float, kClasses> scores(const ImageSet& set, size_t i) const {
    std::array<float, kClasses> score;
    for (size_t c = 0; c < kClasses; ++c) {
      score[c] = weights_[c * kRow + kPixels];
      for (size_t p = 0; p < kPixels; ++p) score[c] += weights_[c * kRow + p] * grey(set, i, p);
    }
    return score;
  }
  void add_gradient(const ImageSet& set, size_t i, std::vector<float>& step) const {
    auto score = scores(set, i);
    const float most = *std::max_element(score.begin(), score.end());
    float sum = 0;
    for (float& s : score) s = std::exp(s - most), sum += s;
    for (size_t c = 0; c < kClasses; ++c) {
      const float error = score[c] / sum - (static_cast<size_t>(set.labels[i]) == c ? 1.0f : 0.0f);
      for (size_t p = 0; p < kPixels; ++p) step[c * kRow + p] += error * grey(set, i, p);
      step[c * kRow + kPixels] += error;
    }
  }
  static float grey(const ImageSet& set, size_t i, size_t p) {
    return static_cast<float>(set.pixels[i * kPixels + p]) * (1.0f / 255.0f);
  }
  std::vector<float> weights_ = std::vector<float>(kClasses * kRow);
};

TEST(Digits, ALinearClassifierIsNotEnough) {
  const ImageSet train = make_digits(Split::train, {.seed = 1}), test = make_digits(Split::test, {.seed = 1});
  LinearClassifier classifier;
  classifier.train(train, 15);
  const double accuracy = classifier.accuracy(test);
  EXPECT_LT(accuracy, 0.95);
  EXPECT_GT(accuracy, 0.80);  // it learned: the bound above means something
  EXPECT_GT(classifier.accuracy(train), 0.90);
}

TEST(Digits, WrongCountsAreRefused) {
  EXPECT_EQ(make_digits(Split::train, {.count = 0, .seed = 1}).count, 0);
  EXPECT_THROW(make_digits(Split::train, {.count = -1, .seed = 1}), Error);
  EXPECT_THROW(make_digits(Split::train, {.count = int64_t{1} << 40, .seed = 1}), Error);
}

TEST(Digits, AreAStore) {
  const Datastore store = digits(Split::test, {.count = 12, .seed = 1});
  EXPECT_EQ(store.size(), 12);
  const Observation one = store.get(3);
  EXPECT_EQ(one[0].spec().text(), "f32[28,28,1] \"SSC\"");
  EXPECT_EQ(one[1].item<int32_t>(), 3);
  const auto pixels = one[0].to_vector<float>();
  EXPECT_LE(*std::max_element(pixels.begin(), pixels.end()), 1.0f);
  EXPECT_GE(*std::max_element(pixels.begin(), pixels.end()), 0.5f);
}

TEST(DigitsFiles, AreReadBack) {
  const TemporaryFolder folder;
  const ImageSet set = make_digits(Split::test, {.count = 30, .seed = 1});
  write_image_set(folder.path(), Split::test, set);
  write_image_set(folder.path(), Split::test, set, false);
  for (const std::string suffix : {"", ".gz"}) {
    const IdxArray images = read_idx(folder.path() / ("t10k-images-idx3-ubyte" + suffix));
    EXPECT_EQ(images.shape, (Shape{30, 28, 28}));
    EXPECT_TRUE(std::equal(set.pixels.begin(), set.pixels.end(), images.values<uint8_t>().begin()));
    const IdxArray labels = read_idx(folder.path() / ("t10k-labels-idx1-ubyte" + suffix));
    EXPECT_EQ(labels.values<uint8_t>()[29], 9);
    const IdxArray angles = read_idx(folder.path() / ("t10k-angles-idx1-float" + suffix));
    EXPECT_TRUE(std::equal(set.angles.begin(), set.angles.end(), angles.values<float>().begin()));
  }
  try {
    write_image_set(folder.path() / "absent", Split::test, set);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
  }
}

TEST(DigitsFiles, OtherDataAreNotReplaced) {
  const TemporaryFolder folder;
  const ImageSet set = make_digits(Split::test, {.count = 30, .seed = 1}),
                 other = make_digits(Split::test, {.count = 31, .seed = 1});
  const auto refused = [&](const ImageSet& images) {
    try {
      check_image_set(folder.path(), Split::test, images);
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return true;
    }
  };
  EXPECT_FALSE(check_image_set(folder.path(), Split::test, set));
  write_image_set(folder.path(), Split::test, set);
  EXPECT_TRUE(check_image_set(folder.path(), Split::test, set));
  EXPECT_TRUE(refused(other));
  // The plain file is read in place of the compressed one.
  write_file_whole(folder.path() / "t10k-labels-idx1-ubyte", "other");
  EXPECT_TRUE(refused(set));
  check_contact_sheet(folder.path() / "digits.png");
  write_contact_sheet(folder.path() / "digits.png", set, 30);
  EXPECT_THROW(check_contact_sheet(folder.path() / "digits.png"), Error);
}

TEST(DigitsFiles, TheContactSheetShowsTheImages) {
  const TemporaryFolder folder;
  const ImageSet set = make_digits(Split::train, {.count = 7, .seed = 1});
  const auto path = folder.path() / "sheet.png";
  write_contact_sheet(path, set, 100, 5);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_file(&image, path.c_str()));
  image.format = PNG_FORMAT_GRAY;
  std::vector<uint8_t> sheet(PNG_IMAGE_SIZE(image));
  ASSERT_TRUE(png_image_finish_read(&image, nullptr, sheet.data(), 0, nullptr));
  ASSERT_EQ(image.width, 5u * 29u + 1u);
  ASSERT_EQ(image.height, 2u * 29u + 1u);
  for (size_t y = 0; y < 28; ++y)  // image 6: second row, second column
    for (size_t x = 0; x < 28; ++x) ASSERT_EQ(sheet[(30 + y) * image.width + 30 + x], set.pixels[6 * 784 + y * 28 + x]);
  EXPECT_THROW(write_contact_sheet(path, make_digits(Split::train, {.count = 0, .seed = 1})), Error);
  EXPECT_THROW(write_contact_sheet(path, set, 10, 0), Error);
}

TEST(Strokes, ACurvePassesThroughItsPoints) {
  const Stroke points = {{0, 0}, {1, 2}, {3, 1}};
  const Stroke line = smooth(points, 4);
  ASSERT_EQ(line.size(), 9u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(line[4 * i].x, points[i].x);
    EXPECT_EQ(line[4 * i].y, points[i].y);
  }
  const Stroke straight = smooth({{0, 0}, {1, 1}}, 2);
  EXPECT_EQ(straight[1].x, straight[1].y);
}

TEST(Strokes, EveryDigitStaysInItsBox) {
  for (int digit = 0; digit < 10; ++digit) {
    ASSERT_FALSE(glyphs(digit).empty());
    for (const auto& glyph : glyphs(digit))
      for (const auto& stroke : glyph) {
        EXPECT_GE(stroke.size(), 2u);
        for (const auto& point : stroke) EXPECT_TRUE(std::abs(point.x) <= 0.32 && std::abs(point.y) <= 0.52);
      }
  }
}

}  // namespace
}  // namespace retrace

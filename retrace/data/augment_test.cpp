// Images moved by affine maps, against closed forms and against a computation by itself.
#include "retrace/data/augment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "retrace/data/affine.h"
#include "retrace/data/array_store.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

// [height,width,2], values that are all different.
Tensor image_of(int64_t height, int64_t width) {
  Floats values;
  for (int64_t i = 0; i < height * width * 2; ++i) values.push_back(static_cast<float>(i * 37 % 101) + 1);
  return Tensor::from(values, {height, width, 2}, "SSC");
}

Floats moved(const Tensor& image, const AffineMotion& motion, const std::vector<double>& fill = {0},
             Interpolation interpolation = Interpolation::bilinear) {
  return resampled(image, inverse_of(motion), fill, interpolation).to_vector<float>();
}

// The image whose pixel (y, x) is that of `from` at source(y, x), or -1 outside.
template <class Source>
Floats permuted(const Tensor& image, Source source) {
  const Floats from = image.to_vector<float>();
  const int64_t height = image.shape()[0], width = image.shape()[1];
  Floats values;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 2; ++c) {
        const auto [from_y, from_x] = source(y, x);
        const bool inside = from_y >= 0 && from_x >= 0 && from_y < height && from_x < width;
        values.push_back(inside ? from[static_cast<size_t>((from_y * width + from_x) * 2 + c)] : -1.0f);
      }
  return values;
}

using Pixel = std::pair<int64_t, int64_t>;

TEST(Affine, QuarterTurnsArePermutations) {
  for (const int64_t n : {4, 5}) {
    const Tensor image = image_of(n, n);
    for (const auto interpolation : {Interpolation::bilinear, Interpolation::nearest}) {
      const auto turned = [&](double degrees) { return moved(image, {.rotation = degrees}, {-1}, interpolation); };
      // A quarter counter-clockwise: the last column becomes the first row.
      EXPECT_EQ(turned(90), permuted(image, [&](int64_t y, int64_t x) { return Pixel(x, n - 1 - y); }));
      EXPECT_EQ(turned(-270), turned(90));
      EXPECT_EQ(turned(180), permuted(image, [&](int64_t y, int64_t x) { return Pixel(n - 1 - y, n - 1 - x); }));
      EXPECT_EQ(turned(270), permuted(image, [&](int64_t y, int64_t x) { return Pixel(n - 1 - x, y); }));
      EXPECT_EQ(turned(360), image.to_vector<float>());
      EXPECT_EQ(turned(0), image.to_vector<float>());
    }
  }
}

TEST(Affine, WholePixelsAreShifts) {
  const Tensor image = image_of(3, 5);
  for (const auto interpolation : {Interpolation::bilinear, Interpolation::nearest})
    EXPECT_EQ(moved(image, {.translate_x = 2, .translate_y = -1}, {-1}, interpolation),
              permuted(image, [](int64_t y, int64_t x) { return Pixel(y + 1, x - 2); }));
  EXPECT_EQ(moved(image, {.reflect_x = true}), permuted(image, [](int64_t y, int64_t x) { return Pixel(y, 4 - x); }));
  EXPECT_EQ(moved(image, {.reflect_y = true}), permuted(image, [](int64_t y, int64_t x) { return Pixel(2 - y, x); }));
  // The reflection comes before the translation.
  EXPECT_EQ(moved(image, {.reflect_x = true, .translate_x = 1}, {-1}),
            permuted(image, [](int64_t y, int64_t x) { return Pixel(y, x == 0 ? -1 : 5 - x); }));
}

TEST(Affine, HalfAPixelIsAMean) {
  const Tensor image = Tensor::from(Floats{1, 2, 4, 8}, {1, 4, 1}, "SSC");
  EXPECT_EQ(moved(image, {.translate_x = 0.5}, {3}), (Floats{2, 1.5f, 3, 6}));
  EXPECT_EQ(moved(image, {.translate_x = -0.25}, {0}), (Floats{1.25f, 2.5f, 5, 6}));
}

TEST(Affine, ScaleAndShearAreAboutTheMiddle) {
  // Positions -1.5, -0.5, 0.5, 1.5 of the result are -0.75, -0.25, 0.25, 0.75 of the source.
  const Tensor row = Tensor::from(Floats{1, 2, 4, 8}, {1, 4, 1}, "SSC");
  EXPECT_EQ(moved(row, {.scale_x = 2}), (Floats{1.75f, 2.5f, 3.5f, 5}));
  // x grows by y: rows -1, 0, 1 move by -1, 0, 1.
  const Tensor image = image_of(3, 3);
  EXPECT_EQ(moved(image, {.shear_x = 45}, {-1}, Interpolation::nearest),
            permuted(image, [](int64_t y, int64_t x) { return Pixel(y, x - (y - 1)); }));
  EXPECT_EQ(moved(image, {.shear_y = 45}, {-1}, Interpolation::nearest),
            permuted(image, [](int64_t y, int64_t x) { return Pixel(y - (x - 1), x); }));
}

// The point of the source by the product of the matrices of the motion, inverted by Cramer's rule.
struct Matrix {
  double a, b, c, d;
  Matrix operator*(const Matrix& o) const {
    return {a * o.a + b * o.c, a * o.b + b * o.d, c * o.a + d * o.c, c * o.b + d * o.d};
  }
};

TEST(Affine, GeneralMapsAreThoseOfTheirMatrices) {
  const int64_t height = 7, width = 9;
  const Tensor image = image_of(height, width);
  const AffineMotion motion{.reflect_y = true,
                            .scale_x = 1.3,
                            .scale_y = 0.8,
                            .shear_x = 12,
                            .shear_y = -7,
                            .rotation = 200.5,
                            .translate_x = 0.7,
                            .translate_y = -1.2};
  const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
  const double s = std::sin(radians(motion.rotation)), k = std::cos(radians(motion.rotation));
  const Matrix forward = Matrix{k, s, -s, k} * Matrix{1, 0, std::tan(radians(motion.shear_y)), 1} *
                         Matrix{1, std::tan(radians(motion.shear_x)), 0, 1} *
                         Matrix{motion.scale_x, 0, 0, motion.scale_y} * Matrix{1, 0, 0, -1};
  const double determinant = forward.a * forward.d - forward.b * forward.c;
  const Floats from = image.to_vector<float>(), found = moved(image, motion, {5, 6});
  const auto at = [&](double x, double y, int64_t c) {
    const bool inside = x >= 0 && y >= 0 && x < width && y < height;
    return inside ? from[static_cast<size_t>((static_cast<int64_t>(y) * width + static_cast<int64_t>(x)) * 2 + c)]
                  : 5.0 + static_cast<double>(c);
  };
  size_t next = 0;
  int inside = 0;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column) {
      const double x = static_cast<double>(column) - 4 - motion.translate_x,
                   y = static_cast<double>(row) - 3 - motion.translate_y;
      const double px = (forward.d * x - forward.b * y) / determinant + 4,
                   py = (forward.a * y - forward.c * x) / determinant + 3;
      const double left = std::floor(px), top = std::floor(py), fx = px - left, fy = py - top;
      for (int64_t c = 0; c < 2; ++c, ++next) {
        const double wanted = (1 - fy) * ((1 - fx) * at(left, top, c) + fx * at(left + 1, top, c)) +
                              fy * ((1 - fx) * at(left, top + 1, c) + fx * at(left + 1, top + 1, c));
        EXPECT_NEAR(found[next], wanted, 1e-4) << row << " " << column;
        inside += px > 0 && py > 0 && px < 8 && py < 6;
      }
    }
  EXPECT_GT(inside, 40) << "most of the image is seen";
}

TEST(Affine, BytesAreRoundedToTheNearest) {
  const Tensor image = Tensor::from(std::vector<uint8_t>{10, 11, 13, 255}, {1, 4, 1}, "SSC");
  const Tensor found = resampled(image, inverse_of({.translate_x = -0.5}), {300}, Interpolation::bilinear);
  EXPECT_EQ(found.to_vector<uint8_t>(), (std::vector<uint8_t>{11, 12, 134, 255}));
}

Datastore squares(int64_t count = 64) {
  std::vector<Tensor> images;
  Floats values;
  for (int64_t n = 0; n < count; ++n)
    for (const float value : image_of(4, 4).to_vector<float>()) values.push_back(value + static_cast<float>(n));
  const Tensor all = Tensor::from(values, {count, 4, 4, 2}, "BSSC");
  return array_store({all, Tensor::zeros({count}, DType::i32, "B"), all});
}

Floats image(const Datastore& store, int64_t sample, int64_t pass = 0, size_t variable = 0) {
  return store.source()->get(sample, pass).at(variable).to_vector<float>();
}

TEST(Augment, MovesInputAndTargetAlikeAndLeavesTheRest) {
  const AugmentOptions options{.reflect_x = true, .rotation = {-30, 30}, .scale = {0.8, 1.2}, .seed = 5};
  const Datastore store = augment(squares(), options);
  int moved = 0;
  for (int64_t n = 0; n < 64; ++n) {
    EXPECT_EQ(image(store, n), image(store, n, 0, 2));
    EXPECT_EQ(store.get(n)[1].item<int32_t>(), 0);
    moved += image(store, n) != image(squares(), n);
  }
  EXPECT_EQ(moved, 64);
  EXPECT_EQ(image(augment(squares()), 7), image(squares(), 7)) << "by default nothing moves";
}

TEST(Augment, DrawsDependOnSeedPassAndSampleAlone) {
  const auto turned = [](uint64_t seed) { return augment(squares(), {.rotation = {-180, 180}, .seed = seed}); };
  EXPECT_EQ(image(turned(1), 3), image(turned(1), 3));
  EXPECT_NE(image(turned(1), 3), image(turned(2), 3));
  EXPECT_NE(image(turned(1), 3), image(turned(1), 3, 1));
  EXPECT_EQ(image(turned(1).subset({9, 3}), 1), image(turned(1), 3));
  // What else is wanted changes no draw: a whole shift by 1 of the reflected image.
  const auto both = augment(squares(), {.reflect_x = true, .translate_x = {1, 1}, .seed = 4});
  const auto one = augment(squares(), {.reflect_x = true, .seed = 4});
  int reflected = 0;
  for (int64_t n = 0; n < 64; ++n) {
    reflected += image(one, n) != image(squares(), n);
    EXPECT_EQ(image(augment(one, {.translate_x = {1, 1}}), n), image(both, n));
  }
  EXPECT_NEAR(reflected, 32, 12);
}

TEST(Augment, RangesAreDrawnUniformly) {
  // A ramp shifted by t is x - t in its middle.
  Floats ramp;
  for (int x = 0; x < 9; ++x) ramp.push_back(static_cast<float>(x));
  const Datastore store = array_store({Tensor::from(ramp, {1, 1, 9, 1}, "BSSC")}).subset(std::vector<int64_t>(400, 0));
  const Datastore all = array_store({Tensor::zeros({400, 1, 9, 1}, DType::f32, "BSSC")});
  const Datastore shifted = augment(transform(all, [&](const Observation&, TransformContext&) { return store.get(0); }),
                                    {.translate_x = {-3, 1}});
  double sum = 0, least = 9, most = -9;
  for (int64_t n = 0; n < 400; ++n) {
    const double shift = 4 - image(shifted, n)[4];
    sum += shift, least = std::min(least, shift), most = std::max(most, shift);
  }
  EXPECT_NEAR(sum / 400, -1, 0.25);
  EXPECT_NEAR(least, -3, 0.1);
  EXPECT_NEAR(most, 1, 0.1);
}

// A function that gives back what a range would have drawn moves alike; one of two values is seen as both of them.
TEST(Augment, RangesMayBeFunctions) {
  const auto range = augment(squares(), {.rotation = {-30, 30}, .translate_x = {1, 3}, .seed = 4});
  const auto function = augment(
      squares(), {.rotation = {.function = [](double u) { return -30 + 60 * u; }}, .translate_x = {1, 3}, .seed = 4});
  const auto some = augment(squares(), {.translate_x = {.function = [](double u) { return u < 0.25 ? 1.0 : 0.0; }}});
  const auto all = augment(squares(), {.translate_x = {1, 1}});
  int shifted = 0;
  for (int64_t n = 0; n < 64; ++n) {
    EXPECT_EQ(image(function, n), image(range, n));
    const auto found = image(some, n);
    EXPECT_TRUE(found == image(all, n) || found == image(squares(), n));
    shifted += found == image(all, n);
  }
  EXPECT_NEAR(shifted, 16, 10);
  const auto wrong = augment(squares(), {.shear_x = {.function = [](double) { return 90.0; }}});
  EXPECT_TRUE(says(error_of([&] { wrong.get(0); }),
                   "error[RT0371]: augment: the function of shear_x made 90\n  where:    augment_test.cpp:"));
}

// The rows of an image [4,4,2] from the last to the first.
Floats upside_down(const Floats& values) {
  Floats rows;
  for (auto end = values.end(); end != values.begin(); end -= 8) rows.insert(rows.end(), end - 8, end);
  return rows;
}

TEST(Augment, TransformsHaveNames) {
  const Datastore flipped = named_transform(squares(), "random-vertical-flip", {}, {.seed = 3});
  int flips = 0;
  for (int64_t n = 0; n < 64; ++n) {
    const bool flip = image(flipped, n) != image(squares(), n);
    flips += flip;
    EXPECT_EQ(image(flipped, n), flip ? upside_down(image(squares(), n)) : image(squares(), n));
  }
  EXPECT_NEAR(flips, 32, 12);
  const Datastore turned =
      named_transform(squares(), "random-affine", {{"rotation", std::vector<double>{-50, 70}}}, {.seed = 3});
  EXPECT_EQ(image(turned, 5), image(augment(squares(), {.rotation = {-50, 70}, .seed = 3}), 5));
  const Place place{"train.cpp", 5};
  EXPECT_TRUE(says(error_of([&] { named_transform(squares(), "random-afine", {}, {}, place); }),
                   "did you mean \"random-affine\"?"));
  EXPECT_TRUE(says(error_of([&] { named_transform(squares(), "random-affine", {{"rotate", 3}}, {}, place); }),
                   "error[RT0432]: transform \"random-affine\" has no option \"rotate\"\n  where:    train.cpp:5"));
}

TEST(Augment, NoiseIsNormal) {
  const Datastore zeros = array_store({Tensor::zeros({20, 10, 10, 5}, DType::f32, "BSSC")});
  const Datastore noisy = named_transform(zeros, "gaussian-noise", {{"noise_deviation", 0.5}}, {.seed = 1});
  double sum = 0, squares = 0, within = 0;
  for (int64_t n = 0; n < 20; ++n)
    for (const double x : image(noisy, n)) sum += x, squares += x * x, within += std::abs(x) < 0.5;
  EXPECT_NEAR(sum / 10'000, 0, 0.02);
  EXPECT_NEAR(squares / 10'000, 0.25, 0.015);
  EXPECT_NEAR(within / 10'000, 0.6827, 0.02);
  EXPECT_NE(image(noisy, 0), image(noisy, 1));
  EXPECT_NE(image(noisy, 0), image(noisy, 0, 1));
}

TEST(Augment, RefusesOptionsAndImages) {
  const Place place{"train.cpp", 5};
  EXPECT_EQ(error_of([&] { augment(squares(), {.scale = {0, 1}}, place); }),
            "error[RT0371]: augment: scale is no range\n  where:    train.cpp:5\n  got:      0 to 1\n"
            "  expected: two numbers from 0.01 to 100, the lower one first");
  EXPECT_TRUE(says(error_of([&] { augment(squares(), {.rotation = {1, -1}}, place); }), "rotation is no range"));
  EXPECT_TRUE(says(error_of([&] { augment(squares(), {.shear_x = {0, NAN}}, place); }), "shear_x is no range"));
  EXPECT_TRUE(says(error_of([&] { augment(squares(), {.fill_value = {}}, place); }), "fill_value is empty"));
  EXPECT_TRUE(
      says(error_of([&] { augment(squares(), {.fill_value = {INFINITY}}, place); }), "fill_value is not finite"));
  EXPECT_EQ(error_of([&] { augment(squares(), {.fill_value = {1, 2, 3}}).get(0, place); }),
            "error[RT0373]: augment: fill_value has 3 numbers\n  where:    train.cpp:5\n"
            "  got:      f32[4,4,2] \"SSC\"\n  expected: one number, or one for each channel");
  EXPECT_EQ(error_of([&] { augment(array_store({Tensor::zeros({2, 3}, DType::f32, "BC")})).get(0, place); }),
            "error[RT0345]: augment: the input is no image\n  where:    train.cpp:5\n  got:      f32[3] \"C\"\n"
            "  expected: [height,width,channels] with the labels \"SSC\"");
  EXPECT_TRUE(
      says(error_of([&] { augment(array_store({Tensor::zeros({2, 3, 3, 1}, DType::f64, "BSSC")})).get(0, place); }),
           "error[RT0372]: augment: an image is neither f32, u8 nor i32"));
}

}  // namespace
}  // namespace retrace

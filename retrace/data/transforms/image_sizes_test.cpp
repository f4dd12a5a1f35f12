// Transforms that change the sizes or the channels of images, against closed forms.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "retrace/data/array_store.h"
#include "retrace/data/transform_kind.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;

Datastore store_of(const Tensor& images) { return array_store({images, images}); }

// Image n has 1000 n + 10 y + x at (y, x).
Tensor counted_images(int64_t count, int64_t height, int64_t width) {
  Floats values;
  for (int64_t n = 0; n < count; ++n)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) values.push_back(static_cast<float>(1000 * n + 10 * y + x));
  return Tensor::from(values, {count, height, width, 1}, "BSSC");
}

Datastore with_transform(const Datastore& store, const std::string& name, OptionValues options = {}) {
  const auto& kind = kind_of(all_transforms(), name, "transform", {});
  return transform(store, kind.make(with_standard_values(std::move(options), kind.options)), {.seed = 7});
}

Tensor image_of(const Datastore& store, int64_t n = 0, int64_t pass = 0, size_t variable = 0) {
  return store.source()->get(n, pass).at(variable);
}

Shape shape_of(const std::string& name, const Shape& shape, OptionValues options = {}) {
  const auto& kind = kind_of(all_transforms(), name, "transform", {});
  return kind.shape(shape, with_standard_values(std::move(options), kind.options));
}

TEST(Resize, BilinearIsATriangleOverTheCoarserGrid) {
  const Tensor row = Tensor::from<float>({1, 3, 8, 0}, {1, 1, 4, 1}, "BSSC");
  // Twice as wide: the middles of new pixels lie a quarter of a pixel beside those of old ones.
  const auto wide =
      image_of(with_transform(store_of(row), "resize", {{"resize_height", int64_t{1}}, {"resize_width", int64_t{8}}}));
  EXPECT_EQ(wide.shape(), (Shape{1, 8, 1}));
  EXPECT_EQ(wide.to_vector<float>(), (Floats{1, 1.5, 2.5, 4.25, 6.75, 6, 2, 0}));
  // Half as wide: weights 3/4, 3/4, 1/4 at the edge.
  const auto narrow =
      image_of(with_transform(store_of(row), "resize", {{"resize_height", int64_t{1}}, {"resize_width", int64_t{2}}}));
  const double first = (0.75 * 1 + 0.75 * 3 + 0.25 * 8) / 1.75, last = (0.25 * 3 + 0.75 * 8 + 0.75 * 0) / 1.75;
  EXPECT_EQ(narrow.to_vector<float>(), (Floats{static_cast<float>(first), static_cast<float>(last)}));
}

// An image that is linear in x and y stays so, away from its edges, whatever the size.
TEST(Resize, BilinearKeepsAPlane) {
  for (const int64_t size : {7, 20, 33}) {
    const auto made = image_of(with_transform(store_of(counted_images(1, 20, 20)), "resize",
                                              {{"resize_height", size}, {"resize_width", size}}));
    const auto values = made.to_vector<float>();
    const double step = 20.0 / static_cast<double>(size);
    for (int64_t y = 0; y < size; ++y)
      for (int64_t x = 0; x < size; ++x) {
        const double cy = (static_cast<double>(y) + 0.5) * step - 0.5, cx = (static_cast<double>(x) + 0.5) * step - 0.5;
        if (std::min(cy, cx) < step || std::max(cy, cx) > 19 - step) continue;
        // Triangles of a width that is no whole number of pixels are not exact for planes: within a part of a pixel.
        EXPECT_NEAR(values[static_cast<size_t>(y * size + x)], 10 * cy + cx, size == 7 ? 0.6 : 1e-4) << size;
      }
  }
}

TEST(Resize, NearestTakesThePixelUnderTheMiddle) {
  for (const int64_t size : {1, 3, 5, 8, 11}) {
    const auto made = image_of(with_transform(
        store_of(counted_images(1, 5, 8)), "resize",
        {{"resize_height", int64_t{3}}, {"resize_width", size}, {"resize_method", std::string("nearest")}}));
    Floats expected;
    for (int64_t y = 0; y < 3; ++y)
      for (int64_t x = 0; x < size; ++x) {
        const auto row = static_cast<int64_t>((static_cast<long double>(y) + 0.5L) * 5 / 3);
        const auto column =
            static_cast<int64_t>((static_cast<long double>(x) + 0.5L) * 8 / static_cast<long double>(size));
        expected.push_back(static_cast<float>(10 * row + column));
      }
    EXPECT_EQ(made.to_vector<float>(), expected) << size;
  }
}

TEST(Resize, BytesAreRoundedAndTargetsFollow) {
  const Tensor bytes = Tensor::from<uint8_t>({0, 255, 1, 2}, {1, 1, 4, 1}, "BSSC");
  const auto store =
      with_transform(store_of(bytes), "resize", {{"resize_height", int64_t{2}}, {"resize_width", int64_t{8}}});
  // 0, 63.75, 191.25, 191.5, 64.5, 1.25, 1.75, 2, in two equal rows.
  const Bytes row{0, 64, 191, 192, 65, 1, 2, 2};
  Bytes both = row;
  both.insert(both.end(), row.begin(), row.end());
  EXPECT_EQ(image_of(store).to_vector<uint8_t>(), both);
  EXPECT_EQ(image_of(store, 0, 0, 1).to_vector<uint8_t>(), both);
}

TEST(Resize, OneSizeMakesTheOtherInProportion) {
  EXPECT_EQ(shape_of("resize", {30, 45, 3}, {{"resize_height", int64_t{10}}}), (Shape{10, 15, 3}));
  EXPECT_EQ(shape_of("resize", {30, 45, 3}, {{"resize_width", int64_t{10}}}), (Shape{7, 10, 3}));  // 6.67
  EXPECT_EQ(shape_of("resize", {2, 45, 3}, {{"resize_width", int64_t{3}}}), (Shape{1, 3, 3}));
  EXPECT_EQ(shape_of("resize", {0, 0, 3}, {{"resize_width", int64_t{10}}}), (Shape{0, 10, 3}));
  EXPECT_EQ(error_of([] { shape_of("resize", {2, 2, 1}); }),
            "error[RT0388]: transform \"resize\": the new size is not given\n"
            "  help:     set resize_height, resize_width, or both (in a job data.resize_height, data.resize_width)");
}

TEST(CenterCrop, CutsTheMiddleOut) {
  const auto store = with_transform(store_of(counted_images(1, 5, 8)), "center-crop",
                                    {{"crop_height", int64_t{2}}, {"crop_width", int64_t{4}}});
  EXPECT_EQ(image_of(store).to_vector<float>(), (Floats{12, 13, 14, 15, 22, 23, 24, 25}));
  EXPECT_EQ(shape_of("center-crop", {5, 8, 3}, {{"crop_width", int64_t{3}}}), (Shape{3, 3, 3}));
  EXPECT_EQ(error_of([] { shape_of("center-crop", {5, 8, 3}, {{"crop_width", int64_t{6}}}); }),
            "error[RT0382]: transform \"center-crop\": the image is smaller than the part\n"
            "  got:      an image of 5 x 8 pixels (height x width)\n"
            "  expected: at least 6 x 6\n"
            "  help:     put the transform \"resize\" before it, or cut out a smaller part");
  EXPECT_EQ(error_of([] { shape_of("center-crop", {5, 8, 3}); }),
            "error[RT0383]: transform \"center-crop\": the size of the part is not given\n"
            "  help:     set crop_height, crop_width, or both (in a job data.crop_height, data.crop_width)");
}

TEST(RandomCropToSize, CutsEveryPartOutAndTargetsAlike) {
  const auto store = with_transform(store_of(counted_images(200, 4, 6)), "random-crop-to-size",
                                    {{"crop_height", int64_t{2}}, {"crop_width", int64_t{5}}});
  std::map<std::pair<int64_t, int64_t>, int> seen;
  for (int64_t n = 0; n < 200; ++n) {
    const auto values = image_of(store, n).to_vector<float>();
    const auto corner = static_cast<int64_t>(values[0]) - 1000 * n;
    const int64_t top = corner / 10, left = corner % 10;
    ++seen[{top, left}];
    Floats expected;
    for (int64_t y = top; y < top + 2; ++y)
      for (int64_t x = left; x < left + 5; ++x) expected.push_back(static_cast<float>(1000 * n + 10 * y + x));
    EXPECT_EQ(values, expected);
    EXPECT_EQ(image_of(store, n, 0, 1).to_vector<float>(), values);
  }
  EXPECT_EQ(seen.size(), 6u);  // 3 rows and 2 columns
  for (const auto& [place, count] : seen) EXPECT_NEAR(count, 33, 20);
  // With equal sizes it is the identity.
  const auto same = with_transform(store_of(counted_images(3, 4, 6)), "random-crop-to-size",
                                   {{"crop_height", int64_t{4}}, {"crop_width", int64_t{6}}});
  EXPECT_EQ(image_of(same, 2).to_vector<float>(), image_of(store_of(counted_images(3, 4, 6)), 2).to_vector<float>());
}

TEST(RandomCropToSize, IsDrawnAnewInEachPass) {
  const auto store =
      with_transform(store_of(counted_images(1, 40, 40)), "random-crop-to-size", {{"crop_height", int64_t{2}}});
  std::set<float> corners;
  for (int64_t pass = 0; pass < 8; ++pass) corners.insert(image_of(store, 0, pass).to_vector<float>()[0]);
  EXPECT_GT(corners.size(), 5u);
  EXPECT_EQ(image_of(store, 0, 3).to_vector<float>(), image_of(store, 0, 3).to_vector<float>());
}

TEST(RandomQuarterTurn, TurnsCounterClockwise) {
  const auto store = with_transform(store_of(counted_images(100, 3, 3)), "random-quarter-turn");
  // As numpy.rot90 does.
  const std::vector<Floats> turns{{0, 1, 2, 10, 11, 12, 20, 21, 22},
                                  {2, 12, 22, 1, 11, 21, 0, 10, 20},
                                  {22, 21, 20, 12, 11, 10, 2, 1, 0},
                                  {20, 10, 0, 21, 11, 1, 22, 12, 2}};
  std::map<size_t, int> seen;
  for (int64_t n = 0; n < 100; ++n) {
    auto values = image_of(store, n).to_vector<float>();
    EXPECT_EQ(image_of(store, n, 0, 1).to_vector<float>(), values);
    for (float& value : values) value -= static_cast<float>(1000 * n);
    const auto found = std::find(turns.begin(), turns.end(), values);
    ASSERT_NE(found, turns.end());
    ++seen[static_cast<size_t>(found - turns.begin())];
  }
  EXPECT_EQ(seen.size(), 4u);
  for (const auto& [quarters, count] : seen) EXPECT_NEAR(count, 25, 15) << quarters;
  EXPECT_EQ(error_of([] { image_of(with_transform(store_of(counted_images(1, 2, 3)), "random-quarter-turn")); }),
            "error[RT0384]: transform \"random-quarter-turn\": the image is not square\n"
            "  got:      an image of 2 x 3 pixels (height x width)\n"
            "  expected: as many rows as columns, so that every turn keeps the sizes\n"
            "  help:     put the transform \"center-crop\" or \"resize\" before it");
}

TEST(ToGrey, WeighsTheColoursAndToRgbRepeats) {
  const Tensor colors = Tensor::from<float>({1, 0.5, 0.25, 0.1f, 0.2f, 0.3f}, {1, 1, 2, 3}, "BSSC");
  const auto grey = image_of(with_transform(store_of(colors), "to-grey"));
  EXPECT_EQ(grey.shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(grey.to_vector<float>(),
            (Floats{static_cast<float>(0.299 * 1 + 0.587 * 0.5 + 0.114 * 0.25),
                    static_cast<float>(0.299 * double(0.1f) + 0.587 * double(0.2f) + 0.114 * double(0.3f))}));
  const Tensor bytes = Tensor::from<uint8_t>({255, 0, 0, 10, 20, 30}, {1, 1, 2, 3}, "BSSC");
  EXPECT_EQ(image_of(with_transform(store_of(bytes), "to-grey")).to_vector<uint8_t>(), (Bytes{76, 18}));  // 76.2, 18.15
  const auto rgb = image_of(with_transform(with_transform(store_of(bytes), "to-grey"), "to-rgb"));
  EXPECT_EQ(rgb.to_vector<uint8_t>(), (Bytes{76, 76, 76, 18, 18, 18}));
  EXPECT_EQ(image_of(with_transform(store_of(colors), "to-rgb")).to_vector<float>(), colors.to_vector<float>());
  EXPECT_EQ(error_of([] { shape_of("to-grey", {4, 4, 2}); }),
            "error[RT0381]: transform \"to-grey\": the image has 2 channels\n"
            "  expected: 1 (grey) or 3 (red, green, blue)");
}

TEST(ImageSizes, AreKnownBeforeImagesAreRead) {
  const OptionValues options{{"resize_height", int64_t{12}}, {"crop_height", int64_t{8}}};
  const std::vector<std::string> names{"resize", "random-crop-to-size", "random-horizontal-flip", "to-grey",
                                       "center-crop"};
  EXPECT_EQ(transformed_shape(names, options, {0, 0, 3}, Split::train), (Shape{8, 8, 1}));
  EXPECT_EQ(transformed_shape({names.begin(), names.begin() + 2}, options, {24, 36, 3}, Split::test),
            (Shape{12, 18, 3}));
}

}  // namespace
}  // namespace retrace

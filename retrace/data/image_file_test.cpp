#include "retrace/data/image_file.h"

#include <gtest/gtest.h>

#include "retrace/data/image_testing.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

const Place place{"train.cpp", 5};

std::vector<uint8_t> ramp(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> values;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c) values.push_back(static_cast<uint8_t>(6 * y + 4 * x + 30 * c));
  return values;
}

Tensor parsed(const std::string& file) { return parse_image(file, "a.img", place); }
std::string image_refusal(const std::string& file) {
  return error_of([&] { parsed(file); });
}
std::vector<uint8_t> values(const std::string& file) { return parsed(file).to_vector<uint8_t>(); }

TEST(ImageFile, ReadsWhatPngStores) {
  const auto colours = ramp(3, 4, 3), grey = ramp(3, 4, 1);
  EXPECT_EQ(parsed(png_of(colours, {3, 4})).spec().text(), "u8[3,4,3] \"SSC\"");
  EXPECT_EQ(values(png_of(colours, {3, 4})), colours);
  EXPECT_EQ(values(png_of(grey, {.height = 3, .width = 4, .colours = PNG_COLOR_TYPE_GRAY, .interlaced = true})), grey);
  // Two bits, four pixels a byte: 0, 1, 2, 3 become 0, 85, 170, 255.
  EXPECT_EQ(values(png_of({0x1b}, {.height = 1, .width = 4, .depth = 2, .colours = PNG_COLOR_TYPE_GRAY})),
            (std::vector<uint8_t>{0, 85, 170, 255}));
  // Transparency is dropped.
  EXPECT_EQ(values(png_of({7, 8, 9, 0, 1, 2, 3, 128}, {.height = 1, .width = 2, .colours = PNG_COLOR_TYPE_RGBA})),
            (std::vector<uint8_t>{7, 8, 9, 1, 2, 3}));
  EXPECT_EQ(values(png_of({7, 0, 1, 128}, {.height = 1, .width = 2, .colours = PNG_COLOR_TYPE_GA})),
            (std::vector<uint8_t>{7, 1}));
}

TEST(ImageFile, RoundsSixteenBitsToEight) {
  std::vector<uint8_t> packed, expected;
  for (int v = 0; v < 65536; ++v) {
    packed.push_back(static_cast<uint8_t>(v >> 8)), packed.push_back(static_cast<uint8_t>(v & 255));
    expected.push_back(static_cast<uint8_t>((2 * v + 257) / 514));  // round(v / 257): no v is in the middle
  }
  EXPECT_EQ(values(png_of(packed, {.height = 256, .width = 256, .depth = 16, .colours = PNG_COLOR_TYPE_GRAY})),
            expected);
}

TEST(ImageFile, ExpandsPalettes) {
  PngForm form{
      .height = 2, .width = 3, .colours = PNG_COLOR_TYPE_PALETTE, .palette = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};
  EXPECT_EQ(values(png_of({0, 1, 2, 2, 1, 0}, form)),
            (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9, 4, 5, 6, 1, 2, 3}));
  form.depth = 2;
  EXPECT_EQ(values(png_of({0x18, 0x90}, form)),
            (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9, 4, 5, 6, 1, 2, 3}));
  form.palette.pop_back();
  EXPECT_EQ(image_refusal(png_of({0x18, 0x90}, form)),
            "error[RT0334]: the image \"a.img\" is damaged: a pixel has colour 2 of a palette of 2\n"
            "  where:    train.cpp:5\n"
            "  help:     fetch the file again, or take it out of the folder");
}

TEST(ImageFile, ReadsJpegNearly) {
  for (const int channels : {1, 3})
    for (const bool progressive : {false, true}) {
      const auto wanted = ramp(17, 13, channels);
      const Tensor image = parsed(jpeg_of(wanted, 17, 13, channels, 100, progressive));
      EXPECT_EQ(image.shape(), Shape({17, 13, channels}));
      const auto found = image.to_vector<uint8_t>();
      for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], channels == 1 ? 1 : 9) << i;
    }
  // A block of one value is exact: its only number is 8 times that value, less 128.
  EXPECT_EQ(values(jpeg_of(std::vector<uint8_t>(64, 77), 8, 8, 1, 100)), std::vector<uint8_t>(64, 77));
}

TEST(ImageFile, TellsSizesFromHeaders) {
  const ImageFolder folder;
  folder.write("a.jpg", jpeg_of(ramp(17, 13, 3), 17, 13, 3));
  folder.write("b.png", png_of(ramp(3, 4, 1), {.height = 3, .width = 4, .colours = PNG_COLOR_TYPE_GRAY}));
  EXPECT_EQ(image_info(folder.at("a.jpg")), (ImageInfo{17, 13, 3}));
  EXPECT_EQ(image_info(folder.at("b.png")), (ImageInfo{3, 4, 1}));
  EXPECT_EQ(fingerprint(read_image(folder.at("a.jpg"))), fingerprint(parsed(jpeg_of(ramp(17, 13, 3), 17, 13, 3))));
  EXPECT_EQ(error_of([&] { read_image(folder.at("c.png"), place); }),
            "error[RT0501]: image \"" + folder.at("c.png") +
                "\" does not exist\n  where:    train.cpp:5\n  help:     did you mean \"" + folder.at("b.png") + "\"?");
}

TEST(ImageFile, RefusesWhatIsNoImage) {
  EXPECT_EQ(image_refusal("GIF89a"),
            "error[RT0332]: \"a.img\" is neither a JPEG nor a PNG\n  where:    train.cpp:5\n"
            "  help:     convert it, or take it out of the folder");
  EXPECT_EQ(image_refusal(""),
            "error[RT0332]: \"a.img\" is neither a JPEG nor a PNG\n  where:    train.cpp:5\n  got:      an empty file\n"
            "  help:     convert it, or take it out of the folder");
  EXPECT_EQ(image_refusal(jpeg_of(std::vector<uint8_t>(4 * 64), 8, 8, 4)),
            "error[RT0333]: the image \"a.img\" has 4 colour components (CMYK)\n  where:    train.cpp:5\n"
            "  expected: 1 (grey) or 3 (colours)\n  help:     convert it to RGB");
  EXPECT_EQ(image_refusal(jpeg_of(ramp(8, 8, 1), 8, 8, 1, 90, false, true)),
            "error[RT0347]: the image \"a.img\" has arithmetic coding\n  where:    train.cpp:5\n"
            "  expected: a JPEG with Huffman coding, as nearly all have");
}

// Whatever the place where a file ends: an error, never pixels that are guessed.
TEST(ImageFile, RefusesTruncatedFiles) {
  const auto grey = ramp(16, 16, 1);
  for (const auto& file : {jpeg_of(ramp(16, 16, 3), 16, 16, 3), jpeg_of(ramp(16, 16, 3), 16, 16, 3, 90, true),
                           png_of(grey, {.height = 16, .width = 16, .colours = PNG_COLOR_TYPE_GRAY})})
    for (size_t size = 8; size < file.size(); ++size) {
      const auto text = image_refusal(file.substr(0, size));
      ASSERT_TRUE(text.starts_with("error[RT0334]: the image \"a.img\" is damaged: ")) << size << ": " << text;
    }
  const std::string jpeg = jpeg_of(ramp(16, 16, 3), 16, 16, 3);
  EXPECT_EQ(image_refusal(jpeg.substr(0, jpeg.size() - 2)),
            "error[RT0334]: the image \"a.img\" is damaged: Premature end of JPEG file\n  where:    train.cpp:5\n"
            "  help:     fetch the file again, or take it out of the folder");
}

TEST(ImageFile, RefusesDamagedPng) {
  const std::string whole = png_of(ramp(16, 16, 3), {16, 16});
  for (size_t at = 8; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto text = image_refusal(damaged);
    EXPECT_TRUE(text.starts_with("error[RT0334]: ")) << at << ": " << text;
  }
}

TEST(ImageFile, RefusesAbsurdSizesBeforeItTakesMemory) {
  std::string jpeg = jpeg_of(ramp(16, 16, 3), 16, 16, 3);
  const size_t frame = jpeg.find("\xff\xc0") + 5;
  jpeg.replace(frame, 4, "\xff\xdc\xff\xdc");
  EXPECT_EQ(image_refusal(jpeg),
            "error[RT0335]: the image \"a.img\" declares more pixels than are read\n  where:    train.cpp:5\n"
            "  got:      65500 x 65500 pixels, 3 channels\n  expected: at most 268435456 values\n"
            "  help:     make it smaller");
  jpeg.replace(frame, 4, std::string("\x20\x00\x20\x00", 4));
  EXPECT_TRUE(says(image_refusal(jpeg), "it declares 8192 x 8192 pixels, more than it can hold"));
}

}  // namespace
}  // namespace retrace

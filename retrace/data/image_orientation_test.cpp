// The orientation of EXIF, of files that are damaged in every way, too.
#include "retrace/data/image_orientation.h"

#include <gtest/gtest.h>

#include <string>

#include "retrace/data/image_testing.h"

namespace retrace {
namespace {

TEST(ImageOrientation, IsReadInBothOrdersOfBytes) {
  const std::string plain = jpeg_of(std::vector<uint8_t>(3 * 4 * 3, 90), 3, 4, 3);
  EXPECT_EQ(image_orientation(plain), 1);
  for (const bool little : {true, false})
    for (int orientation = 1; orientation <= 8; ++orientation)
      EXPECT_EQ(image_orientation(with_orientation(plain, orientation, little)), orientation);
  EXPECT_EQ(image_orientation(with_orientation(plain, 9)), 1);
  EXPECT_EQ(image_orientation(""), 1);
}

TEST(ImageOrientation, ReadsNothingBehindTheEnd) {
  const std::string turned = with_orientation(jpeg_of(std::vector<uint8_t>(3 * 4, 90), 3, 4, 1), 6);
  const size_t head = turned.find("Exif") + 30;
  for (size_t size = 0; size < head; ++size) {
    const std::string part(turned.data(), size);
    const int found = image_orientation(part);
    EXPECT_TRUE(found == 1 || found == 6) << size;
  }
  for (size_t at = 2; at < head; ++at)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string changed = turned;
      changed[at] = value;
      const int found = image_orientation(changed);
      EXPECT_TRUE(found >= 1 && found <= 8) << at;
    }
}

}  // namespace
}  // namespace retrace

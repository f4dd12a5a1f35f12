#include "retrace/data/datasets.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "retrace/base/file.h"
#include "retrace/data/idx.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using namespace datasets;

// The folder of the real files: $RETRACE_DATA/mnist, else beside the source tree.
std::filesystem::path real_folder() {
  const char* given = std::getenv("RETRACE_DATA");
  return std::filesystem::path(given ? given : RETRACE_SOURCE_DIR "/../shared/data") / "mnist";
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class Mnist : public testing::Test {
 protected:
  void write(const std::string& name, const Shape& shape, std::vector<uint8_t> bytes) {
    IdxArray array{DType::u8, shape, std::vector<std::byte>(bytes.size())};
    if (!bytes.empty()) std::memcpy(array.bytes.data(), bytes.data(), bytes.size());
    write_idx(folder_ / name, array);
  }
  std::string refusal(ErrorKind kind) {
    try {
      read_mnist(folder_.path(), Split::train);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "no error";
  }
  TemporaryFolder folder_;
};

TEST_F(Mnist, ReadsCompressedAndPlainFiles) {
  write("train-images-idx3-ubyte.gz", {2, 1, 2}, {0, 255, 51, 0});
  write("train-labels-idx1-ubyte", {2}, {9, 0});
  const Datastore store = mnist(folder_.path(), Split::train);
  EXPECT_EQ(store.size(), 2);
  EXPECT_EQ(store.variables(), 2);
  EXPECT_EQ(store.get(1)[0].to_vector<float>(), (std::vector<float>{0.2f, 0.0f}));
  EXPECT_EQ(store.get(0)[1].item<int32_t>(), 9);
}

TEST_F(Mnist, MissingFilesAreNamed) {
  write("train-images-idx3-ubyte.gz", {1, 1, 1}, {0});
  write("train-label-idx1-ubyte.gz", {1}, {0});  // misspelt
  const std::string text = refusal(ErrorKind::missing);
  EXPECT_TRUE(mentions(text, "train-labels-idx1-ubyte.gz\" does not exist")) << text;
  EXPECT_TRUE(mentions(text, "train-label-idx1-ubyte.gz\"?")) << text;
  std::filesystem::remove_all(folder_);
  EXPECT_TRUE(mentions(refusal(ErrorKind::missing), "data folder"));
}

TEST_F(Mnist, FilesThatDisagreeAreRefused) {
  write("train-images-idx3-ubyte", {2, 1, 1}, {0, 0});
  write("train-labels-idx1-ubyte", {3}, {0, 1, 2});
  EXPECT_TRUE(mentions(refusal(ErrorKind::bad_data), "has 3 labels for 2 images"));
  write("train-labels-idx1-ubyte", {2}, {0, 10});
  EXPECT_TRUE(mentions(refusal(ErrorKind::bad_data), "has the label 10 at index 1"));
  write("train-labels-idx1-ubyte", {2, 1}, {0, 1});
  EXPECT_TRUE(mentions(refusal(ErrorKind::bad_data), "does not hold labels"));
  write("train-images-idx3-ubyte", {2}, {0, 0});
  EXPECT_TRUE(mentions(refusal(ErrorKind::bad_data), "does not hold images"));
  write("train-images-idx3-ubyte", {0, 28, 28}, {});
  write("train-labels-idx1-ubyte", {0}, {});
  EXPECT_TRUE(mentions(refusal(ErrorKind::bad_data), "holds no pixels"));
}

TEST_F(Mnist, CountsAreComparedBeforePixelsAreRead) {
  // A header of 3,000,000 images, without the pixels.
  write_file_whole(folder_ / "train-images-idx3-ubyte",
                   std::string_view("\0\0\x08\x03\0\x2d\xc6\xc0\0\0\0\x1c\0\0\0\x1c", 16));
  write("train-labels-idx1-ubyte", {512}, std::vector<uint8_t>(512));
  EXPECT_TRUE(mentions(refusal(ErrorKind::bad_data), "has 512 labels for 3000000 images"));
  std::filesystem::remove_all(folder_);
  write_file_whole(folder_, "a file");
  EXPECT_TRUE(mentions(refusal(ErrorKind::missing), "is no folder"));
}

TEST_F(Mnist, DamagedFilesAreNamed) {
  write("train-images-idx3-ubyte", {1, 1, 1}, {0});
  write_file_whole(folder_ / "train-labels-idx1-ubyte", std::string(8, '\0'));
  const std::string text = refusal(ErrorKind::bad_data);
  EXPECT_TRUE(mentions(text, "train-labels-idx1-ubyte\" has the element type 0x00")) << text;
}

TEST(RealMnist, HasItsKnownContent) {
  if (!std::filesystem::exists(real_folder()))
    GTEST_SKIP() << "the MNIST files are not at " << real_folder() << "; RETRACE_DATA names the folder of mnist/";
  const ImageSet train = read_mnist(real_folder(), Split::train), test = read_mnist(real_folder(), Split::test);
  EXPECT_EQ(train.count, 60000);
  EXPECT_EQ(test.count, 10000);
  EXPECT_EQ(train.height * train.width, 784);
  // Mean 0.1307 and the first labels, as published.
  uint64_t sum = 0;
  for (uint8_t pixel : train.pixels) sum += pixel;
  EXPECT_NEAR(static_cast<double>(sum) / 255.0 / static_cast<double>(train.pixels.size()), 0.1307, 0.00005);
  EXPECT_EQ(std::vector<int32_t>(train.labels.begin(), train.labels.begin() + 5),
            (std::vector<int32_t>{5, 0, 4, 1, 9}));
  EXPECT_EQ(std::vector<int32_t>(test.labels.begin(), test.labels.begin() + 5), (std::vector<int32_t>{7, 2, 1, 0, 4}));
}

}  // namespace
}  // namespace retrace

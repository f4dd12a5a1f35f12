#include "retrace/data/cifar10.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/data/source_kind.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// The value of a colour of a pixel in image n of a file.
uint8_t value(int file, int n, int colour, int pixel) {
  return static_cast<uint8_t>(file * 40 + n * 7 + colour * 3 + pixel);
}

std::string file_of(int number, int images) {
  std::string bytes;
  for (int n = 0; n < images; ++n) {
    bytes += static_cast<char>((number + n) % 10);
    for (int colour = 0; colour < 3; ++colour)
      for (int pixel = 0; pixel < 1024; ++pixel) bytes += static_cast<char>(value(number, n, colour, pixel));
  }
  return bytes;
}

void write_set(const std::filesystem::path& folder) {
  for (int i = 1; i <= 5; ++i) write_file_whole(folder / fmt::format("data_batch_{}.bin", i), file_of(i, i));
  write_file_whole(folder / "test_batch.bin", file_of(0, 2));
}

TEST(Cifar10, PlanesBecomePixels) {
  const TemporaryFolder folder;
  write_set(folder);
  const Datastore train = datasets::cifar10(folder.path().string(), Split::train);
  ASSERT_EQ(train.size(), 15);
  const Observation one = train.get(7);  // the second image of the fourth file
  EXPECT_EQ(one[1].item<int32_t>(), 5);
  EXPECT_EQ(one[0].spec().text(), "f32[32,32,3] \"SSC\"");
  const auto values = one[0].to_vector<float>();
  for (int pixel = 0; pixel < 1024; ++pixel)
    for (int colour = 0; colour < 3; ++colour)
      ASSERT_EQ(values[static_cast<size_t>(3 * pixel + colour)],
                static_cast<float>(value(4, 1, colour, pixel)) / 255.0f);
  EXPECT_EQ(datasets::cifar10(folder.path().string(), Split::test).size(), 2);
}

TEST(Cifar10, TheSourceDescribesWhatItGives) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "cifar-10-batches-bin");
  write_set(folder / "cifar-10-batches-bin");
  const auto& source = kind_of(all_sources(), "cifar10", "data source", {});
  const SourceRequest request{.path = folder};
  for (const Split split : {Split::train, Split::test}) {
    const SourceDescription said = source.description(split, request);
    const Datastore store = source.load(split, request).store;
    EXPECT_EQ(said.samples, store.size());
    for (size_t v = 0; v < 2; ++v) EXPECT_EQ(store.get(0)[v].spec(), said.variables[v]);
  }
}

TEST(Cifar10, RefusesOtherFiles) {
  const TemporaryFolder folder;
  write_set(folder);
  const auto refusal = [&](const std::string& bytes) {
    write_file_whole(folder / "test_batch.bin", bytes);
    return error_of([&] { datasets::cifar10(folder.path().string(), Split::test); });
  };
  const std::string name = (folder / "test_batch.bin").string(), good = file_of(0, 2);
  EXPECT_EQ(
      refusal(good.substr(1)),
      "error[RT0375]: CIFAR-10 file \"" + name +
          "\" is no number of whole records\n  got:      6145 bytes\n"
          "  expected: a multiple of 3073 bytes: a label and 32 x 32 x 3 values\n  help:     unpack the file again");
  EXPECT_TRUE(says(refusal(""), "is no number of whole records"));
  std::string bad = good;
  bad[3073] = 10;
  EXPECT_EQ(refusal(bad),
            "error[RT0375]: CIFAR-10 file \"" + name +
                "\" has the label 10 at index 1\n"
                "  expected: labels of 0 to 9\n  help:     unpack the file again; CIFAR-100 has other records");
  std::filesystem::remove(folder / "test_batch.bin");
  EXPECT_TRUE(says(error_of([&] { datasets::cifar10(folder.path().string(), Split::test); }), "does not exist"));
  EXPECT_TRUE(says(error_of([&] { datasets::cifar10((folder / "no").string(), Split::test); }), "data folder"));
}

}  // namespace
}  // namespace retrace

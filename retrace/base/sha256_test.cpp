#include "retrace/base/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// The first three are vectors of FIPS 180-4 and its examples.
TEST(Sha256, IsTheStandard) {
  EXPECT_EQ(sha256_text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_text(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    for (const size_t cut : {text.size() / 3, text.size() - text.size() / 5}) {
      Sha256 sum;
      sum.add(std::string_view(text).substr(0, cut));
      sum.add(std::string_view(text).substr(cut));
      EXPECT_EQ(sum.text(), sha256_text(text)) << i;
    }
    text += static_cast<char>(i * 7);
  }
}

TEST(Sha256, OfAFile) {
  const TemporaryFolder folder;
  std::string text(2'500'000, 'x');
  text[2'400'000] = '\0';
  std::ofstream(folder / "a", std::ios::binary) << text;
  EXPECT_EQ(hash_file(folder / "a", "file"), (FileHash{2'500'000, sha256_text(text)}));
  std::ofstream(folder / "b", std::ios::binary) << "";
  EXPECT_EQ(hash_file(folder / "b", "file"), (FileHash{0, sha256_text("")}));
  EXPECT_TRUE(says(error_of([&] { hash_file(folder / "c", "file"); }), "RT0501"));
  EXPECT_NE(error_of([&] { hash_file(folder, "file"); }), "no error");
}

}  // namespace
}  // namespace retrace

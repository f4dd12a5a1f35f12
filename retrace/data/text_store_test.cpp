#include "retrace/data/text_store.h"

#include <gtest/gtest.h>

#include <set>

#include "retrace/base/file.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

std::shared_ptr<const TokenText> text_of(const std::string& bytes, TokenKind kind = TokenKind::characters) {
  return std::make_shared<TokenText>(token_text({{"x.txt", bytes}}, kind));
}

TEST(TokenText, NamesSayTheTokens) {
  for (const std::string token : {"a", "\n", "\t", "\r", "\\", "\x7f", "\xc3\xa4", "\xc2\x85", "x", "\x01"})
    EXPECT_EQ(token_bytes(token_name(token)), token) << token_name(token);
  for (int byte = 0; byte < 256; ++byte) {
    const std::string token(1, static_cast<char>(byte));
    EXPECT_EQ(token_bytes(token_name(token)), token) << byte;
  }
}

TEST(TokenText, CharactersAreNumberedByTheirBytes) {
  const TokenText text =
      token_text({{"a", "b\n\xc3\xa9"}, {"b", "a\xe2\x82\xac\xf0\x9f\x98\x80 b"}}, TokenKind::characters);
  EXPECT_EQ(text.names,
            (std::vector<std::string>{"\\n", " ", "a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}));
  EXPECT_EQ(text.numbers, (std::vector<uint16_t>{3, 0, 4, 2, 5, 6, 1, 3}));
  const TokenText other = token_text({{"c", "\xc3\xa9 a"}}, TokenKind::characters, text.names);
  EXPECT_EQ(other.numbers, (std::vector<uint16_t>{4, 1, 2}));
}

TEST(TokenText, BytesHaveTheirValues) {
  const TokenText text = token_text({{"a", std::string("a\0\xff\n", 4)}}, TokenKind::bytes);
  EXPECT_EQ(text.numbers, (std::vector<uint16_t>{97, 0, 255, 10}));
  ASSERT_EQ(text.names.size(), 256u);
  EXPECT_EQ(text.names[0], "\\x00");
  EXPECT_EQ(text.names[10], "\\n");
  EXPECT_EQ(text.names[97], "a");
  EXPECT_EQ(text.names[255], "\\xff");
  EXPECT_EQ(std::set<std::string>(text.names.begin(), text.names.end()).size(), 256u);
}

TEST(TokenText, NamesAreShownAsTheyAre) {
  for (const char* token : {"\\", "\t", "\r", "\x7f", "\xc2\x85", "x"}) {
    const std::string name = token_name(token);
    EXPECT_EQ(printable(name), name);
  }
  EXPECT_EQ(token_name("\xc2\x85"), "\\xc2\\x85");
}

TEST(TokenText, Errors) {
  const auto of = [](const std::string& bytes, const std::vector<std::string>& known = {}) {
    return error_of([&] { token_text({{"x.txt", bytes}}, TokenKind::characters, known); });
  };
  // A byte alone, one that is missing, a form that is too long, a surrogate, and a number that is too large.
  for (const char* bytes : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
    EXPECT_TRUE(says(of("ab\ncd" + std::string(bytes)), "RT0389]: the text is no UTF-8\n  where:    x.txt:2:3"));
  const std::string unknown = of("ab\nc", {"a", "b", "\\n"});
  EXPECT_TRUE(says(unknown, "RT0399]: the character \"c\" is not known\n  where:    x.txt:2:1"));
}

TEST(TextStore, HasWindowsAndWhatFollows) {
  const Datastore store = text_windows(text_of("abcdefgh"), {.length = 3, .stride = 2}, {});
  EXPECT_EQ(store.size(), 3);
  EXPECT_EQ(store.get(2)[0].to_vector<float>(), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(store.get(2)[1].to_vector<int32_t>(), (std::vector<int32_t>{5, 6, 7}));
  const std::vector<int64_t> order{2, 0};
  const auto batch = store.source()->gather(order, 0, 2);
  EXPECT_EQ(batch[0].spec().text(), "f32[2,3] \"BC\"");
  EXPECT_EQ(batch[0].to_vector<float>(), (std::vector<float>{4, 5, 6, 0, 1, 2}));
  EXPECT_EQ(batch[1].spec().text(), "i32[2,3] \"BT\"");
  EXPECT_EQ(batch[1].to_vector<int32_t>(), (std::vector<int32_t>{5, 6, 7, 1, 2, 3}));
  // Of a part of the text; as many as fit with the token behind the last one.
  EXPECT_EQ(text_windows(text_of("abcdefgh"), {.first = 1, .end = 8, .length = 3}).size(), 2);
  EXPECT_EQ(text_windows(text_of("abcdefgh"), {.first = 1, .end = 7, .length = 3}).size(), 1);
  EXPECT_EQ(text_windows(text_of("abcd"), {.length = 3}).size(), 1);
  EXPECT_TRUE(says(error_of([&] { text_windows(text_of("abc"), {.length = 3}); }), "RT0238"));
}

TEST(TextStore, ReadsTheFilesOfAFolder) {
  const TemporaryFolder root;
  write_file_whole(root / "b", "second");
  write_file_whole(root / "a.txt", "first ");
  write_file_whole(root / ".hidden", "no");
  std::filesystem::create_directory(root / "c");
  std::filesystem::create_symlink("b", root / "d");
  std::string all;
  for (const auto& piece : read_text(root)) all += piece.bytes;
  EXPECT_EQ(all, "first second");
  EXPECT_EQ(read_text(root / "d").size(), 1u);
  EXPECT_TRUE(says(error_of([&] { read_text(root / "none.txt"); }), "text file"));
}

}  // namespace
}  // namespace retrace

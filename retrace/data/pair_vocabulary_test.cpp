#include "retrace/data/pair_vocabulary.h"

#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/data/pair_testing.h"
#include "retrace/data/pretokens.h"
#include "retrace/data/token_text.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using Numbers = std::vector<uint16_t>;
using Words = std::vector<std::string>;

const Words kMerges{"h e",   "l l", "he ll", "hell o", "Ġ w",   "o r", "Ġw or", "l d", "Ã ¤",   "Ġ Ġ",
                    "ĠĠ ĠĠ", "' s", "1 2",   "3 4",    "12 34", "Ċ Ċ", "Ġ 1",   "a a", "aa aa", "o Ġ"};

std::string tokens_text() { return vocabulary_tokens(kMerges); }
std::string merges_text() { return vocabulary_merges(kMerges); }

std::string tokenizer_text(const std::string& words, const std::string& added = "[]") {
  std::string merges;
  for (const auto& merge : kMerges) merges += (merges.empty() ? "" : ",") + Json(merge).text();
  return "{\"added_tokens\": " + added + ", \"normalizer\": null, \"pre_tokenizer\": " + words +
         ", \"model\": {\"type\": \"BPE\", \"vocab\": " + tokens_text() + ", \"merges\": [" + merges + "]}}";
}

const std::string kWordsOfBytes = R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true})";

PairVocabulary vocabulary() { return PairVocabulary::parse(tokens_text(), merges_text(), "v"); }

Numbers numbers_of(const PairVocabulary& pairs, std::string_view text) {
  Numbers numbers;
  pairs.encode(text, numbers);
  return numbers;
}

Words words_of(std::string_view text) {
  Words words;
  while (!text.empty()) {
    words.emplace_back(text.substr(0, pretoken_length(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

// The words are those that Python's `regex` finds by the pattern of GPT-2.
TEST(Pretokens, AreThoseOfThePattern) {
  EXPECT_EQ(words_of("hello world's  12345 h\u00e4llo"),
            (Words{"hello", " world", "'s", " ", " 12345", " h\u00e4llo"}));
  EXPECT_EQ(words_of("\n\n  end  're we'LL\t \n x\u00b2\u00bd 1234"),
            (Words{"\n\n ", " end", " ", " '", "re", " we", "'", "LL", "\t \n", " x", "\u00b2\u00bd", " 1234"}));
  EXPECT_EQ(words_of("aaaaa    aaa  "), (Words{"aaaaa", "   ", " aaa", "  "}));
  EXPECT_EQ(words_of("'s''s o\u00a0\u00a0\u4e16\u754c12 !?\U0001F600 "),
            (Words{"'s", "''", "s", " o", "\u00a0", "\u00a0", "\u4e16\u754c", "12", " !?\U0001F600", " "}));
  EXPECT_EQ(words_of("\u3000\u2003x\u00adz\u0301"), (Words{"\u3000", "\u2003", "x", "\u00ad", "z", "\u0301"}));
  EXPECT_EQ(words_of("a\xff\xc3 b"), (Words{"a", "\xff\xc3", " b"}));
}

// The numbers are those of GPT-2's own algorithm, written in Python, with this vocabulary.
TEST(PairVocabulary, HasTheNumbersOfGpt2) {
  const PairVocabulary pairs = vocabulary();
  EXPECT_EQ(numbers_of(pairs, "hello world's  12345 h\u00e4llo"),
            (Numbers{259, 262, 263, 267, 220, 220, 270, 20, 220, 71, 264, 257, 78}));
  EXPECT_EQ(numbers_of(pairs, "\n\n  end  're we'LL\t \n x\u00b2\u00bd 1234"),
            (Numbers{271, 220, 220, 68,  77,  67,  220, 220, 6,   81,  68,  260, 68, 6,
                     43,  43,  197, 220, 198, 220, 87,  126, 110, 126, 121, 220, 270}));
  EXPECT_EQ(numbers_of(pairs, "aaaaa    aaa  "), (Numbers{274, 64, 265, 220, 220, 273, 64, 265}));
  EXPECT_EQ(numbers_of(pairs, "'s''s o hello\u00a0\u00a0\u4e16\u754c12 !?\U0001F600 "),
            (Numbers{267, 6,   6,   82,  220, 78,  220, 259, 126, 254, 126, 254, 160, 116,
                     244, 163, 243, 234, 268, 220, 0,   30,  172, 253, 246, 222, 220}));
}

TEST(PairVocabulary, NamesSayTheTokens) {
  const PairVocabulary pairs = vocabulary();
  ASSERT_EQ(pairs.names().size(), 256 + kMerges.size());
  EXPECT_EQ(pairs.names()[262], " wor");
  EXPECT_EQ(pairs.names()[264], "\u00e4");
  EXPECT_EQ(pairs.names()[271], "\\n\\n");
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  every += "hello world \\n \n\n \u4e16";
  std::string back;
  for (const uint16_t number : numbers_of(pairs, every)) back += token_bytes(pairs.names()[number]);
  EXPECT_EQ(back, every);
}

// A word of a million bytes takes no longer than as many words.
TEST(PairVocabulary, TakesLongWords) {
  const Numbers numbers = numbers_of(vocabulary(), std::string(1'000'000, 'a'));
  EXPECT_EQ(numbers, Numbers(250'000, 274));
}

TEST(PairVocabulary, ReadsBothKindsOfFiles) {
  const TemporaryFolder root;
  std::filesystem::create_directory(root / "gpt2");
  write_file_whole(root / "gpt2" / "vocab.json", tokens_text());
  write_file_whole(root / "gpt2" / "merges.txt", merges_text());
  write_file_whole(root / "tokenizer.json",
                   tokenizer_text(kWordsOfBytes, R"([{"id": 276, "content": "<|end|>", "special": true}])"));
  const auto first = read_pair_vocabulary(root / "gpt2"), second = read_pair_vocabulary(root / "tokenizer.json");
  EXPECT_EQ(first.files().size(), 2u);
  EXPECT_EQ(read_pair_vocabulary(root.path()).names(), second.names());
  ASSERT_EQ(second.names().size(), first.names().size() + 1);
  EXPECT_EQ(second.names()[276], "<|end|>");
  EXPECT_EQ(numbers_of(first, "hello world"), numbers_of(second, "hello world"));
  EXPECT_TRUE(says(error_of([&] { read_pair_vocabulary(root / "none"); }), "vocabulary file"));
}

TEST(PairVocabulary, SaysWhatIsBroken) {
  const auto of = [](const std::string& tokens, const std::string& merges) {
    return error_of([&] { PairVocabulary::parse(tokens, merges, "v"); });
  };
  EXPECT_EQ(of("[]", ""),
            "error[RT0293]: the vocabulary has no tokens\n"
            "  where:    v\n"
            "  got:      no object of tokens and numbers\n"
            "  expected: vocab.json and merges.txt of GPT-2, or a tokenizer.json like them: BPE of bytes\n"
            "  help:     take the files as they were published");
  EXPECT_TRUE(says(of("{", ""), "has no tokens"));
  EXPECT_TRUE(says(of("{}", ""), "does not have all bytes"));
  EXPECT_TRUE(says(of(R"({"a": -1})", ""), "a token whose number is not 0 to 65535"));
  EXPECT_TRUE(says(of(R"({"a": 65536})", ""), "a token whose number is not 0 to 65535"));
  EXPECT_TRUE(says(of(R"({"a": 0.5})", ""), "a token whose number is not 0 to 65535"));
  EXPECT_TRUE(says(of(R"({"a": 1})", ""), "has no token 0"));
  EXPECT_TRUE(says(of(R"({"a": 0, "b": 0})", ""), "has two tokens 0"));
  EXPECT_TRUE(says(of(R"({"a": 0, "a": 1})", ""), "has a token twice"));
  EXPECT_TRUE(says(of(R"({"a b": 0})", ""), "has a token that is not made of bytes"));
  EXPECT_TRUE(says(of(R"({"": 0})", ""), "has a token that is not made of bytes"));
  EXPECT_TRUE(says(of(tokens_text(), "h"), "has a merge that is not one of two tokens"));
  EXPECT_TRUE(says(of(tokens_text(), "h e l"), "has a merge that is not one of two tokens"));
  EXPECT_TRUE(says(of(tokens_text(), "h x"), "has a merge of what is no token"));
  EXPECT_TRUE(says(of(tokens_text(), "h e\r\nh e"), "has a merge twice"));
  const auto tokenizer = [](const std::string& text) {
    return error_of([&] { PairVocabulary::parse_tokenizer(text, "t"); });
  };
  EXPECT_TRUE(says(tokenizer("{}"), "the vocabulary is no BPE"));
  EXPECT_TRUE(says(tokenizer(tokenizer_text("null")), "does not cut words as GPT-2 does"));
  EXPECT_TRUE(says(tokenizer(tokenizer_text(kWordsOfBytes, R"([{"id": 3, "content": "<|end|>"}])")), "two tokens 3"));
  EXPECT_TRUE(says(tokenizer(tokenizer_text(kWordsOfBytes, R"([{"id": 276}])")), "an added token without a text"));
}

}  // namespace
}  // namespace retrace

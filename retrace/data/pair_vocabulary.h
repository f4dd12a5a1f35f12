#pragma once
// Vocabularies of pairs: tokens of bytes that are merged two by two (byte-level BPE).

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace retrace {

// A vocabulary in the manner of GPT-2. A text is cut into words (pretokens.h), and a word into bytes; of the pairs of
// neighbours that the list of merges has, the one that stands first there becomes one token (of several in the word the
// leftmost), until no pair is left.
class PairVocabulary {
 public:
  // From the texts of vocab.json and merges.txt; `where` is for messages. Errors: bad_data.
  static PairVocabulary parse(std::string_view tokens, std::string_view merges, const std::string& where);
  // From the text of a tokenizer.json whose model is BPE of bytes. Errors: bad_data.
  static PairVocabulary parse_tokenizer(std::string_view text, const std::string& where);

  // token_name() of each token, by number.
  const std::vector<std::string>& names() const { return names_; }
  // The files that it was read from.
  const std::vector<std::string>& files() const { return files_; }
  // Appends the numbers of a word's tokens.
  void encode_word(std::string_view word, std::vector<uint16_t>& numbers) const;
  // The numbers of a text's tokens.
  void encode(std::string_view text, std::vector<uint16_t>& numbers) const;

 private:
  friend PairVocabulary read_pair_vocabulary(const std::filesystem::path& path);
  friend class PairVocabularyParser;
  struct Merge {
    uint32_t rank;
    uint16_t made;
  };
  const Merge* merge_of(uint16_t left, uint16_t right) const;

  std::vector<std::string> names_, files_;
  uint16_t of_byte_[256] = {};
  std::unordered_map<uint32_t, Merge> merges_;  // by left << 16 | right
};

// From a folder with vocab.json and merges.txt, or with tokenizer.json; or from the file tokenizer.json. 64 MiB each.
// Errors: missing; bad_data.
PairVocabulary read_pair_vocabulary(const std::filesystem::path& path);

}  // namespace retrace

#include "retrace/data/transcripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/file.h"
#include "retrace/data/token_text.h"

namespace retrace {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == text.npos) break;
    at = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

int32_t number_of(const std::string& word, const std::vector<std::string>& names, const std::string& where) {
  auto found = std::find(names.begin() + 1, names.end(), word);
  if (found == names.end()) found = std::find(names.begin() + 1, names.end(), printable(word));  // as a run keeps it
  if (found != names.end()) return static_cast<int32_t>(found - names.begin());
  const auto near = nearest(word, names);
  throw Error(ErrorKind::bad_data, 410, fmt::format("\"{}\" is no word of the training set", printable(word)))
      .where(printable(where))
      .expected(fmt::format("one of its {} words", names.size() - 1))
      .help(near.empty() ? "train with the word, or take the series away"
                         : fmt::format("did you mean \"{}\"?", printable(near)));
}

}  // namespace

std::vector<std::string> tokens_of_transcripts(const std::vector<Transcript>& transcripts, bool words) {
  std::vector<std::string> names{kBlankName};
  if (words) {
    std::set<std::string> all;
    for (const auto& transcript : transcripts)
      for (auto& word : words_of(transcript.text)) all.insert(std::move(word));
    names.insert(names.end(), all.begin(), all.end());
    return names;
  }
  std::vector<TextPiece> pieces;
  for (const auto& transcript : transcripts) pieces.push_back({transcript.where, transcript.text});
  const TokenText text = token_text(pieces, TokenKind::characters);
  names.insert(names.end(), text.names.begin(), text.names.end());
  return names;
}

std::vector<int32_t> numbers_of_transcript(const Transcript& transcript, const std::vector<std::string>& names,
                                           bool words) {
  std::vector<int32_t> numbers;
  if (words) {
    for (const auto& word : words_of(transcript.text)) numbers.push_back(number_of(word, names, transcript.where));
    return numbers;
  }
  if (transcript.text.empty()) return numbers;
  const std::vector<std::string> characters(names.begin() + 1, names.end());
  for (const uint16_t number :
       token_text({{transcript.where, transcript.text}}, TokenKind::characters, characters).numbers)
    numbers.push_back(number + 1);
  return numbers;
}

std::string text_of_tokens(const std::vector<std::string>& names, bool words) {
  std::string text;
  for (const auto& name : names) text += words ? (text.empty() ? "" : " ") + name : token_bytes(name);
  return text;
}

int64_t least_positions(const std::vector<int32_t>& tokens) {
  int64_t count = std::ssize(tokens);
  for (size_t i = 1; i < tokens.size(); ++i) count += tokens[i] == tokens[i - 1];
  return count;
}

}  // namespace retrace

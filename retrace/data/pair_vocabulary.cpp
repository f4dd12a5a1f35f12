#include "retrace/data/pair_vocabulary.h"

#include <algorithm>
#include <queue>

#include "retrace/data/pretokens.h"

namespace retrace {
namespace {

constexpr int32_t kNone = -1;

// A pair of neighbours that could be merged when it was found.
struct Candidate {
  uint32_t rank;
  int32_t at;            // of the left one
  uint16_t left, right;  // what they were
};

// The lowest rank comes first, and of equal ones the leftmost.
struct Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

// A token of a word and its neighbours; a token that was merged into its left neighbour has no place any more.
struct Link {
  uint16_t number;
  bool merged = false;
  int32_t before, behind;
};

constexpr size_t kLongestWord = size_t{1} << 30;  // numbers of places fit an int32_t

}  // namespace

const PairVocabulary::Merge* PairVocabulary::merge_of(uint16_t left, uint16_t right) const {
  const auto found = merges_.find(static_cast<uint32_t>(left) << 16 | right);
  return found == merges_.end() ? nullptr : &found->second;
}

void PairVocabulary::encode_word(std::string_view word, std::vector<uint16_t>& numbers) const {
  const auto size = static_cast<int32_t>(std::min(word.size(), kLongestWord));
  std::vector<Link> links;
  links.reserve(word.size());
  for (int32_t i = 0; i < size; ++i)
    links.push_back({.number = of_byte_[static_cast<unsigned char>(word[static_cast<size_t>(i)])],
                     .before = i - 1,
                     .behind = i + 1 < size ? i + 1 : kNone});
  std::priority_queue<Candidate, std::vector<Candidate>, Later> queue;
  const auto link = [&](int32_t at) -> Link& { return links[static_cast<size_t>(at)]; };
  const auto propose = [&](int32_t at) {
    if (at == kNone || link(at).behind == kNone) return;
    const uint16_t left = link(at).number, right = link(link(at).behind).number;
    if (const Merge* merge = merge_of(left, right)) queue.push({merge->rank, at, left, right});
  };
  for (int32_t i = 0; i < size; ++i) propose(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Link& left = link(best.at);
    if (left.merged || left.number != best.left || left.behind == kNone) continue;
    Link& right = link(left.behind);
    if (right.number != best.right) continue;
    left.number = merge_of(best.left, best.right)->made;
    right.merged = true;
    left.behind = right.behind;
    if (left.behind != kNone) link(left.behind).before = best.at;
    propose(left.before), propose(best.at);
  }
  for (const Link& one : links)
    if (!one.merged) numbers.push_back(one.number);
}

void PairVocabulary::encode(std::string_view text, std::vector<uint16_t>& numbers) const {
  constexpr size_t kLongest = 64, kMost = 1 << 18;  // of words that are remembered
  std::unordered_map<std::string_view, std::vector<uint16_t>> met;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, pretoken_length(text));
    text.remove_prefix(word.size());
    if (word.size() > kLongest) {
      encode_word(word, numbers);
      continue;
    }
    auto found = met.find(word);
    if (found == met.end()) {
      if (met.size() == kMost) met.clear();
      found = met.emplace(word, std::vector<uint16_t>()).first;
      encode_word(word, found->second);
    }
    numbers.insert(numbers.end(), found->second.begin(), found->second.end());
  }
}

}  // namespace retrace

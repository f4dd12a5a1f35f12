#include "retrace/run/trace_key.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "retrace/device/cpu/fast_mode.h"

namespace retrace {
namespace {

// A part is a head word (its kind in the low byte, small numbers above) and the words that the kind says.
enum Kind : uint64_t { kNothing = 1, kTensor, kNumber, kInteger, kText, kGroup, kBranch, kName, kMark };

// Bits of the second word: how the function is called.
constexpr uint64_t kInShard = 1, kModes = 6;

constexpr auto kAnySize = static_cast<uint64_t>(-1);

}  // namespace

void TraceKey::begin(const std::type_info& arguments, bool in_shard) {
  words_.clear();
  words_.push_back(std::bit_cast<uint64_t>(&arguments));
  words_.push_back((in_shard ? kInShard : 0) | static_cast<uint64_t>(mode_of_thread()) << 1);
}

void TraceKey::add_nothing() { words_.push_back(kNothing); }
void TraceKey::add_number(DType type) { words_.push_back(kNumber | static_cast<uint64_t>(type) << 8); }
void TraceKey::add_group(size_t parts) { words_.push_back(kGroup | parts << 8); }

void TraceKey::add_tensor(const TensorSpec& spec, bool any_batch) {
  const bool labelled = !spec.labels.empty(), in_batch = spec.part.whole > 0;
  words_.push_back(kTensor | static_cast<uint64_t>(spec.type) << 8 | static_cast<uint64_t>(spec.shape.rank()) << 16 |
                   uint64_t{labelled} << 24 | uint64_t{in_batch} << 25 | static_cast<uint64_t>(spec.device) << 32);
  const size_t sizes = words_.size();
  for (int64_t size : spec.shape) words_.push_back(static_cast<uint64_t>(size));
  if (any_batch && spec.batch_first()) words_[sizes] = kAnySize;
  if (labelled) {
    uint64_t packed = 0;
    std::memcpy(&packed, spec.labels.text().data(), spec.labels.text().size());
    words_.push_back(packed);
  }
  if (in_batch)
    words_.insert(words_.end(), {static_cast<uint64_t>(spec.part.whole), static_cast<uint64_t>(spec.part.first)});
}

void TraceKey::add_integer(int64_t value) {
  words_.push_back(kInteger);
  words_.push_back(static_cast<uint64_t>(value));
}

void TraceKey::add_characters(uint64_t kind, std::string_view text) {
  words_.push_back(kind | text.size() << 8);
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
    words_.push_back(word);
  }
}

void TraceKey::add_text(std::string_view text) { add_characters(kText, text); }

void TraceKey::add_tree(const Tree& tree, bool any_batch) {
  if (!tree.mark().empty()) add_characters(kMark, tree.mark());
  if (tree.is_leaf()) return add_tensor(tree.tensor().spec(), any_batch);
  words_.push_back(kBranch | tree.children().size() << 8);
  for (const auto& [name, child] : tree.children()) {
    add_characters(kName, name);
    add_tree(child, any_batch);
  }
}

uint64_t TraceKey::hash() const {
  uint64_t hash = words_.size();
  for (uint64_t word : words_) hash = (std::rotl(hash, 5) ^ word) * 0x517cc1b727220a95ull;
  return hash;
}

// -- the difference as text ---------------------------------------------------------------------------------------

// Reads a key back as a list of parts: where they stand and what they are.
class TraceKeyReader {
 public:
  struct Part {
    std::string where, what;
  };

  explicit TraceKeyReader(const TraceKey& key) : words_(key.words_), at_(2) {
    for (int argument = 1; at_ < words_.size(); ++argument) value(fmt::format("argument {}", argument), "");
  }
  const std::vector<Part>& parts() const { return parts_; }

 private:
  uint64_t next() { return words_[at_++]; }

  std::string text(uint64_t length) {
    std::string text(length, '\0');
    std::memcpy(text.data(), words_.data() + at_, length);
    at_ += (length + 7) / 8;
    return text;
  }

  std::string tensor(uint64_t first) {
    TensorSpec spec;
    spec.type = static_cast<DType>(first >> 8 & 0xff);
    spec.device = static_cast<DeviceId>(first >> 32 & 0xff);
    for (uint64_t rank = first >> 16 & 0xff; rank > 0; --rank) spec.shape.push_back(static_cast<int64_t>(next()));
    if (first >> 24 & 1) spec.labels = Labels(text(static_cast<uint64_t>(spec.shape.rank())));
    if (!(first >> 24 & 2)) return spec.text();
    const uint64_t whole = next(), sample = next();
    return fmt::format("{} from sample {} of {}", spec.text(), sample, whole);
  }

  void value(const std::string& argument, const std::string& path) {
    const auto inside = [&path](const std::string& name) { return path.empty() ? name : path + "/" + name; };
    const size_t here = parts_.size();
    parts_.push_back({path.empty() ? argument : fmt::format("{} \"{}\"", argument, path), ""});
    const uint64_t first = next(), count = first >> 8;
    switch (static_cast<Kind>(first & 0xff)) {
      case kNothing: parts_[here].what = "no tensor"; return;
      case kTensor: parts_[here].what = tensor(first); return;
      case kNumber: parts_[here].what = "a number"; return;
      case kInteger: parts_[here].what = fmt::format("{}", static_cast<int64_t>(next())); return;
      case kText: parts_[here].what = fmt::format("\"{}\"", text(count)); return;
      case kMark: parts_[here].what = fmt::format("marked \"{}\"", text(count)); return value(argument, path);
      case kGroup:
        parts_[here].what = fmt::format("{} parts", count);
        for (uint64_t i = 0; i < count; ++i) value(argument, inside(fmt::format("{}", i + 1)));
        return;
      case kBranch:
        parts_[here].what = fmt::format("a tree of {} entries", count);
        for (uint64_t i = 0; i < count; ++i) {
          const std::string name = text(next() >> 8);
          value(argument, inside(name));
        }
        return;
      case kName: break;
    }
    ensure(false, "a trace key is well formed");
  }

  const std::vector<uint64_t>& words_;
  size_t at_;
  std::vector<Part> parts_;
};

std::string TraceKey::difference(const TraceKey& before, const TraceKey& now) {
  if (before == now) return "";
  const TraceKeyReader a(before), b(now);
  for (size_t i = 0; i < std::min(a.parts().size(), b.parts().size()); ++i) {
    const auto &old = a.parts()[i], &made = b.parts()[i];
    if (old.where != made.where) return fmt::format("{} is gone, {} is new", old.where, made.where);
    if (old.what != made.what) return fmt::format("{}: {} became {}", made.where, old.what, made.what);
  }
  if (a.parts().size() != b.parts().size())
    return fmt::format("{} arguments became {}", a.parts().size(), b.parts().size());
  if (before.words_[0] != now.words_[0]) return "the C++ types of the arguments";
  const auto mode_of = [](const TraceKey& key) { return mode_name(static_cast<Mode>((key.words_[1] & kModes) >> 1)); };
  if ((before.words_[1] ^ now.words_[1]) & kModes)
    return fmt::format("the mode: {} became {}", mode_of(before), mode_of(now));
  return now.words_[1] & kInShard ? "it is called inside a shard of value_and_grad"
                                  : "it is called outside of value_and_grad";
}

}  // namespace retrace

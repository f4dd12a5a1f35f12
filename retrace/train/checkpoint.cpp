#include "retrace/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/base/hash.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/network_toml.h"

namespace retrace {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr std::string_view kKind = "retrace checkpoint 1";  // the version of the file
constexpr std::string_view kChecksum = "checksum";
constexpr std::string_view kOwner = "job ";
constexpr std::string_view kNoChecksum = "0000000000000000";

// Of a stream of bytes in words of 8. A step is a bijection of the sum so far, and of the word: no change of one word
// goes unseen.
class Checksum {
 public:
  void add(std::string_view bytes) {
    size_ += bytes.size();
    while (filled_ > 0 && !bytes.empty()) take(bytes, 1);
    while (bytes.size() >= sizeof(uint64_t)) take(bytes, sizeof(uint64_t));
    while (!bytes.empty()) take(bytes, 1);
  }
  std::string text() const { return hexadecimal(mix64((sum_ ^ mix64(word_)) * kPrime + size_)); }

 private:
  static constexpr uint64_t kPrime = 0x9E3779B97F4A7C15ull;
  // The next bytes; they do not pass the end of the word.
  void take(std::string_view& bytes, size_t count) {
    std::memcpy(reinterpret_cast<char*>(&word_) + filled_, bytes.data(), count);
    bytes.remove_prefix(count);
    filled_ += count;
    if (filled_ < sizeof word_) return;
    sum_ = (sum_ ^ word_) * kPrime;
    sum_ ^= sum_ >> 29;
    word_ = 0, filled_ = 0;
  }
  uint64_t sum_ = 0, word_ = 0, size_ = 0;
  size_t filled_ = 0;
};

Error damaged(const std::filesystem::path& path, const char* why) {
  return Error(ErrorKind::bad_data, 560, fmt::format("checkpoint \"{}\" is damaged: {}", printable(path.string()), why))
      .help("take it from a copy of the run, or train anew");
}

// Where the digits of the checksum stand in the head of a file.
size_t place_of_checksum(std::string_view head) {
  const std::string entry = fmt::format("\"{}\":\"", kChecksum);
  const size_t at = head.find(entry);
  return at == std::string_view::npos || at + entry.size() + kNoChecksum.size() > head.size() ? std::string_view::npos
                                                                                              : at + entry.size();
}

// What a job says of a key that checkpoints did not have yet.
std::string value_before(const std::string& name) {
  for (const auto& field : job_fields(Job()))
    if (name == field.key && field.before) return toml_text(*field.before);
  return "unknown";
}

// "training.seed is 1, not 0" for what differs, in the order of the names.
std::vector<std::string> differences(const SafeTensors& file, const NamedValues& owner) {
  std::vector<std::string> found;
  for (const auto& [name, value] : owner) {
    const auto there = file.metadata.find(std::string(kOwner) + name);
    const std::string other = there == file.metadata.end() ? value_before(name) : there->second;
    if (other == value) continue;
    const bool lines = value.find('\n') != std::string::npos;  // layers and outputs
    found.push_back(lines ? name + " differs"
                          : fmt::format("{} is {}, not {}", name, printable(other.substr(0, 80)), value));
  }
  return found;
}

void check_owner(const SafeTensors& file, const NamedValues& owner, const std::filesystem::path& path) {
  const auto kind = file.metadata.find("kind");
  if (kind == file.metadata.end() || kind->second != kKind)
    throw Error(ErrorKind::bad_data, 561, fmt::format("\"{}\" is no checkpoint", printable(path.string())))
        .got(kind == file.metadata.end() ? "none" : printable(kind->second.substr(0, 80)))
        .expected(fmt::format("\"kind\" = \"{}\" in the metadata", kKind));
  const auto found = differences(file, owner);
  if (found.empty()) return;
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 5); ++i) text += (i ? "; " : "") + found[i];
  throw Error(ErrorKind::bad_data, 562,
              fmt::format("checkpoint \"{}\" is of another job or of other data", printable(path.string())))
      .got(text)
      .help("go on with the job and the data that it was made with, or train anew");
}

}  // namespace

SafeTensors checkpoint_content(const Tree& state, const NamedValues& owner) {
  SafeTensors content = to_safetensors(state);
  content.metadata["kind"] = kKind;
  for (const auto& [name, value] : owner) content.metadata[std::string(kOwner) + name] = value;
  content.metadata[std::string(kChecksum)] = kNoChecksum;
  return content;
}

void write_checkpoint(const std::filesystem::path& path, const SafeTensors& content, Lasting lasting) {
  SafeTensorsPieces file = safetensors_pieces(content);
  Checksum sum;
  sum.add(file.head);
  for (const auto& bytes : file.tensors) sum.add(bytes);
  const size_t at = place_of_checksum(file.head);
  ensure(at != std::string::npos, "the content of a checkpoint has a place for its checksum");
  file.head.replace(at, kNoChecksum.size(), sum.text());
  std::vector<std::string_view> pieces = {file.head};
  pieces.insert(pieces.end(), file.tensors.begin(), file.tensors.end());
  write_file_whole(path, pieces, lasting);
}

std::string read_checkpoint(const std::filesystem::path& path) {
  std::string bytes = read_file(path, "checkpoint", kMostBytes);
  const size_t at = place_of_checksum(bytes);
  if (at == std::string::npos) throw damaged(path, "it has no checksum");
  const std::string written = bytes.substr(at, kNoChecksum.size());
  bytes.replace(at, kNoChecksum.size(), kNoChecksum);
  Checksum sum;
  sum.add(bytes);
  if (sum.text() != written)
    throw damaged(path, "it is not what was written").got(printable(written)).expected("checksum " + sum.text());
  return bytes;
}

RunState checkpoint_state(const std::string& bytes, const RunState& like, const NamedValues& owner,
                          const std::filesystem::path& path) {
  const SafeTensors file = parse_safetensors(std::as_bytes(std::span(bytes)), path.string());
  check_owner(file, owner, path);
  check_fingerprints(file, path.string());
  return run_state_from(from_safetensors(file, to_tree(like), path.string()));
}

}  // namespace retrace

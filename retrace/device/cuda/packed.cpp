#include "retrace/device/cuda/packed.h"

#include <lzma.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "retrace/device/cuda/machine_code.h"

namespace retrace::cuda {
namespace {

constexpr size_t kHead = 1 + 5 * 8;
constexpr uint64_t kMostBytes = 1 << 28;  // more, and a size is not true
constexpr char kNoDifference = '\1';
constexpr size_t kMostDigits = 9;
constexpr int kPlaces = 8;  // of a line; those behind have one number together
// Registers by one or two letters, labels, and offsets of addresses.
constexpr int kLetters = 26, kLabels = 27 * 26, kOffsets = kLabels + 1;
constexpr int kBitsOfLast = 14;  // two instructions or places may have one last number, by chance

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

uint64_t number_at(const char* bytes) {  // eight, the least one first
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

// The last numbers, and what a text has before the next one.
class Numbers {
 public:
  // Copies `text` up to the digits of the next number; returns how many bytes that were, `text.size()` if there is
  // none.
  size_t copy_to_next(std::string_view text, size_t begin, std::string& out) {
    size_t i = begin;
    for (; i < text.size(); ++i) {
      read(text[i]);
      if (const size_t length = prefix(text, i); length > 0) {
        out.append(text, begin, i + length - begin);
        return i + length;
      }
    }
    out.append(text, begin, i - begin);
    return i;
  }
  int64_t& last() {
    const bool any_word = kind_ == kLabels || (kind_ < kLabels && place_ == 0 && !in_address_);
    const auto place = static_cast<uint32_t>(kind_ * kPlaces + std::min(place_, kPlaces - 1));
    const uint32_t mixed = ((any_word ? 0 : word_) + place * 0x9e3779b1) * 0x85ebca6b;
    return last_[mixed >> (32 - kBitsOfLast)];
  }
  void next_place() { ++place_; }

 private:
  void read(char c) {
    if (c == '\n') {
      place_ = 0, word_ = 0;
      in_word_ = true, in_address_ = false;
    } else if (in_word_ && c == ' ' && word_ != 0) {
      in_word_ = false;
    } else if (in_word_) {
      word_ = word_ * 31 + static_cast<unsigned char>(c);
    } else if (c == '[') {
      in_address_ = true;
    }
  }
  // The length of "%rd", of "BB3_", or of "+" in an address, at i where a number may follow; otherwise 0.
  size_t prefix(std::string_view text, size_t i) {
    const auto at = [&](size_t k) { return i + k < text.size() ? text[i + k] : '\0'; };
    if (at(0) == '%' && is_letter(at(1))) {
      const bool two = is_letter(at(2));
      kind_ = (two ? at(2) - 'a' + 1 : 0) * kLetters + (at(1) - 'a');
      return two ? 3 : 2;
    }
    if (at(0) == '+' && in_address_) {
      kind_ = kOffsets;
      return 1;
    }
    if (at(0) != 'B' || at(1) != 'B' || !is_digit(at(2))) return 0;
    size_t length = 3;
    while (is_digit(at(length))) ++length;
    kind_ = kLabels;
    return at(length) == '_' ? length + 1 : 0;
  }

  std::vector<int64_t> last_ = std::vector<int64_t>(size_t{1} << kBitsOfLast);
  int kind_ = 0, place_ = 0;
  uint32_t word_ = 0;  // a hash of the name of the line's instruction
  bool in_word_ = true, in_address_ = false;
};

// The digits at i if they are a number as PTX writes it; otherwise none.
std::string_view digits_at(std::string_view text, size_t i) {
  size_t end = i;
  while (end < text.size() && is_digit(text[end])) ++end;
  const std::string_view digits = text.substr(i, end - i);
  return digits.size() > kMostDigits || (digits.size() > 1 && digits[0] == '0') ? std::string_view() : digits;
}

std::optional<std::string> unpacked_stream(std::string_view stream, uint64_t size, const Packing& packing) {
  if (size > kMostBytes) return {};
  lzma_options_lzma options{};
  options.dict_size = kPackedDistance;
  options.lc = packing.last_byte_bits;
  options.lp = options.pb = packing.place_bits;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string bytes(static_cast<size_t>(size), '\0');
  size_t in = 0, out = 0;
  const lzma_ret result =
      lzma_raw_buffer_decode(filters, nullptr, reinterpret_cast<const uint8_t*>(stream.data()), &in, stream.size(),
                             reinterpret_cast<uint8_t*>(bytes.data()), &out, bytes.size());
  if (result != LZMA_OK || out != bytes.size()) return {};
  return bytes;
}

}  // namespace

std::string as_differences(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  Numbers numbers;
  for (size_t i = 0; i < text.size();) {
    i = numbers.copy_to_next(text, i, out);
    if (i == text.size()) break;
    const std::string_view digits = digits_at(text, i);
    if (digits.empty()) {
      if (is_digit(text[i]) || text[i] == '-' || text[i] == kNoDifference) out += kNoDifference, out += text[i++];
      continue;
    }
    int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    out += std::to_string(number - numbers.last());
    numbers.last() = number;
    numbers.next_place();
    i += digits.size();
  }
  return out;
}

std::string as_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  Numbers numbers;
  for (size_t i = 0; i < text.size();) {
    i = numbers.copy_to_next(text, i, out);
    if (i == text.size()) break;
    if (text[i] == kNoDifference && i + 1 < text.size()) {
      out += text[i + 1], i += 2;
      continue;
    }
    int64_t difference = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), difference);
    if (error != std::errc()) continue;
    // Bytes that are damaged may add up to anything.
    const auto number = static_cast<int64_t>(static_cast<uint64_t>(numbers.last()) + static_cast<uint64_t>(difference));
    numbers.last() = number;
    numbers.next_place();
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    i = static_cast<size_t>(end - text.data());
  }
  return out;
}

uint64_t hash_of_packed(std::string_view file) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = 0xcbf29ce484222325 ^ file.size();
  size_t i = 0;
  for (; i + 8 <= file.size(); i += 8) {
    hash = (hash ^ number_at(file.data() + i)) * kPrime;
    hash ^= hash >> 32;
  }
  for (; i < file.size(); ++i) hash = (hash ^ static_cast<unsigned char>(file[i])) * kPrime;
  return hash;
}

std::optional<std::string> unpacked(std::span<const std::byte> packed) {
  const std::string_view bytes(reinterpret_cast<const char*>(packed.data()), packed.size());
  if (bytes.starts_with('0')) return std::string(bytes.substr(1));
  if (!bytes.starts_with('1') || bytes.size() < kHead) return {};
  const auto number = [&](int i) { return number_at(bytes.data() + 1 + 8 * i); };
  const std::string_view streams = bytes.substr(kHead);
  const auto end_of_text = static_cast<size_t>(std::min<uint64_t>(number(4), streams.size()));
  const auto text = unpacked_stream(streams.substr(0, end_of_text), number(2), kPackedText);
  const auto code = unpacked_stream(streams.substr(end_of_text), number(3), kPackedCode);
  if (!text || !code) return {};
  std::string file = as_numbers(*text);
  put_machine_code(file, *code);
  if (file.size() != number(0) || hash_of_packed(file) != number(1)) return {};
  return file;
}

}  // namespace retrace::cuda

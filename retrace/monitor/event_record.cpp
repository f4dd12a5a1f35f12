#include "retrace/monitor/event_record.h"

#include <bit>
#include <cstring>

#include "retrace/base/crc32c.h"

namespace retrace {
namespace {

constexpr uint64_t kLongestRecord = 256 << 20;
constexpr int kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;  // wire types
constexpr int kFloat = 1, kDouble = 2, kInt32 = 3, kInt64 = 9;      // types of tensors

template <class T>
T little_endian(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << 8 * i;
  return value;
}

template <class T>
void put_little_endian(std::string& bytes, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> 8 * i & 255);
}

void put_varint(std::string& bytes, uint64_t value) {
  for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  bytes += static_cast<char>(value);
}

void put_key(std::string& bytes, int field, int wire) { put_varint(bytes, static_cast<uint64_t>(field << 3 | wire)); }

void put_bytes(std::string& bytes, int field, std::string_view value) {
  put_key(bytes, field, kBytes);
  put_varint(bytes, value.size());
  bytes += value;
}

// Checksums of data that hold checksums would be weak: they are rotated and moved.
uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

// The fields of a message, one after another.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  // False at the end, and where the message is wrong.
  bool next() {
    if (rest_.empty() || wrong_) return false;
    const uint64_t key = varint();
    field_ = static_cast<int>(key >> 3 & 0x1fffffff), wire_ = static_cast<int>(key & 7);
    switch (wire_) {
      case kVarint: value_ = varint(); break;
      case kFixed64: bytes_ = take(8); break;
      case kFixed32: bytes_ = take(4); break;
      case kBytes: bytes_ = take(varint()); break;
      default: wrong_ = true;
    }
    wrong_ = wrong_ || field_ == 0;
    return !wrong_;
  }
  bool is(int field, int wire) const { return field_ == field && wire_ == wire; }
  bool wrong() const { return wrong_; }
  uint64_t value() const { return value_; }
  std::string_view bytes() const { return bytes_; }
  double real64() const { return std::bit_cast<double>(little_endian<uint64_t>(bytes_)); }
  double real32() const { return std::bit_cast<float>(little_endian<uint32_t>(bytes_)); }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      if (shift < 64) value |= uint64_t{byte & 127u} << shift;
      if (byte < 128) return value;
    }
    wrong_ = true;
    return 0;
  }
  std::string_view take(uint64_t count) {
    if (wrong_ || count > rest_.size()) return wrong_ = true, std::string_view();
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_, bytes_;
  uint64_t value_ = 0;
  int field_ = 0, wire_ = 0;
  bool wrong_ = false;
};

// The one number of a tensor, from its bytes or from its list of values.
std::optional<double> scalar_of_content(int type, std::string_view bytes) {
  const bool wide = type == kDouble || type == kInt64;
  if (bytes.size() != (wide ? 8 : 4)) return std::nullopt;
  switch (type) {
    case kFloat: return std::bit_cast<float>(little_endian<uint32_t>(bytes));
    case kDouble: return std::bit_cast<double>(little_endian<uint64_t>(bytes));
    case kInt32: return static_cast<int32_t>(little_endian<uint32_t>(bytes));
    case kInt64: return static_cast<double>(static_cast<int64_t>(little_endian<uint64_t>(bytes)));
    default: return std::nullopt;
  }
}

std::optional<double> scalar_of_tensor(std::string_view message) {
  constexpr int kType = 1, kContent = 4, kFloats = 5, kDoubles = 6, kInts = 7, kLongs = 10;
  int type = 0, values = 0;
  std::optional<double> value;
  std::string_view content;
  MessageReader tensor(message);
  while (tensor.next()) {
    if (tensor.is(kType, kVarint)) type = static_cast<int>(tensor.value() & 0xff);
    if (tensor.is(kContent, kBytes)) content = tensor.bytes();
    // Lists are packed, or a field for each value.
    if (tensor.is(kFloats, kFixed32) || (tensor.is(kFloats, kBytes) && tensor.bytes().size() == 4))
      value = tensor.real32(), ++values;
    if (tensor.is(kDoubles, kFixed64) || (tensor.is(kDoubles, kBytes) && tensor.bytes().size() == 8))
      value = tensor.real64(), ++values;
    if (tensor.is(kInts, kVarint) || tensor.is(kLongs, kVarint))
      value = static_cast<double>(static_cast<int64_t>(tensor.value())), ++values;
  }
  if (tensor.wrong()) return std::nullopt;
  if (!content.empty()) return scalar_of_content(type, content);
  return values == 1 ? value : std::nullopt;
}

// False: the message is wrong.
bool read_value(std::string_view message, EventRecord& record) {
  constexpr int kTag = 1, kSimple = 2, kTensor = 8;
  std::string_view tag;
  std::optional<double> scalar;
  MessageReader value(message);
  while (value.next()) {
    if (value.is(kTag, kBytes)) tag = value.bytes();
    if (value.is(kSimple, kFixed32)) scalar = value.real32();
    if (value.is(kTensor, kBytes)) scalar = scalar_of_tensor(value.bytes());
  }
  if (scalar) record.scalars.emplace_back(tag, *scalar);
  return !value.wrong();
}

bool read_summary(std::string_view message, EventRecord& record) {
  bool good = true;
  MessageReader summary(message);
  while (summary.next())
    if (summary.is(1, kBytes)) good = read_value(summary.bytes(), record) && good;
  return good && !summary.wrong();
}

bool read_session(std::string_view message, EventRecord& record) {
  MessageReader session(message);
  while (session.next())
    if (session.is(1, kVarint)) record.begins = session.value() == 1;
  return !session.wrong();
}

constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSession = 7;

std::optional<EventRecord> read_event_message(std::string_view message) {
  EventRecord record;
  bool good = true;
  MessageReader event(message);
  while (event.next()) {
    if (event.is(kWallTime, kFixed64)) record.wall_time = event.real64();
    if (event.is(kStep, kVarint)) record.step = static_cast<int64_t>(event.value());
    if (event.is(kFileVersion, kBytes)) record.file_version = event.bytes();
    if (event.is(kSummary, kBytes)) good = read_summary(event.bytes(), record) && good;
    if (event.is(kSession, kBytes)) good = read_session(event.bytes(), record) && good;
  }
  return good && !event.wrong() ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace

std::string encode_event(const EventRecord& record) {
  std::string message;
  put_key(message, kWallTime, kFixed64);
  put_little_endian(message, std::bit_cast<uint64_t>(record.wall_time));
  put_key(message, kStep, kVarint);
  put_varint(message, static_cast<uint64_t>(record.step));
  if (!record.file_version.empty()) put_bytes(message, kFileVersion, record.file_version);
  if (record.begins) put_bytes(message, kSession, std::string_view("\x08\x01", 2));
  std::string summary;
  for (const auto& [tag, value] : record.scalars) {
    std::string one;
    put_bytes(one, 1, tag);
    put_key(one, 2, kFixed32);
    put_little_endian(one, std::bit_cast<uint32_t>(static_cast<float>(value)));
    put_bytes(summary, 1, one);
  }
  if (!summary.empty()) put_bytes(message, kSummary, summary);
  std::string frame;
  put_little_endian(frame, uint64_t{message.size()});
  put_little_endian(frame, masked_crc(frame));
  const uint32_t sum = masked_crc(message);
  frame += message;
  put_little_endian(frame, sum);
  return frame;
}

EventFrame take_event(std::string_view& bytes) {
  constexpr size_t kHeader = 12, kSum = 4;
  const EventFrame damaged{.record = std::nullopt, .damaged = true};
  if (bytes.size() < kHeader) return {};
  const auto length = little_endian<uint64_t>(bytes);
  if (masked_crc(bytes.substr(0, 8)) != little_endian<uint32_t>(bytes.substr(8)) || length > kLongestRecord)
    return damaged;
  if (bytes.size() < kHeader + length + kSum) return {};
  const auto message = bytes.substr(kHeader, length);
  if (masked_crc(message) != little_endian<uint32_t>(bytes.substr(kHeader + length))) return damaged;
  auto record = read_event_message(message);
  if (!record) return damaged;
  bytes.remove_prefix(kHeader + length + kSum);
  return {.record = std::move(record), .damaged = false};
}

}  // namespace retrace

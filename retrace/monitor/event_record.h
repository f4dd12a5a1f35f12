#pragma once
// Records of TensorBoard's event files: TFRecord framing with masked CRC-32C around messages of Protocol Buffers. Only
// what scalars need is known; all else is passed over.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

// A message of the file.
struct EventRecord {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::string file_version;  // "brain.Event:2" in the first one of a file
  bool begins = false;       // a session begins: points of its step and later ones, written before, do not count
  std::vector<std::pair<std::string, double>> scalars;  // by tag
};

// The bytes of a record; scalars are f32 (simple_value), the type that every reader takes.
std::string encode_event(const EventRecord& record);

// The next record at the front of `bytes`, which lose it. Nothing where it is not complete yet.
// `damaged`: it is no record, a checksum or its message is wrong, or it is of more than 256 MiB; nothing behind it can
// be read.
struct EventFrame {
  std::optional<EventRecord> record;
  bool damaged = false;
};
EventFrame take_event(std::string_view& bytes);

}  // namespace retrace

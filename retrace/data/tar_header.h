#pragma once
// Headers of tar archives: Version 7, ustar (POSIX.1-1988), pax (POSIX.1-2001) and GNU tar.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "retrace/base/error.h"

namespace retrace {

constexpr size_t kTarBlock = 512;  // bytes: headers and contents fill whole blocks

// A header as its block says it.
struct TarHeader {
  std::string name;    // as it stands there: with the prefix of ustar
  uint64_t bytes = 0;  // of the content, which follows
  char type = '0';     // '0' file, '1' hard link, '2' symbolic link, '5' folder, ...; Version 7's NUL is '0'
};

// Error(bad_data) that the archive is damaged at a byte, with the reason.
Error damaged_tar(std::string_view archive, uint64_t offset, std::string_view reason);

// The header in a block at `offset` of an archive; nothing for a block of zeros, which ends the archive. Sizes are
// octal, or binary as GNU tar writes large ones. Error(bad_data) for a wrong checksum and for what is no number.
std::optional<TarHeader> parse_tar_header(std::string_view block, std::string_view archive, uint64_t offset);

// What the records of a pax header ("27 path=...\n") say of the file that follows.
struct PaxRecords {
  std::optional<std::string> name;
  std::optional<uint64_t> bytes;
  bool sparse = false;  // the content has holes
};
// Error(bad_data) for what are no records. Keys of other meanings are passed over.
PaxRecords parse_pax(std::string_view records, std::string_view archive, uint64_t offset);

// The name as a path within the archive: without '/' at the ends, empty parts and ".". Error(bad_data) for a name with
// a part "..", or a NUL.
std::string tar_path(std::string_view name, std::string_view archive);

}  // namespace retrace

#pragma once
// tar archives for tests, written by the layout of POSIX and not by the code that reads them.

#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace retrace {

struct TarTestMember {
  std::string name, content = {};
  char type = '0';
  std::string prefix = {};
  bool binary_size = false;  // as GNU tar writes sizes that octal digits do not hold
};

inline void set_tar_checksum(std::string& block) {
  block.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  block.replace(148, 7, digits, 7);
}

// A header and the content, in whole blocks.
inline std::string tar_member(const TarTestMember& member) {
  std::string block(512, '\0');
  block.replace(0, member.name.size(), member.name);
  block.replace(100, 7, "0000644");
  char size[12];
  std::snprintf(size, sizeof size, "%011llo", static_cast<unsigned long long>(member.content.size()));
  block.replace(124, 11, size);
  if (member.binary_size) {
    block.replace(124, 12, std::string("\x80", 1) + std::string(11, '\0'));
    for (size_t i = 0; i < 4; ++i) block[135 - i] = static_cast<char>(member.content.size() >> (8 * i));
  }
  block[156] = member.type;
  block.replace(257, 8,
                std::string("ustar\0"
                            "00",
                            8));
  block.replace(345, member.prefix.size(), member.prefix);
  set_tar_checksum(block);
  return block + member.content + std::string((512 - member.content.size() % 512) % 512, '\0');
}

inline std::string tar_of(const std::vector<TarTestMember>& members) {
  std::string archive;
  for (const auto& member : members) archive += tar_member(member);
  return archive + std::string(1024, '\0');
}

// One frame with a checksum, as the program zstd writes it.
inline std::string zstd(const std::string& bytes) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

// A pax header that gives the next member a name.
inline TarTestMember pax_path(const std::string& name) {
  const std::string rest = " path=" + name + "\n";
  size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return {.name = "PaxHeaders/x", .content = std::to_string(length) + rest, .type = 'x'};
}

}  // namespace retrace

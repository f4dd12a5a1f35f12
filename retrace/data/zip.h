#pragma once
// ZIP archives in memory, as numpy.savez writes them: stored or deflated members, also with the sizes of ZIP64.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

struct ZipMember {
  std::string name;
  uint16_t method = 0;  // 0: stored, 8: deflated
  uint32_t checksum = 0;
  uint64_t packed = 0, bytes = 0;  // of the content, compressed and not
  uint64_t offset = 0;             // of its header
};

// The members of an archive, in the order of its directory; `name` stands for the file in messages. Error(bad_data) for
// what is no ZIP archive, a truncated one, one of several parts, and members that do not lie within it.
std::vector<ZipMember> zip_members(std::string_view file, std::string_view name);
// The content of a member, compared with its checksum, or the first `most` bytes of a larger one. Error(bad_data) where
// it is damaged.
std::string zip_content(std::string_view file, const ZipMember& member, std::string_view name,
                        uint64_t most = ~uint64_t{0});

// The bytes of an archive of stored members, without times; equal members give equal bytes. Error(usage) for 4 GiB or
// more, and for more than 65,535 members.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace retrace

#pragma once
// tar archives, read in place.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/data/file_container.h"

namespace retrace {

// The most bytes that a compressed archive may hold.
constexpr uint64_t kTarInflatedLimit = uint64_t{1} << 30;

// What stands in an archive.
struct TarEntry : ContainedFile {
  uint64_t offset = 0;  // of its content
};

// A tar archive: files by their names. Of a plain one only headers are read at first, and contents from the open file
// when they are asked for; one that gzip or zstd compressed is decompressed into memory, up to kTarInflatedLimit bytes.
// What stands behind the end mark is passed over, and so are devices, pipes and labels of volumes; of members of one
// name the last counts, as after unpacking.
class TarArchive : public FileContainer {
 public:
  // Errors: missing; bad_data for a wrong checksum of a header, a truncated archive or one without an end mark, names
  // with "..", files with holes, parts of archives over several volumes, and other compressions, with what helps.
  explicit TarArchive(const std::filesystem::path& path);
  // The same of an archive that is a copy of `original`, which messages name.
  TarArchive(const std::filesystem::path& path, SourceFile original);
  // The same of the bytes of an archive, which `name` stands for in messages, and which hold at most `limit` bytes
  // after decompression.
  TarArchive(std::string bytes, std::string name, uint64_t limit = kTarInflatedLimit);

  const std::string& name() const override { return name_; }
  const std::string& kind() const override;
  size_t size() const override { return entries_.size(); }
  const ContainedFile& file(size_t i) const override { return entries_[i]; }
  std::string content(size_t i, uint64_t most) const override { return read(entries_[i], most); }
  SourceFile source(size_t) const override { return source_; }
  // The errors that an archive's first bytes and its size tell.
  static void check_start(std::string_view start, uint64_t bytes, const std::string& name);
  // In the order of the bytes of their names.
  const std::vector<TarEntry>& entries() const { return entries_; }
  // The content, or its first `most` bytes. Safe from several threads. Errors: of reading.
  std::string read(const TarEntry& entry, uint64_t most = UINT64_MAX) const;

 private:
  friend class TarIndex;
  std::string bytes_at(uint64_t offset, uint64_t count) const;

  std::string name_;
  SourceFile source_;
  FileDescriptor file_;  // of a plain archive on the disk; else the bytes are in memory
  std::string memory_;
  uint64_t size_ = 0;
  std::vector<TarEntry> entries_;
};

// The archive at a path. While somebody holds it, it is not read or decompressed again for others, unless the file was
// changed. Errors: as TarArchive.
std::shared_ptr<const TarArchive> open_archive(const std::filesystem::path& path);
std::shared_ptr<const TarArchive> open_archive(const std::filesystem::path& path, const SourceFile& original);

// The endings of archives' names: .tar, .tar.gz, .tgz and more, with those that are refused with what helps.
std::span<const std::string_view> archive_endings();
// Whether a name ends in one of them, in either case.
bool is_archive_name(std::string_view name);

// A path into an archive: "pets.tar/train" is the archive "pets.tar", and "train" in it.
struct ArchivePath {
  std::string archive, inside;
};
// Nothing for a path none of whose parts is a file with the name of an archive.
std::optional<ArchivePath> archive_path(const std::string& path);

}  // namespace retrace

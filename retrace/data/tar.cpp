#include "retrace/data/tar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "retrace/data/gzip.h"
#include "retrace/data/tar_header.h"
#include "retrace/data/zstd.h"

namespace retrace {
namespace {
constexpr uint64_t kNameLimit = 1 << 20;  // bytes of a header's long name or records

constexpr std::string_view kEndings[] = {".tar",     ".tar.gz", ".tgz",  ".tar.zst", ".tzst", ".tar.xz",
                                         ".tar.bz2", ".txz",    ".tbz2", ".tbz",     ".zip"};

// What is not read, by its first bytes, and how it becomes what is.
struct Refused {
  std::string_view magic, name, remedy;
};
constexpr Refused kRefused[] = {{"\xfd\x37zXZ", "xz", "decompress it first, with \"unxz\""},
                                {"BZh", "bzip2", "decompress it first, with \"bunzip2\""},
                                {"PK\x03\x04", "zip", "unpack it first, with \"unzip\""}};

void check_compression(std::string_view start, const std::string& name) {
  for (const auto& refused : kRefused)
    if (start.starts_with(refused.magic))
      throw Error(ErrorKind::bad_data, 650,
                  fmt::format("the archive \"{}\" is compressed by {}", printable(name), refused.name))
          .expected("a plain tar archive, or one compressed by gzip or zstd")
          .help(std::string(refused.remedy));
}

Error too_large(const std::string& name, uint64_t limit) {
  return Error(ErrorKind::bad_data, 651,
               fmt::format("the compressed archive \"{}\" is too large for memory", printable(name)))
      .got(fmt::format("more than {} bytes after decompression", limit))
      .help("decompress it first, with \"gunzip\" or \"zstd -d\": a plain archive is read in place");
}

template <class Reader>
std::string decompressed_by(Reader reader, const std::string& name, uint64_t limit) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  std::string bytes;
  for (bool more = true; more;) {
    const size_t done = bytes.size(), piece = std::min(kPiece, limit + 1 - done);
    bytes.resize(done + piece);
    const size_t count = reader.read(bytes.data() + done, piece);
    bytes.resize(done + count);
    if (bytes.size() > limit) throw too_large(name, limit);
    more = count == piece;
  }
  if (!reader.fault().empty())
    throw damaged_tar(name, bytes.size(), fmt::format("its compression is damaged: {}", reader.fault()));
  bytes.shrink_to_fit();
  return bytes;
}

bool is_compressed(std::string_view bytes) { return is_gzip(bytes) || is_zstd(bytes); }

std::string decompressed(std::string_view bytes, const std::string& name, uint64_t limit) {
  return is_gzip(bytes) ? decompressed_by(GzipReader(bytes), name, limit)
                        : decompressed_by(ZstdReader(bytes), name, limit);
}

uint64_t padded(uint64_t bytes) { return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock; }

}  // namespace

// Goes through the headers of an archive.
class TarIndex {
 public:
  explicit TarIndex(const TarArchive& archive) : archive_(archive) {}

  std::vector<TarEntry> entries() {
    while (const auto header = next_header()) {
      const uint64_t at = next_ - kTarBlock;
      TarHeader member = *header;
      const bool describes = member.type == 'x' || member.type == 'L' || member.type == 'K' || member.type == 'g';
      if (!describes && bytes_) member.bytes = *bytes_;
      if (!has_content(member.type)) member.bytes = 0;
      check_room(member.bytes, at);
      if (describes)
        describe(member);
      else
        add(member, at);
      next_ += padded(member.bytes);
    }
    return sorted();
  }

 private:
  static bool has_content(char type) { return type < '1' || type > '6'; }

  std::optional<TarHeader> next_header() {
    if (archive_.size_ - next_ < kTarBlock)
      throw damaged_tar(archive_.name(), archive_.size_, next_ == 0 ? "it holds no header" : "it ends early");
    next_ += kTarBlock;
    return parse_tar_header(archive_.bytes_at(next_ - kTarBlock, kTarBlock), archive_.name(), next_ - kTarBlock);
  }

  void check_room(uint64_t bytes, uint64_t at) const {
    if (bytes > archive_.size_ - next_ || padded(bytes) > archive_.size_ - next_)
      throw damaged_tar(archive_.name(), at, "it ends early, within the member that begins there");
  }

  // What the header says of the next member.
  void describe(const TarHeader& header) {
    if (header.type == 'K' || header.type == 'g') return;  // the target of a link; what holds for all members
    if (header.bytes > kNameLimit) throw damaged_tar(archive_.name(), next_, "the name of a member is too long");
    const std::string content = archive_.bytes_at(next_, header.bytes);
    if (header.type == 'L') {
      name_ = content.substr(0, content.find('\0'));
      return;
    }
    PaxRecords records = parse_pax(content, archive_.name(), next_);
    if (records.name) name_ = std::move(records.name);
    if (records.bytes) bytes_ = records.bytes;
    sparse_ = sparse_ || records.sparse;
  }

  void add(const TarHeader& header, uint64_t at) {
    const std::string given = name_.value_or(header.name);
    const bool sparse = sparse_ || header.type == 'S';
    name_.reset(), bytes_.reset(), sparse_ = false;
    if (sparse)
      throw refused(given, "is stored with holes", "make the archive anew, without the option --sparse of tar");
    const auto kind = kind_of(header.type, given);
    if (!kind) return check_passed_over(header.type, given, at);
    if (std::string path = tar_path(given, archive_.name()); !path.empty())
      entries_.push_back({{std::move(path), *kind, header.bytes}, next_});
  }

  static std::optional<TarEntry::Kind> kind_of(char type, const std::string& name) {
    switch (type) {
      case '0':
      case '7': return name.ends_with('/') ? TarEntry::Kind::folder : TarEntry::Kind::file;
      case '1': return TarEntry::Kind::hard_link;
      case '2': return TarEntry::Kind::symbolic_link;
      case '5': return TarEntry::Kind::folder;
      default: return std::nullopt;
    }
  }

  // Devices, pipes, labels of volumes and lists of folders are passed over.
  void check_passed_over(char type, const std::string& name, uint64_t at) const {
    if (std::string_view("346VD").find(type) != std::string_view::npos) return;
    if (type == 'M')
      throw refused(name, "goes on in another volume", "make one archive of all volumes, without --multi-volume");
    throw damaged_tar(archive_.name(), at,
                      fmt::format("a member is of the unknown type 0x{:02x}", static_cast<unsigned char>(type)));
  }

  Error refused(const std::string& name, std::string_view what, std::string_view help) const {
    return Error(ErrorKind::bad_data, 654,
                 fmt::format("the member \"{}\" of the archive \"{}\" {}", printable(name), printable(archive_.name()),
                             what))
        .help(std::string(help));
  }

  // By name; of equal names the last one.
  std::vector<TarEntry> sorted() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::vector<TarEntry> kept;
    for (auto& entry : entries_)
      if (!kept.empty() && kept.back().name == entry.name)
        kept.back() = std::move(entry);
      else
        kept.push_back(std::move(entry));
    return kept;
  }

  const TarArchive& archive_;
  uint64_t next_ = 0;  // where the next header or content begins
  std::optional<std::string> name_;
  std::optional<uint64_t> bytes_;
  bool sparse_ = false;
  std::vector<TarEntry> entries_;
};

void TarArchive::check_start(std::string_view start, uint64_t bytes, const std::string& name) {
  check_compression(start, name);
  if (is_compressed(start) && bytes > kTarInflatedLimit) throw too_large(name, kTarInflatedLimit);
}

TarArchive::TarArchive(const std::filesystem::path& path) : TarArchive(path, SourceFile{path.string()}) {}

TarArchive::TarArchive(const std::filesystem::path& path, SourceFile original)
    : name_(original.path), source_(std::move(original)) {
  const std::string start = read_file_start(path, "archive", kTarBlock);
  std::error_code ignored;
  check_start(start, std::filesystem::file_size(path, ignored), name_);
  if (is_compressed(start)) {
    memory_ = decompressed(read_file(path, "archive", kTarInflatedLimit), name_, kTarInflatedLimit);
    size_ = memory_.size();
  } else {
    file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status{};
    if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) throw read_failed(path, "archive", errno);
    size_ = static_cast<uint64_t>(status.st_size);
  }
  entries_ = TarIndex(*this).entries();
}

std::shared_ptr<const TarArchive> open_archive(const std::filesystem::path& path) {
  return open_archive(path, SourceFile{path.string()});
}

std::shared_ptr<const TarArchive> open_archive(const std::filesystem::path& path, const SourceFile& original) {
  using File = std::tuple<std::string, std::string, dev_t, ino_t, off_t, time_t, long>;
  static std::mutex mutex;
  static std::map<File, std::weak_ptr<const TarArchive>> open;
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::make_shared<const TarArchive>(path, original);  // says why
  const File file{original.path,  original.tag,          status.st_dev,         status.st_ino,
                  status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  const std::lock_guard lock(mutex);
  std::erase_if(open, [](const auto& one) { return one.second.expired(); });
  auto archive = open[file].lock();
  if (!archive) open[file] = archive = std::make_shared<const TarArchive>(path, original);
  return archive;
}

TarArchive::TarArchive(std::string bytes, std::string name, uint64_t limit)
    : name_(std::move(name)), source_({name_}), memory_(std::move(bytes)) {
  check_compression(memory_, name_);
  if (is_compressed(memory_)) memory_ = decompressed(memory_, name_, limit);
  size_ = memory_.size();
  entries_ = TarIndex(*this).entries();
}

std::string TarArchive::bytes_at(uint64_t offset, uint64_t count) const {
  if (file_.get() < 0) return memory_.substr(offset, count);
  std::string bytes(count, '\0');
  if (!read_exactly(file_.get(), std::as_writable_bytes(std::span(bytes)), offset))
    throw read_failed(name_, "archive", errno);
  return bytes;
}

const std::string& TarArchive::kind() const {
  static const std::string kind = "archive";
  return kind;
}

std::string TarArchive::read(const TarEntry& entry, uint64_t most) const {
  return bytes_at(entry.offset, std::min(entry.bytes, most));
}

bool is_archive_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](auto ending) { return lower.ends_with(ending); });
}

std::span<const std::string_view> archive_endings() { return kEndings; }

std::optional<ArchivePath> archive_path(const std::string& path) {
  std::error_code ignored;
  for (size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string front = path.substr(0, end);
    if (is_archive_name(front) && std::filesystem::is_regular_file(front, ignored))
      return ArchivePath{front, path.substr(std::min(end + 1, path.size()))};
  }
  return std::nullopt;
}

}  // namespace retrace

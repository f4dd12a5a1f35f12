#include "retrace/train/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/train/safetensors_header.h"

namespace retrace {
namespace {

using safetensors::Entry;
using safetensors::Header;

constexpr uint64_t kPrefix = 8;

Error damaged(std::string_view file, const std::string& what) {
  return Error(ErrorKind::bad_data, 511, fmt::format("safetensors file \"{}\" is damaged: {}", printable(file), what))
      .help("take it from a copy, or write it again");
}

// The length of the header, checked against the length of the file.
uint64_t header_size(std::span<const std::byte> prefix, uint64_t file_size, std::string_view file) {
  if (file_size < kPrefix)
    throw damaged(file, "it is too short").got(fmt::format("{} bytes", file_size)).expected("at least 8 bytes");
  uint64_t size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8 | std::to_integer<uint64_t>(prefix[static_cast<size_t>(i)]);
  if (size > file_size - kPrefix)
    throw damaged(file, "its header would end after the file")
        .got(fmt::format("a header of {} bytes in a file of {}", size, file_size));
  if (size > safetensors::kMaxHeader)
    throw damaged(file, "its header is too long")
        .got(fmt::format("{} bytes", size))
        .expected(fmt::format("at most {} bytes", safetensors::kMaxHeader));
  return size;
}

SafeTensor empty_tensor(const Entry& entry) {
  return {entry.name, entry.type, entry.shape, std::vector<std::byte>(entry.end - entry.begin)};
}

// Elements times the size of the type, or an error of the writer's caller.
uint64_t expected_bytes(const SafeTensor& tensor) {
  uint64_t bytes = static_cast<uint64_t>(safetensors_type_size(tensor.type));
  for (const int64_t size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      throw Error(ErrorKind::usage, 512, fmt::format("tensor \"{}\" cannot be written: bad shape", tensor.name))
          .got(fmt::format("[{}]", joined(tensor.shape, ",")));
  return bytes;
}

void check_writable(const SafeTensors& content) {
  std::set<std::string_view> names;
  for (const auto& tensor : content.tensors) {
    const auto refuse = [&](const std::string& why) {
      return Error(ErrorKind::usage, 512,
                   fmt::format("tensor \"{}\" cannot be written: {}", printable(tensor.name), why));
    };
    if (const auto why = safetensors::bad_name(tensor.name); !why.empty()) throw refuse(why);
    if (!names.insert(tensor.name).second) throw refuse("another tensor has the same name");
    if (safetensors_type_size(tensor.type) == 0) throw refuse("unknown type").got(tensor.type);
    if (const uint64_t bytes = expected_bytes(tensor); bytes != tensor.bytes.size())
      throw refuse("its bytes do not match its shape")
          .got(fmt::format("{} bytes", tensor.bytes.size()))
          .expected(fmt::format("{} bytes for {}[{}]", bytes, tensor.type, joined(tensor.shape, ",")));
  }
}

}  // namespace

const SafeTensor* SafeTensors::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

int safetensors_type_size(std::string_view type) { return safetensors::type_size(type); }

SafeTensors parse_safetensors(std::span<const std::byte> file_bytes, std::string_view file) {
  const uint64_t size = header_size(file_bytes, file_bytes.size(), file);
  const auto text = file_bytes.subspan(kPrefix, size), data = file_bytes.subspan(kPrefix + size);
  const Header header =
      safetensors::parse_header({reinterpret_cast<const char*>(text.data()), text.size()}, data.size(), file);
  SafeTensors content{.tensors = {}, .metadata = header.metadata};
  for (const auto& entry : header.entries) {
    content.tensors.push_back(empty_tensor(entry));
    std::copy_n(data.begin() + static_cast<ptrdiff_t>(entry.begin), entry.end - entry.begin,
                content.tensors.back().bytes.begin());
  }
  return content;
}

SafeTensors read_safetensors(const std::filesystem::path& path) {
  constexpr std::string_view what = "safetensors file";
  const std::string file = path.string();
  const FileDescriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (in.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw missing_path(path, what);
    throw read_failed(path, what, errno);
  }
  struct stat status{};
  if (::fstat(in.get(), &status) != 0) throw read_failed(path, what, errno);
  if (!S_ISREG(status.st_mode)) throw damaged(file, "it is not a regular file");
  const auto file_size = static_cast<uint64_t>(status.st_size);
  const auto read = [&](std::span<std::byte> bytes, uint64_t offset) {
    if (!read_exactly(in.get(), bytes, offset)) throw read_failed(path, what, errno);
  };
  std::byte prefix[kPrefix] = {};
  if (file_size >= kPrefix) read(prefix, 0);
  const uint64_t size = header_size(prefix, file_size, file);
  std::string text(size, '\0');
  read(std::as_writable_bytes(std::span(text)), kPrefix);
  const Header header = safetensors::parse_header(text, file_size - kPrefix - size, file);
  SafeTensors content{.tensors = {}, .metadata = header.metadata};
  for (const auto& entry : header.entries) {
    content.tensors.push_back(empty_tensor(entry));
    read(content.tensors.back().bytes, kPrefix + size + entry.begin);
  }
  return content;
}

SafeTensorsPieces safetensors_pieces(const SafeTensors& content) {
  check_writable(content);
  std::vector<const SafeTensor*> order;
  for (const auto& tensor : content.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const SafeTensor* a, const SafeTensor* b) {
    const int size_a = safetensors_type_size(a->type), size_b = safetensors_type_size(b->type);
    return size_a != size_b ? size_a > size_b : a->name < b->name;
  });
  Header header{.entries = {}, .metadata = content.metadata};
  uint64_t offset = 0;
  for (const auto* tensor : order) {
    header.entries.push_back({tensor->name, tensor->type, tensor->shape, offset, offset + tensor->bytes.size()});
    offset += tensor->bytes.size();
  }
  const std::string text = safetensors::header_text(header);
  SafeTensorsPieces pieces;
  for (size_t i = 0; i < kPrefix; ++i) pieces.head += static_cast<char>(text.size() >> (8 * i) & 0xff);
  pieces.head += text;
  for (const auto* tensor : order)
    pieces.tensors.emplace_back(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
  return pieces;
}

void write_safetensors(const std::filesystem::path& path, const SafeTensors& content) {
  const SafeTensorsPieces file = safetensors_pieces(content);
  std::vector<std::string_view> pieces = {file.head};
  pieces.insert(pieces.end(), file.tensors.begin(), file.tensors.end());
  write_file_whole(path, pieces);
}

}  // namespace retrace

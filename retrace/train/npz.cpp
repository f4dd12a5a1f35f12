#include "retrace/train/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/npy.h"
#include "retrace/data/zip.h"
#include "retrace/train/foreign_file.h"

namespace retrace {
namespace {

constexpr std::string_view kEnding = ".npy";

struct ArrayType {
  const char *name, *descr;
  NpyKind kind;
  int item;
};
constexpr ArrayType kTypes[] = {{"F32", "<f4", NpyKind::floating, 4}, {"F64", "<f8", NpyKind::floating, 8},
                                {"F16", "<f2", NpyKind::floating, 2}, {"I64", "<i8", NpyKind::whole, 8},
                                {"I32", "<i4", NpyKind::whole, 4},    {"U8", "|u1", NpyKind::natural, 1},
                                {"BOOL", "|b1", NpyKind::truth, 1}};

// Of whole numbers of other widths: I32 holds those of up to 16 bits, I64 those of more.
template <class T>
std::vector<std::byte> widened(const NpyArray& array, const std::string& name) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto values = array.integers();
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    if (array.item == 8 && values[i] == kMost)
      throw Error(ErrorKind::bad_data, 658,
                  fmt::format("the array \"{}\" has a number that no tensor holds", printable(name)))
          .got(fmt::format("{} or more at element {}", kMost, i))
          .expected(fmt::format("less than {}", kMost))
          .help("save it as floating-point numbers");
    const auto value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

SafeTensor tensor_of(NpyArray array, const std::string& name, const std::string& shown) {
  const bool wide = array.item > 2;
  SafeTensor tensor{name, wide ? "I64" : "I32", {array.shape.begin(), array.shape.end()}, {}};
  const auto* const same = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& type) {
    return type.kind == array.kind && type.item == array.item;
  });
  if (same == std::end(kTypes)) {
    tensor.bytes = wide ? widened<int64_t>(array, shown) : widened<int32_t>(array, shown);
    return tensor;
  }
  tensor.type = same->name;
  tensor.bytes = std::move(array.bytes);
  if (array.kind == NpyKind::truth)
    for (auto& value : tensor.bytes) value = std::byte(value != std::byte(0));
  return tensor;
}

// The header fills whole blocks of 64 bytes, as numpy's does.
std::string npy_of(const SafeTensor& tensor) {
  const auto* const type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& known) { return tensor.type == known.name; });
  if (type == std::end(kTypes))
    throw Error(ErrorKind::usage, 474, fmt::format("NPY has no type for the tensor \"{}\"", printable(tensor.name)))
        .got(tensor.type)
        .help("save it in a file that ends in .safetensors, or cast(x, DType::f32)");
  const std::string shape = fmt::format("({}{})", joined(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type->descr, shape);
  constexpr size_t kPrefix = 10, kBlock = 64;
  header.append((2 * kBlock - (kPrefix + header.size() + 1) % kBlock) % kBlock, ' ');
  header += '\n';
  std::string file = "\x93NUMPY";
  file += {'\1', '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return file;
}

}  // namespace

SafeTensors parse_npz(std::string_view file, std::string_view name) {
  SafeTensors content;
  for (const auto& member : zip_members(file, name)) {
    const std::string shown = fmt::format("{}/{}", name, member.name);
    if (!member.name.ends_with(kEnding))
      throw Error(ErrorKind::bad_data, 658, fmt::format("\"{}\" is no array", printable(shown)))
          .expected("members whose names end in .npy")
          .help("write the file with numpy.savez");
    const std::string array = member.name.substr(0, member.name.size() - kEnding.size());
    if (content.find(array))
      throw Error(ErrorKind::bad_data, 658, fmt::format("the array \"{}\" is there twice", printable(shown)))
          .help("write the file with numpy.savez");
    content.tensors.push_back(tensor_of(parse_npy(zip_content(file, member, name), shown), array, shown));
  }
  return content;
}

SafeTensors read_tensors(const std::filesystem::path& path) {
  try {
    return path.extension() == ".npz" ? read_npz(path) : read_safetensors(path);
  } catch (const Error& error) {
    const ForeignFile foreign = foreign_file(path);
    if (error.kind() != ErrorKind::bad_data || foreign.framework.empty()) throw;
    throw Error(ErrorKind::bad_data, 533,
                fmt::format("\"{}\" is a file of {}, which is not read", printable(path.string()), foreign.framework))
        .expected("a safetensors or NPZ file")
        .help("convert it in Python: " + foreign.conversion);
  }
}

SafeTensors read_npz(const std::filesystem::path& path) {
  return parse_npz(read_file(path, "NPZ file", kNpyLimit), path.string());
}

void write_npz(const std::filesystem::path& path, const SafeTensors& content) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& tensor : content.tensors) members.emplace_back(tensor.name + std::string(kEnding), npy_of(tensor));
  write_file_whole(path, zip_of(members));
}

}  // namespace retrace

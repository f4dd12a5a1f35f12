#include "retrace/data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/data/npz_arrays.h"
#include "retrace/tensor/dtype.h"

namespace retrace {
namespace {

static_assert(std::endian::native == std::endian::little, "NPY files are read as they are");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostHeader = 64 << 10;

Error damaged(std::string_view name, const std::string& what) {
  return Error(ErrorKind::bad_data, 363, fmt::format("NPY file \"{}\" {}", printable(name), what));
}

// The dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
struct Dictionary {
  std::optional<std::string> descr;  // a text; for records the start of the list
  std::optional<bool> fortran;
  std::optional<Shape> shape;
  bool records = false;
};

class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Dictionary read() {
    Dictionary made;
    expect('{');
    while (!take('}')) {
      const std::string key = text();
      expect(':');
      if (key == "descr")
        read_type(made);
      else if (key == "fortran_order")
        made.fortran = truth();
      else if (key == "shape")
        made.shape = shape();
      else
        fail();
      if (made.records) return made;
      if (!take(',') && peek() != '}') fail();
    }
    if (!made.descr || !made.fortran || !made.shape) fail();
    return made;
  }

 private:
  [[noreturn]] void fail() const {
    throw damaged(name_, "has a header that is not numpy's")
        .got(printable(text_.substr(0, 120)))
        .expected("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }")
        .help("write the file again with numpy.save");
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  bool take_word(std::string_view word) {
    peek();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string text() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail();
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail();
    std::string made(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return made;
  }
  void read_type(Dictionary& made) {
    made.records = peek() == '[';
    made.descr = made.records ? std::string("a list of fields") : text();
  }
  bool truth() {
    if (take_word("True")) return true;
    if (!take_word("False")) fail();
    return false;
  }
  Shape shape() {
    Shape made;
    expect('(');
    while (!take(')')) {
      int64_t size = -1;
      peek();
      const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (failure != std::errc() || size < 0) fail();
      at_ = static_cast<size_t>(end - text_.data());
      if (made.rank() == kMaxRank)
        throw damaged(name_, fmt::format("has an array of more than {} axes", kMaxRank)).help("reshape it first");
      made.push_back(size);
      if (!take(',') && peek() != ')') fail();
    }
    return made;
  }

  std::string_view text_, name_;
  size_t at_ = 0;
};

Error refused_type(std::string_view name, const std::string& descr, const std::string& what, const std::string& help) {
  return Error(ErrorKind::bad_data, 364, fmt::format("NPY file \"{}\" holds {}", printable(name), what))
      .got(fmt::format("the type {}", printable(descr.substr(0, 40))))
      .expected("little-endian f2, f4, f8, i1 to i8, u1 to u8 or b1")
      .help(help);
}

// Refuses by name what is not read.
NpyArray typed(const Dictionary& header, std::string_view name) {
  const std::string& descr = *header.descr;
  if (header.records) throw refused_type(name, descr, "records", "save each field by itself: a[\"field\"]");
  const char order = descr.empty() ? '?' : descr[0], letter = descr.size() < 2 ? '?' : descr[1];
  if (letter == 'O') throw refused_type(name, descr, "Python objects, which could run code", "save a plain array");
  if (order == '>')
    throw refused_type(name, descr, "big-endian values", "convert them: a.astype(a.dtype.newbyteorder(\"<\"))");
  if (letter == 'c') throw refused_type(name, descr, "complex numbers", "save a.real and a.imag");
  if (letter == 'U' || letter == 'S') throw refused_type(name, descr, "texts", "number the classes from 0 on");
  NpyArray made;
  constexpr std::string_view letters = "fiub";
  const size_t kind = letters.find(letter);
  const std::string digits = descr.size() > 2 ? descr.substr(2) : "";
  made.item = digits.size() == 1 ? digits[0] - '0' : 0;
  const bool known = made.item == 1 || made.item == 2 || made.item == 4 || made.item == 8;
  const bool fits = (order == '<' || order == '|' || order == '=') && kind != std::string_view::npos && known;
  if (!fits || (letter == 'f' && made.item < 2) || (letter == 'b' && made.item != 1))
    throw refused_type(name, descr, "values that are not read", "convert them: a.astype(\"<f4\")");
  made.kind = static_cast<NpyKind>(kind);
  made.shape = *header.shape;
  return made;
}

struct Header {
  NpyArray array;  // without values
  bool fortran = false;
  size_t size = 0;  // bytes before the values
};

Header read_header(std::string_view file, std::string_view name) {
  if (file.size() < 10 || file.substr(0, kMagic.size()) != kMagic)
    throw damaged(name, "does not begin like an NPY file").help("write it with numpy.save; an NPZ has to be unpacked");
  const int version = file[6];
  if (version < 1 || version > 3)
    throw damaged(name, fmt::format("has version {}", static_cast<unsigned char>(version))).expected("1, 2 or 3");
  const size_t prefix = version == 1 ? 10 : 12;
  size_t length = 0;
  for (size_t i = 8; i < std::min(prefix, file.size()); ++i)
    length |= static_cast<size_t>(static_cast<unsigned char>(file[i])) << (8 * (i - 8));
  if (length > kMostHeader) throw damaged(name, "has a header that is too long").got(fmt::format("{} bytes", length));
  if (file.size() < prefix + length) throw damaged(name, "ends within its header").help("write it again");
  const Dictionary dictionary = DictionaryReader(file.substr(prefix, length), name).read();
  return {typed(dictionary, name), dictionary.fortran.value_or(false), prefix + length};
}

uint64_t checked_bytes(const NpyArray& array, std::string_view name, uint64_t limit) {
  auto bytes = static_cast<uint64_t>(array.item);
  for (const int64_t size : array.shape) {
    const auto factor = static_cast<uint64_t>(std::max<int64_t>(size, 1));
    if (bytes > limit / factor)
      throw damaged(name, "declares more values than are read")
          .got(array.text())
          .expected(fmt::format("at most {} bytes", limit));
    bytes *= factor;
  }
  return array.shape.contains(0) ? 0 : bytes;
}

// Row-major values from column-major ones.
std::vector<std::byte> transposed(const NpyArray& array, const char* from) {
  const auto item = static_cast<size_t>(array.item), count = static_cast<size_t>(array.shape.count());
  std::vector<std::byte> bytes(count * item);
  std::vector<size_t> index(static_cast<size_t>(array.shape.rank())), strides(index.size());
  size_t stride = 1;
  for (size_t i = 0; i < strides.size(); ++i) {
    strides[i] = stride;
    stride *= static_cast<size_t>(array.shape[static_cast<int>(i)]);
  }
  size_t source = 0;
  for (size_t to = 0; to < count; ++to) {
    std::memcpy(bytes.data() + to * item, from + source * item, item);
    for (size_t axis = index.size(); axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < static_cast<size_t>(array.shape[static_cast<int>(axis)])) break;
      source -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return bytes;
}

// The value at `bytes`, to whatever `use` does.
template <class Use>
void with_value(const NpyArray& array, const std::byte* bytes, Use&& use) {
  const auto load = [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    use(value);
  };
  const bool natural = array.kind != NpyKind::whole;
  if (array.kind == NpyKind::floating && array.item == 2) {
    Float16 half;
    std::memcpy(&half, bytes, sizeof half);
    return use(to_f32(half));
  }
  if (array.kind == NpyKind::floating) return array.item == 4 ? load(float()) : load(double());
  switch (array.item) {
    case 1: return natural ? load(uint8_t()) : load(int8_t());
    case 2: return natural ? load(uint16_t()) : load(int16_t());
    case 4: return natural ? load(uint32_t()) : load(int32_t());
    default: return natural ? load(uint64_t()) : load(int64_t());
  }
}

template <class Result, class Convert>
std::vector<Result> all_values(const NpyArray& array, Convert&& convert) {
  std::vector<Result> values(array.bytes.size() / static_cast<size_t>(array.item));
  for (size_t i = 0; i < values.size(); ++i)
    with_value(array, array.bytes.data() + i * static_cast<size_t>(array.item),
               [&](auto value) { values[i] = convert(value); });
  return values;
}

}  // namespace

std::string NpyArray::text() const {
  return fmt::format("{}{}{}", "fiub"[static_cast<size_t>(kind)], item, shape.text());
}

std::vector<float> NpyArray::floats() const {
  const FloatingPointScope floating_point;
  const bool truths = kind == NpyKind::truth;
  return all_values<float>(*this,
                           [&](auto value) { return truths ? (value != 0 ? 1.0f : 0.0f) : static_cast<float>(value); });
}

std::vector<int64_t> NpyArray::integers() const {
  ensure(!is_floating(), "whole numbers are asked of an NPY array that has them");
  constexpr auto most = std::numeric_limits<int64_t>::max();
  return all_values<int64_t>(*this, [&](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      return int64_t{0};
    else if (kind == NpyKind::truth)
      return int64_t{value != 0};
    else
      return std::cmp_greater(value, most) ? most : static_cast<int64_t>(value);
  });
}

NpyArray parse_npy(std::string_view file, std::string_view name, uint64_t limit) {
  Header header = read_header(file, name);
  NpyArray array = std::move(header.array);
  const uint64_t bytes = checked_bytes(array, name, limit);
  if (file.size() - header.size != bytes)
    throw damaged(name, file.size() - header.size < bytes ? "is truncated" : "has bytes after its values")
        .got(fmt::format("{} bytes", file.size()))
        .expected(fmt::format("{} bytes: a header of {} and {} for {}", header.size + bytes, header.size, bytes,
                              array.text()))
        .help("write it again");
  const char* const values = file.data() + header.size;
  if (header.fortran && array.shape.rank() > 1) {
    array.bytes = transposed(array, values);
  } else {
    array.bytes.resize(bytes);
    if (bytes) std::memcpy(array.bytes.data(), values, bytes);
  }
  return array;
}

NpyArray read_npy(const std::filesystem::path& path, uint64_t limit) {
  const auto inside = npz_place(path);
  const std::string file = inside ? npz_bytes(*inside) : read_file(path, "NPY file", limit + kMostHeader + 12);
  return parse_npy(file, path.string(), limit);
}

NpyArray read_npy_header(const std::filesystem::path& path) {
  const std::string name = path.string();
  constexpr uint64_t kMost = kMostHeader + 12;
  const auto inside = npz_place(path);
  return read_header(inside ? npz_bytes(*inside, kMost) : read_file_start(path, "NPY file", kMost), name).array;
}

}  // namespace retrace

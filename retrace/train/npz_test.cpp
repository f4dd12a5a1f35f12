#include "retrace/train/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "retrace/data/npy_testing.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/operators.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/save.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// A ZIP archive by the layout of its specification, written as Python's zipfile does it for numpy: sizes of local
// headers stand in the field of ZIP64.
class ZipWriter {
 public:
  explicit ZipWriter(bool deflated = false, bool large = false) : deflated_(deflated), large_(large) {}

  ZipWriter& add(const std::string& name, const std::string& content) {
    const std::string packed = deflated_ ? deflate_of(content) : content;
    const auto checksum = crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
    const size_t at = file_.size();
    file_ += "PK\3\4" + number(45, 2) + number(0, 2) + number(deflated_ ? 8 : 0, 2) + number(0x21, 4) +
             number(checksum, 4) + number(~0u, 4) + number(~0u, 4) + number(name.size(), 2) + number(20, 2) + name +
             number(1, 2) + number(16, 2) + number(content.size(), 8) + number(packed.size(), 8) + packed;
    const std::string extra =
        large_ ? number(1, 2) + number(24, 2) + number(content.size(), 8) + number(packed.size(), 8) + number(at, 8)
               : "";
    directory_ += "PK\1\2" + number(45, 2) + number(45, 2) + number(0, 2) + number(deflated_ ? 8 : 0, 2) +
                  number(0x21, 4) + number(checksum, 4) + number(large_ ? ~0u : packed.size(), 4) +
                  number(large_ ? ~0u : content.size(), 4) + number(name.size(), 2) + number(extra.size(), 2) +
                  number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) + number(large_ ? ~0u : at, 4) + name +
                  extra;
    ++count_;
    return *this;
  }

  std::string file() const {
    const std::string count = number(count_, 2), large_end = "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) +
                                                             number(0, 8) + number(count_, 8) + number(count_, 8) +
                                                             number(directory_.size(), 8) + number(file_.size(), 8) +
                                                             "PK\6\7" + number(0, 4) +
                                                             number(file_.size() + directory_.size(), 8) + number(1, 4);
    return file_ + directory_ + (large_ ? large_end : "") + "PK\5\6" + number(0, 4) + count + count +
           number(directory_.size(), 4) + number(large_ ? ~0u : file_.size(), 4) + number(0, 2);
  }

  static std::string number(uint64_t value, size_t bytes) {
    std::string out;
    for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  }

 private:
  static std::string deflate_of(const std::string& content) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(content.size() + 100, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  bool deflated_, large_;
  size_t count_ = 0;
  std::string file_, directory_;
};

class Npz : public testing::Test {
 protected:
  std::string write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  std::string path() const { return (folder_ / "w.npz").string(); }
  std::string refusal(const std::string& bytes) const {
    return error_of([&] { load(write(bytes), Place()); });
  }
  TemporaryFolder folder_;
};

const std::vector<float> kSix{1, 2, 3, 4, 5, 6};

TEST_F(Npz, ReadsWhatNumpyWrites) {
  for (const bool deflated : {false, true})
    for (const bool large : {false, true}) {
      ZipWriter zip(deflated, large);
      zip.add("a/f4.npy", npy_of<float>("<f4", "(2, 3)", kSix));
      zip.add("a/fortran.npy", npy_of<float>("<f4", "(2, 3)", {1, 4, 2, 5, 3, 6}, true));
      zip.add("f8.npy", npy_of<double>("<f8", "()", {0.1}));
      zip.add("i4.npy", npy_of<int32_t>("<i4", "(1,)", {-7}));
      zip.add("i8.npy", npy_of<int64_t>("<i8", "(2,)", {-2147483649, 2147483647}));
      zip.add("u4.npy", npy_of<uint32_t>("<u4", "(1,)", {4294967295u}));
      zip.add("i2.npy", npy_of<int16_t>("<i2", "(1,)", {-3}));
      zip.add("f2.npy", npy_of<uint16_t>("<f2", "(2,)", {0x3e00, 0xc000}));
      zip.add("u1.npy", npy_of<uint8_t>("|u1", "(2,)", {0, 255}));
      zip.add("b1.npy", npy_of<uint8_t>("|b1", "(3,)", {0, 1, 7}));
      zip.add("empty.npy", npy_of<float>("<f4", "(0, 3)", {}));
      const Tree tree = load(write(zip.file()));
      EXPECT_EQ(tree["a"]["f4"].tensor().to_vector<float>(), kSix);
      EXPECT_EQ(tree["a"]["fortran"].tensor().to_vector<float>(), kSix);
      EXPECT_EQ(tree["a"]["fortran"].tensor().shape(), Shape({2, 3}));
      EXPECT_EQ(tree["f8"].tensor().item<double>(), 0.1);
      EXPECT_EQ(tree["i4"].tensor().to_vector<int32_t>(), (std::vector<int32_t>{-7}));
      EXPECT_EQ(tree["i8"].tensor().spec().text(), "i64[2]");
      EXPECT_EQ(tree["i8"].tensor().to_vector<int64_t>(), (std::vector<int64_t>{-2147483649, 2147483647}));
      EXPECT_EQ(tree["u4"].tensor().to_vector<int64_t>(), (std::vector<int64_t>{4294967295}));
      EXPECT_EQ(tree["i2"].tensor().to_vector<int32_t>(), (std::vector<int32_t>{-3}));
      EXPECT_EQ(cast(tree["f2"].tensor(), DType::f32).to_vector<float>(), (std::vector<float>{1.5f, -2.0f}));
      EXPECT_EQ(tree["u1"].tensor().to_vector<uint8_t>(), (std::vector<uint8_t>{0, 255}));
      EXPECT_EQ(tree["b1"].tensor().spec().text(), "bool[3]");
      EXPECT_EQ(tree["b1"].tensor().to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 1}));
      EXPECT_EQ(tree["empty"].tensor().shape(), Shape({0, 3}));
    }
}

// The whole file, as the specifications of ZIP and NPY say it.
TEST_F(Npz, WritesWhatNumpyReads) {
  save({{"x", Tree{{"y", Tensor::from({1.5f, -2.0f}, {2})}}}}, path());
  std::ifstream stream(path(), std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), {});
  const std::string npy = npy_of<float>("<f4", "(2,)", {1.5f, -2.0f}), name = "x/y.npy";
  const auto n = [](uint64_t value, size_t bytes) { return ZipWriter::number(value, bytes); };
  const auto checksum = crc32(0, reinterpret_cast<const Bytef*>(npy.data()), static_cast<uInt>(npy.size()));
  const std::string common = n(20, 2) + n(0, 2) + n(0, 2) + n(0, 2) + n(0x21, 2) + n(checksum, 4) + n(npy.size(), 4) +
                             n(npy.size(), 4) + n(name.size(), 2) + n(0, 2);
  const std::string local = "PK\3\4" + common + name + npy;
  const std::string directory = "PK\1\2" + n(20, 2) + common + n(0, 2) + n(0, 2) + n(0, 2) + n(0, 4) + n(0, 4) + name;
  EXPECT_EQ(file, local + directory + "PK\5\6" + n(0, 4) + n(1, 2) + n(1, 2) + n(directory.size(), 4) +
                      n(local.size(), 4) + n(0, 2));
  EXPECT_EQ((npy.size() - 8) % 64, 0u);
}

TEST_F(Npz, WhatWasSavedIsLoaded) {
  const Tree tree{{"a", Tensor::from({1.0f, 2.0f}, {2})},
                  {"b", Tree{{"c", Tensor::from({1.5, -0.0}, {1, 2})},
                             {"d", Tensor::from({1, 2, 3}, {3})},
                             {"e", Tensor::from({uint8_t{7}}, {1})},
                             {"f", Tensor::scalar(true)},
                             {"g", Tensor::full(1.0 / 3, {2}, DType::f16)},
                             {"h", Tensor::full(0x1p40, {2}, DType::i64)}}}};
  save(tree, path());
  EXPECT_EQ(fingerprint(load(path())), fingerprint(tree));
  const Place place{"mine.cpp", 7};
  EXPECT_EQ(error_of([&] { save(Tree{{"x", Tensor::ones({2}, DType::bf16)}}, path(), place); }),
            "error[RT0474]: NPY has no type for the tensor \"x\"\n  where:    mine.cpp:7\n  got:      BF16\n"
            "  help:     save it in a file that ends in .safetensors, or cast(x, DType::f32)");
}

TEST_F(Npz, RefusesWhatItCannotRead) {
  const std::string good = ZipWriter().add("a.npy", npy_of<float>("<f4", "(2, 3)", kSix)).file();
  const std::string again = "\n  help:     fetch the file again, or write it anew with numpy.savez";
  const std::string archive = "the archive \"" + path() + "\" ";
  EXPECT_EQ(refusal("no"), "error[RT0656]: " + archive + "is no ZIP archive" + again);
  EXPECT_EQ(refusal(good.substr(0, good.size() - 1)), "error[RT0656]: " + archive + "is truncated" + again);
  std::string changed = good;
  changed[changed.find("PK\1\2") - 1] ^= 1;  // the last byte of the values
  EXPECT_EQ(refusal(changed), "error[RT0656]: " + archive + "has a damaged member \"a.npy\"" + again);
  std::string encrypted = good;
  encrypted[encrypted.find("PK\1\2") + 8] = 1;
  EXPECT_EQ(refusal(encrypted),
            "error[RT0657]: the member \"a.npy\" of the archive \"" + path() +
                "\" is encrypted\n  expected: members that are stored or deflated, as numpy.savez and "
                "numpy.savez_compressed write them");
  EXPECT_EQ(refusal(ZipWriter().add("notes.txt", "x").file()),
            "error[RT0658]: \"" + path() +
                "/notes.txt\" is no array\n  expected: members whose names end in .npy\n"
                "  help:     write the file with numpy.savez");
  EXPECT_EQ(refusal(ZipWriter().add("a.npy", npy_of<uint64_t>("<u8", "(2,)", {1, uint64_t{1} << 63})).file()),
            "error[RT0658]: the array \"" + path() +
                "/a.npy\" has a number that no tensor holds\n  got:      9223372036854775807 or more at element 1\n"
                "  expected: less than 9223372036854775807\n  help:     save it as floating-point numbers");
  const std::string twice = npy_of<float>("<f4", "()", {1});
  EXPECT_TRUE(says(refusal(ZipWriter().add("a.npy", twice).add("a.npy", twice).file()), "is there twice"));
  EXPECT_TRUE(says(refusal(ZipWriter().add("a.npy", "no array").file()), "does not begin like an NPY file"));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(refusal(good.substr(0, size)), "no error") << size;
}

// A change of any byte is an error, or changes nothing that is read.
TEST_F(Npz, FindsChangesOfValues) {
  const Tree tree{{"a", Tensor::from(kSix, {2, 3})}};
  const std::string good = ZipWriter(true).add("a.npy", npy_of<float>("<f4", "(2, 3)", kSix)).file();
  for (size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] ^= 0x40;
    try {
      const Tree read = load(write(changed));
      for (const auto& [name, tensor] : leaves(read)) EXPECT_EQ(tensor.to_vector<float>(), kSix) << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_data) << at;
    }
  }
}

}  // namespace
}  // namespace retrace

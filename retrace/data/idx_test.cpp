#include "retrace/data/idx.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "retrace/base/file.h"
#include "retrace/data/gzip.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using namespace std::string_literals;

template <class T>
IdxArray array_of(const std::vector<T>& values, const Shape& shape) {
  IdxArray array{dtype_of<T>(), shape, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

// The text of the error that `bytes` give, checked to be bad data that names the file.
std::string refusal(std::string_view bytes, uint64_t limit = kIdxLimit) {
  try {
    parse_idx(bytes, "some.idx", limit);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_data);
    EXPECT_NE(error.message().find("IDX file \"some.idx\" "), std::string::npos);
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const std::string kSmall = "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"s + "abcdef"s;

TEST(Idx, ReadsU8) {
  const IdxArray array = parse_idx(kSmall, "some.idx");
  EXPECT_EQ(array.type, DType::u8);
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  EXPECT_EQ(std::vector<uint8_t>(array.values<uint8_t>().begin(), array.values<uint8_t>().end()),
            (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
}

TEST(Idx, BigEndianValues) {
  const IdxArray ints = parse_idx("\0\0\x0c\x01\0\0\0\x02\0\0\x01\x02\xff\xff\xff\xfe"s, "i");
  EXPECT_EQ(ints.values<int32_t>()[0], 258);
  EXPECT_EQ(ints.values<int32_t>()[1], -2);
  const IdxArray floats = parse_idx("\0\0\x0d\x01\0\0\0\x01\x3f\xc0\0\0"s, "f");
  EXPECT_EQ(floats.values<float>()[0], 1.5f);
  const IdxArray doubles = parse_idx("\0\0\x0e\x01\0\0\0\x01\xc0\x04\0\0\0\0\0\0"s, "d");
  EXPECT_EQ(doubles.values<double>()[0], -2.5);
}

template <class T>
void check_round_trip(const std::vector<T>& values, const Shape& shape) {
  const IdxArray array = array_of(values, shape);
  for (const std::string& bytes : {idx_bytes(array), gzip(idx_bytes(array))}) {
    const IdxArray back = parse_idx(bytes, "some.idx");
    EXPECT_EQ(back.type, array.type);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.bytes, array.bytes);
  }
}

TEST(Idx, RoundTripsEveryTypePlainAndCompressed) {
  check_round_trip<uint8_t>({0, 1, 128, 255}, {2, 2});
  check_round_trip<int32_t>({0, -1, INT32_MIN, INT32_MAX, 7, 8}, {1, 2, 3});
  check_round_trip<float>({0.0f, -0.0f, 1e-45f, 3.4e38f}, {4});
  check_round_trip<double>({0.1, -5e-324}, {1, 1, 1, 1, 1, 1, 1, 2});
  check_round_trip<uint8_t>({}, {0, 28, 28});
  check_round_trip<uint8_t>(std::vector<uint8_t>(300000, 7), {300, 1000});
}

TEST(Idx, TruncatedFilesAreRefusedAtEveryLength) {
  for (size_t length = 0; length < kSmall.size(); ++length) {
    const std::string text = refusal(std::string_view(kSmall).substr(0, length));
    EXPECT_TRUE(says(text, "is truncated")) << text;
    EXPECT_TRUE(says(text, std::to_string(length) + " bytes")) << text;
  }
  const std::string text = refusal(std::string_view(kSmall).substr(0, 14));
  EXPECT_TRUE(says(text, "18 bytes: a header of 12 and 6 for u8[2,3]")) << text;
  const std::string packed = gzip(kSmall);
  for (size_t length = 0; length < packed.size(); ++length)
    EXPECT_NE(refusal(std::string_view(packed).substr(0, length)), "accepted") << length;
}

TEST(Idx, SurplusBytesAreRefused) {
  const std::string text = refusal(kSmall + "g");
  EXPECT_TRUE(says(text, "has bytes after its values")) << text;
  EXPECT_TRUE(says(text, "19 bytes") && says(text, "18 bytes")) << text;
  EXPECT_TRUE(says(refusal(gzip(kSmall + "g")), "has bytes after its values"));
  EXPECT_TRUE(says(refusal(gzip(kSmall) + "g"), "other bytes follow the compressed ones"));
  EXPECT_TRUE(says(refusal(gzip(kSmall) + gzip("g")), "has bytes after its values"));
}

TEST(Idx, GzipMembersMayFollowEachOther) {
  const std::string bytes = gzip(kSmall.substr(0, 7)) + gzip("") + gzip(kSmall.substr(7));
  EXPECT_EQ(parse_idx(bytes, "some.idx").bytes.size(), 6u);
}

TEST(Idx, WrongHeadersAreRefused) {
  EXPECT_TRUE(says(refusal("\x89PNG\r\n\x1a\n"s), "does not begin like an IDX file"));
  EXPECT_TRUE(says(refusal("\0\0\x0b\x01\0\0\0\x01\0\0"s), "element type 0x0b"));
  EXPECT_TRUE(says(refusal("\0\0\x08\0"s), "declares 0 axes"));
  EXPECT_TRUE(says(refusal("\0\0\x08\xff"s), "declares 255 axes"));
  EXPECT_TRUE(says(refusal("\0\0\x08\x09"s + std::string(45, '\1')), "1 to 8 axes"));
}

TEST(Idx, HugeSizesAreRefusedWithoutMemory) {
  const std::string many = "\0\0\x0e\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s;
  EXPECT_TRUE(says(refusal(many), "declares more values than are read"));
  // A size of 0 does not hide the others.
  EXPECT_TRUE(says(refusal("\0\0\x08\x03\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"s), "declares more values"));
  // Within the limit, but more than the file can hold.
  const std::string large = "\0\0\x08\x01\xef\xff\xff\xff"s;
  EXPECT_TRUE(says(refusal(large + "abc"), "is truncated"));
  EXPECT_TRUE(says(refusal(gzip(large + "abc")), "is truncated"));
  EXPECT_TRUE(says(refusal(kSmall, 5), "at most 5 bytes"));
}

TEST(Idx, ABombIsNotUnpacked) {
  // 64 MiB of zeros behind a header that declares 6 bytes.
  const std::string bomb = gzip(kSmall + std::string(size_t{64} << 20, '\0'));
  EXPECT_LT(bomb.size(), 100000u);
  EXPECT_TRUE(says(refusal(bomb), "more than 18 bytes after decompression"));
  // What gzip can pack into the file at most is told as such.
  const std::string large = gzip("\0\0\x08\x02\0\1\0\0\0\1\0\0"s);
  const std::string bound = std::to_string(large.size()) + " bytes, in which gzip can pack " +
                            std::to_string(large.size() * kGzipRatio) + " at most";
  EXPECT_TRUE(says(refusal(large, uint64_t{1} << 33), bound)) << refusal(large, uint64_t{1} << 33);
}

TEST(Idx, AWrongChecksumIsRefused) {
  std::string bytes = gzip(kSmall);
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);
  EXPECT_TRUE(says(refusal(bytes), "incorrect data check"));
}

TEST(Idx, FilesWholeAndMissing) {
  const TemporaryFolder folder;
  const IdxArray array = array_of<float>({1.0f, 2.0f}, {2});
  write_idx(folder / "angles.idx", array);
  write_idx(folder / "angles.idx.gz", array);
  EXPECT_FALSE(is_gzip(read_file(folder / "angles.idx", "IDX file", 1000)));
  EXPECT_TRUE(is_gzip(read_file(folder / "angles.idx.gz", "IDX file", 1000)));
  EXPECT_EQ(read_idx(folder / "angles.idx").bytes, array.bytes);
  EXPECT_EQ(read_idx(folder / "angles.idx.gz").bytes, array.bytes);
  try {
    read_idx(folder / "angels.idx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::missing);
    EXPECT_TRUE(says(error.what(), "angles.idx\"?")) << error.what();
  }
}

TEST(Idx, WhatTheFormatCannotSayIsRefused) {
  EXPECT_THROW(idx_bytes({DType::boolean, {1}, std::vector<std::byte>(1)}), Error);
  EXPECT_THROW(idx_bytes({DType::u8, {}, std::vector<std::byte>(1)}), Error);
}

}  // namespace
}  // namespace retrace

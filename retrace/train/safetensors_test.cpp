#include "retrace/train/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::initializer_list<float> values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

std::string with_length(const std::string& header, const std::string& data = "") {
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + header + data;
}

SafeTensors parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file.data(), file.size())), "weights.safetensors");
}

// The text of the error for a file, "" if it is accepted.
std::string refusal(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_data);
    return error.what();
  }
  return "";
}

class SafetensorsTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

SafeTensors sample() {
  return {.tensors = {{"parameters/conv2d_1/weights", "F32", {1, 3}, bytes_of({1.5f, -0.0f, 3.0f})},
                      {"mask", "U8", {3}, {std::byte{1}, std::byte{0}, std::byte{1}}},
                      {"empty", "F32", {4, 0, 2}, {}},
                      {"counter", "I64", {}, std::vector<std::byte>(8, std::byte{7})}},
          .metadata = {{"contract", "1"}, {"quote", "a\"b\\c \xe2\x82\xac"}}};
}

TEST_F(SafetensorsTest, WritesAndReadsBack) {
  const fs::path path = folder_ / "weights.safetensors";
  write_safetensors(path, sample());
  const SafeTensors read = read_safetensors(path);
  EXPECT_EQ(read.metadata, sample().metadata);
  ASSERT_EQ(read.tensors.size(), 4u);
  for (const auto& wanted : sample().tensors) {
    const SafeTensor* found = read.find(wanted.name);
    ASSERT_NE(found, nullptr) << wanted.name;
    EXPECT_EQ(found->type, wanted.type);
    EXPECT_EQ(found->shape, wanted.shape);
    EXPECT_EQ(found->bytes, wanted.bytes);
  }
  EXPECT_EQ(read.find("absent"), nullptr);
}

TEST_F(SafetensorsTest, EqualContentGivesEqualAlignedBytes) {
  SafeTensors reversed = sample();
  std::reverse(reversed.tensors.begin(), reversed.tensors.end());
  write_safetensors(folder_ / "a", sample());
  write_safetensors(folder_ / "b", reversed);
  const std::string bytes = read_file(folder_ / "a", "file", 10000);
  EXPECT_EQ(bytes, read_file(folder_ / "b", "file", 10000));
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0);
  EXPECT_EQ(read_safetensors(folder_ / "a").tensors[0].name, "counter");  // widest first keeps alignment
}

TEST_F(SafetensorsTest, WriterRefusesWhatNoReaderWouldAccept) {
  const auto refuse = [&](SafeTensor tensor, const std::string& part) {
    try {
      write_safetensors(folder_ / "x", {.tensors = {tensor}, .metadata = {}});
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refuse({"x", "F32", {2}, bytes_of({1})}, "do not match its shape");
  refuse({"x", "F33", {1}, bytes_of({1})}, "unknown type");
  refuse({"a/../b", "F32", {1}, bytes_of({1})}, "\"..\"");
  refuse({"", "F32", {1}, bytes_of({1})}, "name is empty");
  refuse({"\xff", "F32", {1}, bytes_of({1})}, "UTF-8");
  refuse({"x", "F32", {-1}, {}}, "bad shape");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
  SafeTensors twice = {.tensors = {sample().tensors[0], sample().tensors[0]}, .metadata = {}};
  EXPECT_THROW(write_safetensors(folder_ / "x", twice), Error);
}

TEST_F(SafetensorsTest, ErrorsNameTheFileOnDisk) {
  const fs::path path = folder_ / "broken.safetensors";
  std::ofstream(path) << "short";
  try {
    read_safetensors(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("broken.safetensors\" is damaged: it is too short"), std::string::npos);
  }
  EXPECT_THROW(read_safetensors(folder_ / "absent"), Error);
  EXPECT_THROW(read_safetensors(folder_), Error);
}

TEST(Safetensors, AcceptsTheFormatsCorners) {
  EXPECT_EQ(parse(with_length("{}")).tensors.size(), 0u);
  EXPECT_EQ(parse(with_length("{}     ")).tensors.size(), 0u);
  EXPECT_EQ(parse(with_length(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", "abcd")).tensors.size(), 1u);
  // Listed in another order than stored; an empty tensor between two others; fields in any order.
  const auto read = parse(with_length(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
                                      R"("e":{"shape":[0],"data_offsets":[1,1],"dtype":"F64"},)"
                                      R"("a":{"data_offsets":[0,1],"dtype":"I8","shape":[1]}})",
                                      "xyz"));
  ASSERT_EQ(read.tensors.size(), 3u);
  EXPECT_EQ(read.tensors[0].name, "a");
  EXPECT_EQ(read.tensors[1].name, "e");
  EXPECT_EQ(read.tensors[2].bytes[1], std::byte{'z'});
}

struct BadHeader {
  std::string header, data, part;
};

TEST(Safetensors, RefusesBadHeadersByName) {
  const std::string four = "abcd";
  const auto tensor = [](const std::string& fields) { return "{\"w\":{" + fields + "}}"; };
  const BadHeader cases[] = {
      {"[]", "", "does not begin with {"},
      {" {}", "", "does not begin with {"},
      {"\xef\xbb\xbf{}", "", "does not begin with {"},
      {"{", "", "no valid JSON"},
      {"{}x", "", "no valid JSON"},
      {"{\"\xff\":1}", "", "no valid JSON"},
      {"{}", "x", "1 bytes follow the last tensor"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4]),"w":{"dtype":"F32")"), four, "no valid JSON"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       four, "tensor \"w\": the name appears twice"},
      {tensor(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), four, "\"dtype\" appears twice"},
      {tensor(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"), four, "tensor \"w\": unknown type"},
      {tensor(R"("dtype":"F32","shape":[1])"), four, "data_offsets is missing"},
      {tensor(R"("shape":[1],"data_offsets":[0,4])"), four, "dtype is missing"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"code":"rm")"), four, "unknown field \"code\""},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), four, "ends before it begins"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])"), four, "ends after the data"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,3])"), four, "do not match its shape"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), four, "needs two numbers"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,4])"), four, "more than two data_offsets"},
      {tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), four, "a negative number"},
      {tensor(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), four, "no 64-bit integer"},
      {tensor(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4])"), four, "no 64-bit integer"},
      {tensor(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"), four, "too large"},
      {tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4])"), four, "overflows"},
      {tensor(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), four, "a list"},
      {tensor(R"("dtype":"F32","shape":null,"data_offsets":[0,4])"), four, "null"},
      {tensor(R"("dtype":1,"shape":[1],"data_offsets":[0,4])"), four, "a number"},
      {R"({"w":7})", "", "a number"},
      {R"({"w":"text"})", "", "a text"},
      {R"({"__metadata__":{"a":{"b":"c"}}})", "", "an object"},
      {R"({"__metadata__":{"a":1}})", "", "a number"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "", "\"a\" appears twice"},
      {R"({"a\u0000b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "", "control character"},
      {R"({"../b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "", "\"..\""},
      {R"({"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "", "empty"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
       four, "tensor \"b\": it overlaps"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       four, "tensor \"b\": a hole of 1 bytes"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})", four, "a hole of 1 bytes"},
  };
  for (const auto& one : cases) {
    const std::string text = refusal(with_length(one.header, one.data));
    EXPECT_NE(text.find(one.part), std::string::npos) << one.header << "\n" << text;
    EXPECT_NE(text.find("weights.safetensors"), std::string::npos);
  }
}

TEST(Safetensors, RefusesBadLengths) {
  EXPECT_NE(refusal("").find("too short"), std::string::npos);
  EXPECT_NE(refusal("\1\0\0").find("too short"), std::string::npos);
  EXPECT_NE(refusal(std::string(8, '\0')).find("does not begin"), std::string::npos);
  EXPECT_NE(refusal(std::string(8, '\xff')).find("end after the file"), std::string::npos);
  EXPECT_NE(refusal(with_length("{}").substr(0, 9)).find("end after the file"), std::string::npos);
  EXPECT_NE(refusal(with_length("{" + std::string(100'000'000, ' '))).find("too long"), std::string::npos);
}

TEST(Safetensors, SurvivesDeepNestingAndEveryTruncation) {
  EXPECT_NE(refusal(with_length("{\"a\":" + std::string(2'000'000, '['))).find("a list"), std::string::npos);
  std::string deep = "{\"a\":";
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  EXPECT_FALSE(refusal(with_length(deep)).empty());
  const std::string good = with_length(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd");
  EXPECT_EQ(refusal(good), "");
  for (size_t length = 0; length < good.size(); ++length) EXPECT_NE(refusal(good.substr(0, length)), "") << length;
}

}  // namespace
}  // namespace retrace

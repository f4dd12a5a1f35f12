#include "retrace/cloud/s3_location.h"

#include <gtest/gtest.h>

#include "tests/error_testing.h"

namespace retrace {
namespace {

TEST(S3Location, IsABucketAndAKey) {
  const auto parts = [](const char* text) {
    const S3Location location = parse_s3(text);
    return location.bucket + "|" + location.key + "|" + location.text();
  };
  EXPECT_EQ(parts("s3://my-bucket.2/a b/c"), "my-bucket.2|a b/c|s3://my-bucket.2/a b/c");
  EXPECT_EQ(parts("s3://abc"), "abc||s3://abc");
  EXPECT_EQ(parts("s3://abc//x/"), "abc|x/|s3://abc/x/");
  EXPECT_TRUE(is_s3("s3://x"));
  EXPECT_FALSE(is_s3("S3://x"));
  EXPECT_FALSE(is_s3("folder/s3://x"));
}

TEST(S3Location, OtherNamesAreRefused) {
  for (const char* text : {"s3://", "s3:///key", "s3://ab", "s3://Upper", "s3://a_b", "s3://-ab", "s3://ab.",
                           "s3://a b c", "s3://user:password@abc/x", "folder"})
    EXPECT_THROW(parse_s3(text), Error) << text;
}

TEST(S3Location, NamesAreEncodedForUrls) {
  const std::string name = "a b/\xc3\xbc+1%?&=#~-._";
  EXPECT_EQ(url_encoded(name, false), "a%20b/%C3%BC%2B1%25%3F%26%3D%23~-._");
  EXPECT_EQ(url_encoded(name, true), "a%20b%2F%C3%BC%2B1%25%3F%26%3D%23~-._");
  EXPECT_EQ(url_decoded(url_encoded(name, true)), name);
  EXPECT_EQ(url_decoded("a+b%2Bc%zz%4"), "a b+c%zz%4");
}

}  // namespace
}  // namespace retrace

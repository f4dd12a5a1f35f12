// A client of object storage beside a server that computes each signature again.
#include "retrace/cloud/s3_bucket.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/error_testing.h"
#include "tests/s3_testing.h"

namespace retrace {
namespace {

constexpr S3Options kQuick{.tries = 4, .wait = 0.01, .longest = 1.5, .stall = 1, .part = 5 << 20};

class S3BucketTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.runs()) GTEST_SKIP() << "botocore is not installed (package python3-botocore)";
    server_.put("bucket", "first", "content");
  }
  S3Bucket bucket() const { return S3Bucket("bucket", kQuick); }
  S3Object first() const { return bucket().find("first").value(); }
  std::string get_first() const {
    const S3Object object = first();
    return error_of([&] { EXPECT_EQ(bucket().get(object), "content"); });
  }

  S3Server server_;
};

TEST_F(S3BucketTest, ObjectsOfAnyNameAreWrittenListedAndRead) {
  const S3Bucket bucket = this->bucket();
  const std::vector<std::string> keys = {"a",       "a b+c", "a/../b", "a//b", "b/\xc3\xbc\xe2\x82\xac",
                                         "c&<>\"'", "d%20e", "e?x=1#y"};
  for (const auto& key : keys) bucket.put(key, "of " + key);
  std::vector<std::string> found;
  for (const auto& object : bucket.list("")) {
    if (object.key == "first") continue;
    found.push_back(object.key);
    EXPECT_EQ(bucket.get(object), "of " + object.key);
  }
  EXPECT_EQ(found, keys);
  EXPECT_EQ(bucket.list("a ").size(), 1u);
  EXPECT_EQ(bucket.get(first(), 2, 3), "nte");
  for (const auto& key : keys) bucket.remove(key);
  EXPECT_EQ(bucket.list("").size(), 1u);
  EXPECT_FALSE(bucket.find("firs"));
  bucket.put("empty", "");
  EXPECT_EQ(bucket.get(*bucket.find("empty")), "");
}

// Names with what must be encoded, and pages that do not come at once.
TEST_F(S3BucketTest, ListsGoOnBeyondAThousand) {
  server_.tell("many", "bucket many/a+\xc3\xbc%20&= 5000");
  server_.faults(R"([{"match": "continuation-token", "status": 503, "code": "SlowDown"},
                     {"match": "continuation-token", "truncate": true}, {"match": "continuation-token", "stall": 3}])");
  const auto objects = bucket().list("many/a+");
  ASSERT_EQ(objects.size(), 5000u);
  EXPECT_EQ(objects.back().key, "many/a+\xc3\xbc%20&=04999.png");
  EXPECT_EQ(server_.requests("GET /bucket?"), 8);
  EXPECT_EQ(bucket().get(objects[4321]), "x");
  EXPECT_EQ(bucket().list("many/", 10).size(), 10u);
}

TEST_F(S3BucketTest, LargeObjectsAreWrittenInParts) {
  std::string large(12 << 20, 'x');
  large[6 << 20] = 'y';
  bucket().put("large", large);
  EXPECT_EQ(server_.requests("PUT /bucket/large?partNumber="), 3);
  EXPECT_EQ(bucket().get(*bucket().find("large")), large);
  // The last answer has the status 200, and an error in it; its upload is ended.
  server_.faults(
      R"([{"match": "POST /bucket/x?uploadId", "body": "<Error><Code>InternalError</Code></Error>", "count": 9}])");
  EXPECT_TRUE(says(error_of([&] { bucket().put("x", large); }), "InternalError"));
  EXPECT_EQ(server_.requests("DELETE /bucket/x?uploadId"), 1);
  EXPECT_FALSE(bucket().find("x"));
}

TEST_F(S3BucketTest, ErrorsThatPassAreTriedAgain) {
  for (const char* fault :
       {R"({"status": 500})", R"({"status": 503, "code": "SlowDown", "count": 3})", R"({"status": 429})",
        R"({"status": 408})", R"({"truncate": true})", R"({"shorten": true})", R"({"close": true, "count": 2})",
        R"({"lengthen": true})", R"({"stall": 3})", R"({"wait": 3})", R"({"status": 400, "code": "RequestTimeout"})"}) {
    const S3Object object = first();
    server_.faults("[" + std::string(fault) + "]");
    EXPECT_EQ(error_of([&] { EXPECT_EQ(bucket().get(object), "content"); }), "no error") << fault;
    EXPECT_EQ(server_.tell("faults", "[]"), "");
  }
}

// An object is written whole, or as it was.
TEST_F(S3BucketTest, WritesAreTriedAgain) {
  const std::string large(6 << 20, 'y');
  for (const char* fault : {R"({"status": 500})", R"({"status": 503, "headers": {"Retry-After": "1"}, "count": 2})",
                            R"({"close": true})", R"({"wait": 3})", R"({"status": 400, "code": "RequestTimeout"})"}) {
    const std::string content = "of " + std::string(fault);
    server_.faults("[" + std::string(fault) + "]");
    EXPECT_EQ(error_of([&] { bucket().put("a +\xc3\xbc", content); }), "no error") << fault;
    EXPECT_EQ(bucket().get(*bucket().find("a +\xc3\xbc")), content);
  }
  for (const char* part : {"uploads=", "partNumber=1", "partNumber=2", "POST /bucket/large?uploadId"}) {
    server_.faults(R"([{"match": ")" + std::string(part) + R"(", "status": 503, "code": "SlowDown"}])");
    EXPECT_EQ(error_of([&] { bucket().put("large", large); }), "no error") << part;
    EXPECT_EQ(bucket().get(*bucket().find("large")), large);
    bucket().remove("large");
  }
  server_.faults(R"([{"match": "partNumber=2", "status": 403, "code": "AccessDenied"}])");
  EXPECT_TRUE(says(error_of([&] { bucket().put("large", large); }), "s3:PutObject"));
  EXPECT_FALSE(bucket().find("large"));
  server_.faults(R"([{"match": "PUT", "status": 500, "count": 99}])");
  EXPECT_TRUE(says(error_of([&] { bucket().put("first", "another"); }), "RT0686"));
  server_.faults("[]");
  EXPECT_EQ(get_first(), "no error");
  EXPECT_TRUE(says(error_of([] { S3Bucket("absent", kQuick).put("x", "y"); }),
                   "the bucket of \"s3://absent/x\" does not exist"));
}

TEST_F(S3BucketTest, TheServerSaysHowLongToWait) {
  const S3Object object = first();
  server_.faults(R"([{"status": 503, "headers": {"Retry-After": "1"}}])");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(bucket().get(object), "content");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_F(S3BucketTest, ErrorsThatStayAreSaid) {
  const S3Object object = first();
  const auto of_get = [&] { return error_of([&] { bucket().get(object); }); };
  server_.faults(R"([{"status": 500, "count": 99}])");
  EXPECT_EQ(of_get(),
            "error[RT0686]: object storage does not answer for \"s3://bucket/first\"\n"
            "  got:      status 500, InternalError: a fault of the test, 4 times\n"
            "  help:     check the network and AWS_ENDPOINT_URL; a run goes on from its last checkpoint with --resume");
  server_.faults(R"([{"shorten": true, "count": 99}])");
  EXPECT_TRUE(says(of_get(), "6 bytes in place of 7"));
  server_.faults(R"([{"status": 403, "code": "AccessDenied"}])");
  EXPECT_EQ(of_get(),
            "error[RT0685]: object storage refuses \"s3://bucket/first\"\n"
            "  got:      status 403, AccessDenied: a fault of the test\n"
            "  help:     these keys need the rights s3:ListBucket and s3:GetObject (s3:PutObject to write)");
  server_.faults("[]");
  server_.put("bucket", "first", "another");
  EXPECT_EQ(of_get(),
            "error[RT0688]: \"s3://bucket/first\" has changed since it was listed\n"
            "  help:     start again when nobody writes there; a run's data stay as they are while it goes on");
  bucket().remove("first");
  EXPECT_EQ(of_get(), "error[RT0684]: \"s3://bucket/first\" does not exist\n  got:      status 404, NoSuchKey");
  EXPECT_TRUE(
      says(error_of([] { S3Bucket("absent", kQuick).list(""); }), "the bucket of \"s3://absent\" does not exist"));
}

TEST_F(S3BucketTest, ListsThatCannotBeUnderstoodAreSaid) {
  for (const char* body :
       {"hello", "<html/>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size><ETag>x</ETag></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
        "<!DOCTYPE x [<!ENTITY a 'aaaa'>]><ListBucketResult/>"}) {
    server_.faults(R"([{"body": ")" + std::string(body) + "\"}]");
    EXPECT_TRUE(says(error_of([&] { bucket().list(""); }), "RT0687")) << body;
  }
}

TEST_F(S3BucketTest, RegionsAreFoundAndSecretsAreNotSaid) {
  server_.environment.set("AWS_REGION", "us-east-1");
  EXPECT_EQ(get_first(), "no error");
  server_.environment.set("AWS_SECRET_ACCESS_KEY", "wrong/hidden");
  const std::string text = error_of([&] { bucket().list(""); });
  EXPECT_TRUE(says(text, "SignatureDoesNotMatch"));
  EXPECT_TRUE(says(text, "check AWS_SECRET_ACCESS_KEY"));
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  server_.environment.set("AWS_ACCESS_KEY_ID", "OTHER");
  EXPECT_TRUE(says(error_of([&] { bucket().list(""); }), "check AWS_ACCESS_KEY_ID"));
}

TEST_F(S3BucketTest, NoAnswerLeadsToAnotherServer) {
  for (const char* region : {"evil.example/", "eu@evil.example", "", "EU"}) {
    server_.faults(R"([{"status": 301, "code": "PermanentRedirect", "headers": {"x-amz-bucket-region": ")" +
                   std::string(region) + R"(", "Location": "http://127.0.0.1:1/"}}])");
    EXPECT_TRUE(says(error_of([&] { bucket().list(""); }), "status 301, PermanentRedirect")) << region;
  }
}

TEST_F(S3BucketTest, TokensThatHaveExpiredAreReadAnew) {
  server_.environment.set("AWS_SESSION_TOKEN", "one+/=");
  server_.tell("token", "one+/=");
  const S3Bucket bucket = this->bucket();
  EXPECT_EQ(bucket.list("").size(), 1u);
  server_.tell("token", "two");
  EXPECT_TRUE(says(error_of([&] { bucket.list(""); }), "get new keys of a session"));
  server_.environment.set("AWS_SESSION_TOKEN", "two");
  EXPECT_EQ(bucket.list("").size(), 1u);
}

TEST_F(S3BucketTest, ServersThatAreNotThereAreSaid) {
  server_.environment.set("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
  EXPECT_TRUE(says(error_of([&] { bucket().list(""); }), "RT0686"));
  server_.environment.set("AWS_ENDPOINT_URL", "https://127.0.0.1:" + server_.url().substr(17));
  EXPECT_TRUE(says(error_of([&] { bucket().list(""); }), "SSL"));
}

TEST_F(S3BucketTest, ThreadsShareABucket) {
  server_.tell("many", "bucket many/ 200");
  const S3Bucket bucket("bucket", {.tries = 30, .wait = 0.01});  // one thread may meet all faults
  const auto objects = bucket.list("many/");
  server_.faults(R"([{"status": 503, "count": 20}])");
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (const auto& object : objects) good += bucket.get(object) == "x";
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 800);
}

}  // namespace
}  // namespace retrace

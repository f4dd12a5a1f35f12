#include "retrace/web/http_message.h"

#include <gtest/gtest.h>

#include "retrace/web/page_files.h"

namespace retrace {
namespace {

// Without Boost there is no reader.
class Requests : public testing::Test {
  void SetUp() override {
    if (page_files().empty()) GTEST_SKIP() << "built without the page";
  }
};

TEST_F(Requests, AreReadInAnyPieces) {
  const std::string text =
      "POST /api/note?run=1&name=validation%2Faccuracy+x HTTP/1.1\r\nHost: localhost:6006\r\nCookie: a=b\r\n"
      "Origin: http://localhost:6006\r\nX-Retrace: 1\r\nContent-Length: 5\r\n\r\nhello";
  for (size_t piece : {size_t{1}, size_t{7}, text.size()}) {
    RequestReader reader;
    EXPECT_FALSE(reader.within());
    for (size_t i = 0; i < text.size(); i += piece)
      EXPECT_EQ(reader.take(std::string_view(text).substr(i, piece)), i + piece >= text.size());
    ASSERT_EQ(reader.refusal(), 0);
    const WebRequest request = reader.request();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/api/note");
    EXPECT_EQ(request.parameter("run"), "1");
    EXPECT_EQ(request.parameter("name"), "validation/accuracy x");
    EXPECT_EQ(request.parameter("none"), "");
    EXPECT_EQ(request.host, "localhost:6006");
    EXPECT_EQ(request.origin, "http://localhost:6006");
    EXPECT_EQ(request.cookie, "a=b");
    EXPECT_EQ(request.marker, "1");
    EXPECT_EQ(request.body, "hello");
    EXPECT_TRUE(request.keep_alive);
    EXPECT_FALSE(reader.within());
  }
}

TEST_F(Requests, FollowEachOther) {
  RequestReader reader;
  ASSERT_TRUE(reader.take("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.0\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(reader.request().path, "/a");
  ASSERT_TRUE(reader.take(""));
  const WebRequest second = reader.request();
  EXPECT_EQ(second.path, "/b");
  EXPECT_FALSE(second.keep_alive);
  EXPECT_FALSE(reader.take(""));
}

TEST_F(Requests, OfTooManyBytesAreRefused) {
  const auto refusal = [](const std::string& text) {
    RequestReader reader;
    return reader.take(text) ? reader.refusal() : 0;
  };
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'a')), 431);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nContent-Length: 70000\r\n\r\n"), 413);
  EXPECT_EQ(refusal("nothing\r\n\r\n"), 400);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nST'I"), 400);
  EXPECT_EQ(refusal("GET / HT"), 0);
}

TEST(WebText, IsDecoded) {
  EXPECT_EQ(decoded("a%20b+c%2f"), "a b c/");
  EXPECT_EQ(decoded("%"), "%");
  EXPECT_EQ(decoded("%4"), "%4");
  EXPECT_EQ(decoded("%zz%41"), "%zzA");
}

TEST(Responses, SayTheirLengthAndWhatABrowserMayDo) {
  const std::string text = response_bytes({.status = 404, .body = "none\n"}, true);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_NE(text.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_NE(text.find("Content-Security-Policy: default-src 'self'"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\nnone\n"));
  EXPECT_TRUE(response_bytes({.body = "none\n"}, false, true).ends_with("Connection: close\r\n\r\n"));
  EXPECT_EQ(response_bytes({.stream = true}, true).find("Content-Length"), std::string::npos);
}

}  // namespace
}  // namespace retrace

#include "retrace/web/access.h"

#include <gtest/gtest.h>

namespace retrace {
namespace {

WebRequest get(const std::string& path, const std::string& host, const std::string& cookie = "") {
  WebRequest request;
  request.method = "GET", request.path = path, request.host = host, request.cookie = cookie;
  return request;
}

// "retrace-...=TOKEN"
std::string cookie_of(const Access& access) {
  WebRequest request = get("/", "localhost:1");
  request.query["token"] = access.token();
  const auto answer = access.check(request);
  EXPECT_TRUE(answer && answer->status == 303);
  for (const auto& [name, value] : answer->headers)
    if (name == "Set-Cookie") return value.substr(0, value.find(';'));
  return "";
}

int status(const Access& access, const WebRequest& request) {
  const auto answer = access.check(request);
  return answer ? answer->status : 200;
}

TEST(Access, TheTokenBecomesACookie) {
  const Access access(false), other(false);
  EXPECT_NE(access.token(), other.token());
  EXPECT_EQ(access.token().size(), 32u);
  const std::string cookie = cookie_of(access);
  EXPECT_EQ(status(access, get("/", "127.0.0.1:6006", cookie)), 200);
  EXPECT_EQ(status(access, get("/", "127.0.0.1:6006", "x=y; " + cookie)), 200);
  EXPECT_EQ(status(access, get("/", "127.0.0.1:6006", cookie_of(other))), 403);
  EXPECT_EQ(status(access, get("/", "127.0.0.1:6006", cookie + "0")), 403);
  EXPECT_EQ(status(access, get("/", "127.0.0.1:6006")), 403);
}

TEST(Access, NamesOfOtherSitesAreRefused) {
  const Access access(false);
  const std::string cookie = cookie_of(access);
  for (const char* host : {"localhost", "localhost:80", "127.0.0.1", "[::1]:6006", "[::1]"})
    EXPECT_EQ(status(access, get("/", host, cookie)), 200) << host;
  for (const char* host :
       {"", "evil.example", "localhost.evil.example", "192.168.1.2", "[::2]", "127.0.0.2", "localhos"})
    EXPECT_EQ(status(access, get("/", host, cookie)), 403) << host;
  const Access everywhere(true);
  EXPECT_EQ(status(everywhere, get("/", "192.168.1.2:6006", cookie_of(everywhere))), 200);
  EXPECT_EQ(status(everywhere, get("/", "evil.example", cookie_of(everywhere))), 403);
}

TEST(Access, OnlyThePageItselfChangesAnything) {
  const Access access(false);
  WebRequest request = get("/api/stop", "localhost:6006", cookie_of(access));
  request.method = "POST";
  EXPECT_EQ(status(access, request), 403);
  request.marker = "1";
  EXPECT_EQ(status(access, request), 403);
  request.origin = "http://evil.example";
  EXPECT_EQ(status(access, request), 403);
  request.origin = "http://localhost:6006";
  EXPECT_EQ(status(access, request), 200);
  request.marker = "";
  EXPECT_EQ(status(access, request), 403);
  request.method = "DELETE";
  EXPECT_EQ(status(access, request), 405);
}

}  // namespace
}  // namespace retrace

#include "retrace/web/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>
#include <thread>

#include "retrace/base/file.h"
#include "retrace/web/page_files.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

FileDescriptor connect_to(int port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_port = htons(static_cast<uint16_t>(port)),
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// What comes until `end`, or until the server closes.
std::string read_until(int socket, const std::string& end) {
  std::string text;
  char bytes[4096];
  while (text.find(end) == std::string::npos) {
    const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
    if (count <= 0) break;
    text.append(bytes, static_cast<size_t>(count));
  }
  return text;
}

class Server : public testing::Test {
  void SetUp() override {
    if (page_files().empty()) GTEST_SKIP() << "built without the page";
  }
};

TEST_F(Server, AnswersManyAtOnce) {
  std::atomic<int> calls{0};
  const HttpServer server({}, [&](const WebRequest& request) {
    ++calls;
    return WebResponse{.body = "you asked for " + request.path + "!"};
  });
  std::vector<std::thread> readers;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    readers.emplace_back([&, i] {
      const FileDescriptor socket = connect_to(server.port());
      for (int k = 0; k < 20; ++k) {
        const std::string path = "/" + std::to_string(i) + "/" + std::to_string(k);
        EXPECT_TRUE(write_all(socket.get(), "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"));
        right += read_until(socket.get(), "!").ends_with("you asked for " + path + "!");
      }
    });
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(right, 160);
  EXPECT_EQ(calls, 160);
}

TEST_F(Server, TellsItsStreams) {
  std::atomic<int> ticks{0};
  const HttpServer server(
      {}, [](const WebRequest&) { return WebResponse{.type = "text/event-stream", .body = "begin;", .stream = true}; },
      [&] { return ++ticks < 3 ? "tick;" : "end!"; });
  const FileDescriptor socket = connect_to(server.port());
  EXPECT_TRUE(write_all(socket.get(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(read_until(socket.get(), "end!").ends_with("begin;tick;tick;end!"));
}

TEST_F(Server, TellsItsStreamsTheEndAndAnswersAMomentLonger) {
  std::atomic<bool> ended{false};
  std::optional<HttpServer> server(
      std::in_place, HttpServerOptions{.farewell = std::chrono::seconds(20)},
      [](const WebRequest& request) {
        return WebResponse{.type = "text/event-stream", .body = "begin;", .stream = request.path == "/events"};
      },
      [&] { return ended.load() ? "over!" : ""; });
  FileDescriptor stream = connect_to(server->port());
  EXPECT_TRUE(write_all(stream.get(), "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(read_until(stream.get(), "begin;").ends_with("begin;"));
  const int port = server->port();
  ended.store(true);
  std::thread ending([&] { server.reset(); });
  EXPECT_TRUE(read_until(stream.get(), "over!").ends_with("over!"));
  {
    const FileDescriptor socket = connect_to(port);
    EXPECT_TRUE(write_all(socket.get(), "GET /curves HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_TRUE(read_until(socket.get(), "begin;").ends_with("begin;"));
  }
  stream = FileDescriptor();  // nobody reads any more, and it ends
  ending.join();
}

TEST_F(Server, RefusesWhatItCannotRead) {
  const HttpServer server({}, [](const WebRequest&) { return WebResponse{}; });
  const FileDescriptor socket = connect_to(server.port());
  EXPECT_TRUE(write_all(socket.get(), "nothing\r\n\r\n"));
  EXPECT_TRUE(read_until(socket.get(), "forever").starts_with("HTTP/1.1 400 "));
}

TEST_F(Server, EndsWithReadersThatWait) {
  FileDescriptor socket;
  {
    const HttpServer server({}, [](const WebRequest&) { return WebResponse{}; });
    socket = connect_to(server.port());
    EXPECT_TRUE(write_all(socket.get(), "GET / HT"));
  }
  EXPECT_EQ(read_until(socket.get(), "forever"), "");
}

TEST_F(Server, NamesAPortThatIsTaken) {
  const HttpServer server({}, [](const WebRequest&) { return WebResponse{}; });
  const std::string text =
      error_of([&] { HttpServer({"127.0.0.1", server.port()}, [](const WebRequest&) { return WebResponse{}; }); });
  EXPECT_TRUE(text.starts_with("error[RT0780]: no page can be served at 127.0.0.1 port")) << text;
  EXPECT_NE(text.find("choose another port"), std::string::npos);
}

}  // namespace
}  // namespace retrace

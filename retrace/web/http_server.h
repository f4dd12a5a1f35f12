#pragma once
// A small HTTP server for pages of this machine's user.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "retrace/web/http_message.h"

namespace retrace {

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, of this machine
  int port = 0;                       // 0: any that is free
  // At its end it ticks once more, and answers for so long, as long as there are streams.
  std::chrono::milliseconds farewell{0};
};

// Answers requests on one thread of its own, which no signal interrupts. Bounds: 128 connections (others are closed at
// once), 10 seconds from the first byte of a request to its last, 60 seconds of silence between requests, 30 seconds
// for a reader that takes nothing, 4 MiB that wait for a stream's reader: what goes beyond is closed. `answer` is
// called on that thread, and must not throw but std::bad_alloc. `tick` is called there about once a second while
// there are streams; the text that it returns goes to all of them.
class HttpServer {
 public:
  using Answer = std::function<WebResponse(const WebRequest& request)>;
  using Tick = std::function<std::string()>;

  // Errors: usage for an address that this machine does not have, or a port that is taken; unavailable.
  HttpServer(const HttpServerOptions& options, Answer answer, Tick tick = {});
  // Closes all connections, after the farewell.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace retrace

#include "retrace/web/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <list>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/quiet_thread.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr size_t kMostConnections = 128, kMostWaiting = 4 << 20;
constexpr auto kRequestTime = seconds(10), kIdleTime = seconds(60), kStallTime = seconds(30);
constexpr auto kTick = std::chrono::milliseconds(1000);

Error cannot_listen(const HttpServerOptions& options, int error) {
  Error result(
      error == EADDRINUSE || error == EADDRNOTAVAIL || error == EACCES ? ErrorKind::usage : ErrorKind::unavailable, 780,
      fmt::format("no page can be served at {} port {}", options.address, options.port));
  result.got(system_reason(error));
  if (error == EADDRINUSE) return result.help("choose another port, or 0 for any that is free");
  if (error == EADDRNOTAVAIL) return result.help("127.0.0.1 is this machine for itself, 0.0.0.0 all its addresses");
  return result;
}

// The socket that listens.
FileDescriptor listen_at(const HttpServerOptions& options) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC, hints.ai_socktype = SOCK_STREAM,
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  if (::getaddrinfo(options.address.c_str(), fmt::format("{}", options.port).c_str(), &hints, &found) != 0)
    throw cannot_listen(options, EADDRNOTAVAIL);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  FileDescriptor listener(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (listener.get() < 0 || ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(listener.get(), 64) != 0)
    throw cannot_listen(options, errno);
  return listener;
}

int port_of(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// A reader of the page.
class Connection {
 public:
  explicit Connection(FileDescriptor socket) : socket_(std::move(socket)) {}

  int socket() const { return socket_.get(); }
  bool streams() const { return streams_; }
  // Nothing more is read of who has not taken his answer.
  short events() const {
    return static_cast<short>((out_.empty() || streams_ ? POLLIN : 0) | (out_.empty() ? 0 : POLLOUT));
  }

  void send(std::string_view bytes) {
    if (out_.empty()) moved_ = Clock::now();
    out_ += bytes;
  }

  // Reads and writes what can be; false: it is to be closed.
  bool work(short ready, const HttpServer::Answer& answer) {
    if (ready & (POLLERR | POLLNVAL)) return false;
    if ((ready & (POLLIN | POLLHUP)) && !read()) return false;
    while (complete_ && out_.empty() && !streams_ && !closes_) {
      take_request(answer);
      complete_ = !closes_ && reader_.take("");
      if (!write()) return false;
    }
    if (!write()) return false;
    return !(closes_ && out_.empty()) && !(streams_ && out_.size() > kMostWaiting);
  }

  bool in_time(Clock::time_point now) const {
    if (!out_.empty()) return now - moved_ < kStallTime;  // also of one who does not read
    if (streams_) return true;
    return reader_.within() ? now - began_ < kRequestTime : now - moved_ < kIdleTime;
  }

 private:
  bool read() {
    char bytes[16 << 10];
    const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (streams_ || closes_) return true;  // nothing that it says counts any more
    if (!reader_.within()) began_ = Clock::now();
    complete_ = reader_.take({bytes, static_cast<size_t>(count)});
    return true;
  }

  void take_request(const HttpServer::Answer& answer) {
    if (const int status = reader_.refusal()) {
      send(response_bytes({.status = status, .body = "this request cannot be read\n"}, false));
      closes_ = true;
      return;
    }
    const WebRequest request = reader_.request();
    const WebResponse response = answer(request);
    streams_ = response.stream && request.method == "GET";
    closes_ = !request.keep_alive && !streams_;
    send(response_bytes(response, !closes_, request.method == "HEAD"));
    began_ = Clock::now();
  }

  bool write() {
    if (out_.empty()) return true;
    const ssize_t count = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    out_.erase(0, static_cast<size_t>(count));
    moved_ = Clock::now();
    return true;
  }

  FileDescriptor socket_;
  RequestReader reader_;
  std::string out_;
  bool complete_ = false, streams_ = false, closes_ = false;
  Clock::time_point began_ = Clock::now();  // of the request that is read
  Clock::time_point moved_ = Clock::now();  // when bytes were last taken from out_
};

}  // namespace

class HttpServer::Loop {
 public:
  Loop(const HttpServerOptions& options, Answer answer, Tick tick)
      : listener_(listen_at(options)),
        wake_(::eventfd(0, EFD_CLOEXEC)),
        farewell_(options.farewell),
        answer_(std::move(answer)),
        tick_(std::move(tick)) {
    if (wake_.get() < 0) throw cannot_listen(options, errno);
    port_ = port_of(listener_.get());
    try {
      thread_ = quiet_thread([this] { run(); });
    } catch (const std::system_error&) {
      throw cannot_listen(options, EAGAIN);
    }
  }

  ~Loop() {
    ended_.store(true);
    const uint64_t one = 1;
    while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {}
    thread_.join();
  }

  int port() const { return port_; }

 private:
  void run() {
    while (!ended_.load()) serve(kTick, false);
    uint64_t ignored = 0;  // nothing wakes it any more
    if (::read(wake_.get(), &ignored, sizeof ignored) < 0) return;
    const auto end = Clock::now() + farewell_;
    for (bool first = true; has_streams() && Clock::now() < end; first = false)
      serve(std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()), first);
  }

  // What happens until `most` is over, or the next thing.
  void serve(std::chrono::milliseconds most, bool tells) {
    try {
      if (tells || Clock::now() >= next_tick_) tell();
      wait(std::min(most, kTick));
    } catch (const std::bad_alloc&) {  // whoever wanted it asks again
      connections_.clear();
    }
  }

  bool has_streams() const {
    return std::any_of(connections_.begin(), connections_.end(), [](const Connection& one) { return one.streams(); });
  }

  void wait(std::chrono::milliseconds most) {
    polled_.assign({{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}});
    for (const Connection& connection : connections_) polled_.push_back({connection.socket(), connection.events(), 0});
    if (::poll(polled_.data(), polled_.size(), static_cast<int>(most.count())) < 0) return;
    size_t i = 2;
    const auto now = Clock::now();
    for (auto at = connections_.begin(); at != connections_.end(); ++i)
      if (at->work(polled_[i].revents, answer_) && at->in_time(now))
        ++at;
      else
        at = connections_.erase(at);
    if (polled_[1].revents & POLLIN) accept();
  }

  void accept() {
    while (true) {
      FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.get() < 0) return;
      if (connections_.size() < kMostConnections) connections_.emplace_back(std::move(socket));
    }
  }

  void tell() {
    next_tick_ = Clock::now() + kTick;
    const std::string text = has_streams() && tick_ ? tick_() : "";
    if (text.empty()) return;
    for (Connection& connection : connections_)
      if (connection.streams()) connection.send(text);
  }

  FileDescriptor listener_, wake_;
  std::chrono::milliseconds farewell_;
  int port_ = 0;
  Answer answer_;
  Tick tick_;
  std::list<Connection> connections_;
  std::vector<pollfd> polled_;
  Clock::time_point next_tick_{};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

HttpServer::HttpServer(const HttpServerOptions& options, Answer answer, Tick tick)
    : loop_(std::make_unique<Loop>(options, std::move(answer), std::move(tick))) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return loop_->port(); }

}  // namespace retrace

#pragma once
// Object storage for tests: tests/s3_server.py, which needs python3 and botocore.

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "retrace/base/file.h"
#include "tests/environment.h"
#include "tests/temporary_folder.h"

namespace retrace {

// A server of its own, and the environment that leads to it.
class S3Server {
 public:
  S3Server() {
    if (::pipe(input_.data()) != 0 || ::pipe(output_.data()) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(input_[0], 0), ::dup2(output_[1], 1);
      for (const int end : {input_[0], input_[1], output_[0], output_[1]}) ::close(end);
      ::execlp("python3", "python3", RETRACE_SOURCE_DIR "/tests/s3_server.py", nullptr);
      ::_exit(127);
    }
    ::close(input_[0]), ::close(output_[1]);
    for (char c = 0; ::read(output_[0], &c, 1) == 1 && c != '\n';) port_ += c;
    const std::string home = home_.path().string();
    for (const char* name : {"AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ENDPOINT_URL_S3",
                             "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE",
                             "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"})
      environment.set(name, "");
    environment.set("HOME", home);
    environment.set("XDG_CACHE_HOME", home + "/cache");
    environment.set("AWS_ACCESS_KEY_ID", "TESTKEY");
    environment.set("AWS_SECRET_ACCESS_KEY", "secret/of+tests");
    environment.set("AWS_REGION", "eu-test-1");
    environment.set("AWS_ENDPOINT_URL", url());
  }
  ~S3Server() {
    ::close(input_[1]), ::close(output_[0]);
    if (process_ > 0) ::kill(process_, SIGKILL), ::waitpid(process_, nullptr, 0);
  }

  // Whether it runs: not without botocore.
  bool runs() const { return !port_.empty(); }
  std::string url() const { return "http://127.0.0.1:" + port_; }

  // What tests/s3_server.py says of "/-/NAME".
  std::string tell(const std::string& name, const std::string& body = "") const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(port_)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string answer;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const std::string request = "POST /-/" + name +
                                  " HTTP/1.1\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                                  "\r\n\r\n" + body;
      write_all(socket, request);
      std::array<char, 4096> piece{};
      for (ssize_t n = 0; (n = ::read(socket, piece.data(), piece.size())) > 0;)
        answer.append(piece.data(), static_cast<size_t>(n));
    }
    ::close(socket);
    const size_t body_at = answer.find("\r\n\r\n");
    return body_at == std::string::npos ? "" : answer.substr(body_at + 4);
  }
  void put(const std::string& bucket, const std::string& key, const std::string& content) const {
    tell("put", bucket + " " + key + "\n" + content);
  }
  void faults(const std::string& json) const { tell("faults", json); }
  // The requests since the last call that contain a text.
  int requests(const std::string& text) const {
    const std::string seen = tell("seen");
    int count = 0;
    for (size_t at = 0; (at = seen.find(text, at)) != std::string::npos; at += text.size()) ++count;
    return count;
  }

  Environment environment;

 private:
  TemporaryFolder home_;
  std::array<int, 2> input_{-1, -1}, output_{-1, -1};
  pid_t process_ = -1;
  std::string port_;
};

}  // namespace retrace

#pragma once
// Requests and answers of HTTP/1.1. Parsing is Boost.Beast's; http_message.cpp alone includes it.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

struct WebRequest {
  std::string method;                        // "GET"
  std::string path;                          // decoded, without the query: "/api/runs"
  std::map<std::string, std::string> query;  // decoded
  std::string host, origin, cookie;          // headers; "" where there is none
  std::string marker;                        // of the header X-Retrace, which no form of another site can send
  std::string body = {};
  bool keep_alive = false;

  // "" where there is none.
  const std::string& parameter(const std::string& name) const;
};

struct WebResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // beside those that every answer has
  bool stream = false;  // the connection stays open and gets what HttpServer::broadcast() sends
};

// A line of JSON.
WebResponse json_response(std::string text);
// {"error":text}
WebResponse error_response(int status, std::string text);

// The answer as bytes; a stream has no length. `head_only`: that of HEAD.
std::string response_bytes(const WebResponse& response, bool keep_alive, bool head_only = false);

// Reads requests from the bytes of a connection. Bounds: 8 KiB of headers, 64 KiB of body, which comes in one piece
// (no chunks).
class RequestReader {
 public:
  RequestReader();
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;

  // Takes bytes; whether a request is complete, or cannot be taken.
  bool take(std::string_view bytes);
  // Whether bytes of a request have come that is not complete.
  bool within() const;
  // The status for what cannot be taken: 400, 413, 431; 0: the request is good.
  int refusal() const;
  // The complete request. The reader begins with the next one, of which bytes may have come: call take("") then.
  WebRequest request();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// %41 and '+' (a blank) decoded. A broken escape stays as it is.
std::string decoded(std::string_view text);

}  // namespace retrace

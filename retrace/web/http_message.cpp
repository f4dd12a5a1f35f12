#include "retrace/web/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#ifdef RETRACE_PAGE
#include <boost/beast/http.hpp>
#endif

#include "retrace/base/json.h"

namespace retrace {
namespace {

const char* reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 303: return "See Other";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 413: return "Payload Too Large";
    case 431: return "Request Header Fields Too Large";
    default: return "Error";
  }
}

}  // namespace

const std::string& WebRequest::parameter(const std::string& name) const {
  static const std::string none;
  const auto found = query.find(name);
  return found == query.end() ? none : found->second;
}

std::string decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2)
      result += static_cast<char>(byte), i += 2;
    else
      result += text[i] == '+' ? ' ' : text[i];
  }
  return result;
}

WebResponse json_response(std::string text) { return {.type = "application/json", .body = std::move(text) + "\n"}; }

WebResponse error_response(int status, std::string text) {
  WebResponse response = json_response(Json::object({{"error", std::move(text)}}).text());
  response.status = status;
  return response;
}

std::string response_bytes(const WebResponse& response, bool keep_alive, bool head_only) {
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
      "Cache-Control: no-store\r\nContent-Security-Policy: default-src 'self'; img-src 'self' data:; "
      "frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n",
      response.status, reason(response.status), response.type);
  for (const auto& [name, value] : response.headers) bytes += fmt::format("{}: {}\r\n", name, value);
  if (!response.stream) bytes += fmt::format("Content-Length: {}\r\n", response.body.size());
  bytes += keep_alive || response.stream ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head_only ? bytes : bytes + response.body;
}

#ifdef RETRACE_PAGE

namespace {

namespace http = boost::beast::http;

constexpr uint32_t kMostHeader = 8 << 10;
constexpr uint64_t kMostBody = 64 << 10;

using Parser = http::request_parser<http::string_body>;

void read_target(std::string_view target, WebRequest& request) {
  const size_t mark = std::min(target.find('?'), target.size());
  request.path = decoded(target.substr(0, mark));
  for (size_t begin = mark + 1; begin < target.size();) {
    const size_t end = std::min(target.find('&', begin), target.size());
    const std::string_view pair = target.substr(begin, end - begin);
    const size_t equals = std::min(pair.find('='), pair.size());
    request.query[decoded(pair.substr(0, equals))] = decoded(pair.substr(std::min(equals + 1, pair.size())));
    begin = end + 1;
  }
}

int status_of(const boost::beast::error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

std::string field(const Parser::value_type& message, std::string_view name) {
  const auto value = message[boost::beast::string_view(name.data(), name.size())];
  return {value.data(), value.size()};
}

}  // namespace

struct RequestReader::State {
  State() { begin(); }
  void begin() {
    parser.emplace();
    parser->eager(false);  // the headers first
    parser->header_limit(kMostHeader);
    parser->body_limit(kMostBody);
    begun = false;
  }

  std::optional<Parser> parser;
  std::string waiting;  // bytes that the parser has not taken
  bool begun = false;
  int refusal = 0;
};

RequestReader::RequestReader() : state_(std::make_unique<State>()) {}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;

bool RequestReader::take(std::string_view bytes) {
  State& state = *state_;
  state.waiting += bytes;
  while (!state.refusal && !state.parser->is_done() && !state.waiting.empty()) {
    state.begun = true;
    boost::beast::error_code error;
    const size_t taken = state.parser->put(boost::asio::buffer(state.waiting), error);
    state.waiting.erase(0, taken);
    if (error == http::error::need_more) break;
    if (error) state.refusal = status_of(error);
    if (error || !state.parser->is_header_done()) continue;
    // No browser sends a body in chunks, of which the parser of Boost 1.81 asserts that they come in large pieces.
    if (state.parser->chunked()) state.refusal = 400;
    state.parser->eager(true);
  }
  return state.refusal || state.parser->is_done();
}

bool RequestReader::within() const { return state_->begun; }
int RequestReader::refusal() const { return state_->refusal; }

WebRequest RequestReader::request() {
  const auto message = state_->parser->release();
  WebRequest request;
  request.method = {message.method_string().data(), message.method_string().size()};
  request.host = field(message, "Host");
  request.origin = field(message, "Origin");
  request.cookie = field(message, "Cookie");
  request.marker = field(message, "X-Retrace");
  request.body = message.body();
  request.keep_alive = message.keep_alive();
  read_target({message.target().data(), message.target().size()}, request);
  state_->begin();
  return request;
}

#else  // retrace was built without its page: nothing is served

struct RequestReader::State {};
RequestReader::RequestReader() = default;
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;
bool RequestReader::take(std::string_view) { return true; }
bool RequestReader::within() const { return false; }
int RequestReader::refusal() const { return 503; }
WebRequest RequestReader::request() { return {}; }

#endif

}  // namespace retrace

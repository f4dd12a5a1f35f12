#include "retrace/web/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "retrace/base/error.h"
#include "retrace/base/file.h"

namespace retrace {
namespace {

// In a time that does not say how many characters are right.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

// "localhost" of "localhost:8080", "::1" of "[::1]:8080".
std::string name_of(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  return host.substr(0, host.find(':'));
}

bool is_address(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, name.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

WebResponse refusal(int status, std::string text) { return {.status = status, .body = std::move(text) + "\n"}; }

}  // namespace

std::string Access::random_token() {
  uint64_t words[2];
  if (::getrandom(words, sizeof words, 0) != sizeof words)
    throw Error(ErrorKind::unavailable, 781, "the system has no random numbers for the address of the page")
        .got(system_reason(errno));
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

Access::Access(bool everywhere, std::string token) : everywhere_(everywhere), token_(std::move(token)) {
  // Cookies of localhost are shared by all ports: each server has a name of its own.
  uint32_t name = 2166136261u;
  for (const char c : token_) name = (name ^ static_cast<unsigned char>(c)) * 16777619u;
  cookie_name_ = fmt::format("retrace-{:08x}", name);
}

bool Access::is_own_host(const std::string& host) const {
  const std::string name = name_of(host);
  if (name == "localhost" || name == "127.0.0.1" || name == "::1") return true;
  if (!everywhere_) return false;
  char own[256] = {};
  return is_address(name) || (::gethostname(own, sizeof own - 1) == 0 && name == own);
}

bool Access::has_cookie(const std::string& cookie) const {
  const std::string prefix = cookie_name_ + "=";
  for (size_t begin = 0; begin < cookie.size();) {
    const size_t end = std::min(cookie.find(';', begin), cookie.size());
    const std::string_view part = std::string_view(cookie).substr(begin, end - begin);
    if (part.starts_with(prefix) && same_secret(part.substr(prefix.size()), token_)) return true;
    begin = std::min(cookie.find_first_not_of(' ', end + 1), cookie.size());
  }
  return false;
}

std::optional<WebResponse> Access::check(const WebRequest& request) const {
  if (!is_own_host(request.host)) return refusal(403, "this page is not served under this name");
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && request.method != "POST") return refusal(405, "not allowed");
  if (const std::string& token = request.parameter("token"); !token.empty() && reads && request.path == "/") {
    if (!same_secret(token, token_))
      return refusal(403, "the token of this address is not that of the server: use the address that it printed");
    return WebResponse{
        .status = 303,
        .headers = {{"Location", "/"},
                    {"Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name_, token_)}}};
  }
  if (!has_cookie(request.cookie)) return refusal(403, "open the address that retrace printed: it has a token");
  if (!reads && (request.marker != "1" || request.origin != "http://" + request.host))
    return refusal(403, "only the page itself may do this");
  return {};
}

}  // namespace retrace

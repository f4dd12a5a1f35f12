#pragma once
// Who may read a page, and who may change something through it.

#include <optional>
#include <string>

#include "retrace/web/http_message.h"

namespace retrace {

// Pages are for those who know the token, which is in the address that was printed. The first visit exchanges it for a
// cookie. Refused: a host that is not this machine by its own name (a name that another site has pointed at 127.0.0.1),
// requests without the token, methods other than GET, HEAD and POST, and a POST that does not come from the page
// itself.
class Access {
 public:
  // `everywhere`: the page is served at other addresses than those of the machine itself.
  explicit Access(bool everywhere, std::string token = random_token());

  const std::string& token() const { return token_; }
  // The answer to a request that is refused, or that brings the token: a cookie and the way to the page. Nothing: it is
  // to be answered.
  std::optional<WebResponse> check(const WebRequest& request) const;

  // 32 hex digits from the system's random numbers. Errors: unavailable.
  static std::string random_token();

 private:
  bool is_own_host(const std::string& host) const;
  bool has_cookie(const std::string& cookie) const;

  bool everywhere_;
  std::string token_, cookie_name_;
};

}  // namespace retrace

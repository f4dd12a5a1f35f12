// Any bytes, in any pieces: the reader of HTTP requests gives requests within its bounds, or refuses.

#include <cstdint>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/web/access.h"
#include "retrace/web/http_message.h"
#include "retrace/web/page_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const retrace::Access access(false, "0123456789abcdef0123456789abcdef");
  if (size == 0 || retrace::page_files().empty()) return 0;
  const size_t piece = data[0] + 1u;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  retrace::RequestReader reader;
  for (size_t i = 0; i < bytes.size() && !reader.refusal(); i += piece) {
    bool complete = reader.take(bytes.substr(i, piece));
    while (complete && !reader.refusal()) {
      const retrace::WebRequest request = reader.request();
      retrace::ensure(request.body.size() <= 64 << 10 && request.path.size() <= 8 << 10, "a request within its bounds");
      const auto refused = access.check(request);
      retrace::ensure(
          refused.has_value() || request.cookie.find("0123456789abcdef0123456789abcdef") != std::string::npos,
          "nothing is shown without the token");
      complete = reader.take("");
    }
  }
  return 0;
}

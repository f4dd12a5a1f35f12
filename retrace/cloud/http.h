#pragma once
// One exchange with a server: HTTP/1.1 or 2, signed for AWS, over connections that are used again.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/cloud/aws_settings.h"

namespace retrace {

struct HttpRequest {
  std::string method = "GET";
  std::string url;                   // encoded; its query sorted by names, each with '='
  std::vector<std::string> headers;  // "name: value"
  std::string_view body;
  uint64_t most_bytes = 0;  // of an answer
  double stall = 30;        // seconds without a byte after which the server counts as silent; also for connecting
};

struct HttpAnswer {
  int status = 0;                              // 0: no whole answer came
  std::string problem;                         // then why
  bool final = false;                          // then: it would be the same next time
  std::map<std::string, std::string> headers;  // names in small letters
  std::string body;
};

// Sends the request with a signature of version 4 for the service s3 (AWS SigV4) and the hash of its body, and waits
// for the whole answer. Redirects are answers. Safe from several threads; each uses a connection of its own, and up to
// 64 stay open for the next requests. Errors: of curl_library().
HttpAnswer send_signed(const HttpRequest& request, const AwsSettings& settings);

}  // namespace retrace

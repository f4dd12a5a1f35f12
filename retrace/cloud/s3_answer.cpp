#include "retrace/cloud/s3_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "retrace/base/file.h"
#include "retrace/cloud/xml.h"

namespace retrace {
namespace {

constexpr size_t kShown = 300;  // bytes of a server's text

std::string header(const HttpAnswer& answer, const char* name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? "" : found->second;
}

std::string said(const HttpAnswer& answer) {
  if (answer.status == 0) return answer.problem;
  const auto [code, message] = refusal_of(answer);
  const std::string text = code.empty() ? "" : fmt::format(", {}{}{}", code, message.empty() ? "" : ": ", message);
  return printable(fmt::format("status {}{}", answer.status, text).substr(0, kShown));
}

// What helps when the storage refuses.
std::string advice(const HttpAnswer& answer, const std::string& code) {
  if (code == "RequestTimeTooSkewed") return "set the clock of this machine: requests are signed with the time";
  if (has_expired(answer)) return "get new keys of a session (aws sso login, aws sts), and go on with --resume";
  if (code == "SignatureDoesNotMatch") return "check AWS_SECRET_ACCESS_KEY";
  if (code == "InvalidAccessKeyId") return "check AWS_ACCESS_KEY_ID or AWS_PROFILE, and AWS_ENDPOINT_URL";
  if (answer.status == 403) return "these keys need the rights s3:ListBucket and s3:GetObject (s3:PutObject to write)";
  return "check AWS_REGION and AWS_ENDPOINT_URL";
}

}  // namespace

S3Refusal refusal_of(const HttpAnswer& answer) {
  const auto root = parse_xml(answer.body);
  if (!root || root->name != "Error") return {};
  return {root->text_of("Code"), root->text_of("Message")};
}

bool may_pass(const HttpAnswer& answer) {
  if (answer.status == 0) return !answer.final;
  constexpr std::array<int, 7> kPassing = {408, 429, 500, 502, 503, 504, 509};
  if (std::find(kPassing.begin(), kPassing.end(), answer.status) != kPassing.end()) return true;
  const std::string code = refusal_of(answer).code;
  return code == "RequestTimeout" || code == "SlowDown" || code == "InternalError";
}

bool has_expired(const HttpAnswer& answer) {
  const std::string code = refusal_of(answer).code;
  return code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidToken";
}

double wanted_wait(const HttpAnswer& answer) {
  const std::string text = header(answer, "retry-after");
  int seconds = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return failure == std::errc() && end == text.data() + text.size() && seconds > 0 ? seconds : 0;
}

Error s3_error(const HttpAnswer& answer, const std::string& what, int tries) {
  const std::string name = printable(what), code = refusal_of(answer).code;
  if (answer.status == 404)
    return Error(ErrorKind::missing, 684,
                 code == "NoSuchBucket" ? fmt::format("the bucket of \"{}\" does not exist", name)
                                        : fmt::format("\"{}\" does not exist", name))
        .got(said(answer));
  if (answer.status == 412)
    return Error(ErrorKind::bad_data, 688, fmt::format("\"{}\" has changed since it was listed", name))
        .help("start again when nobody writes there; a run's data stay as they are while it goes on");
  if (may_pass(answer) || answer.status == 0)
    return Error(ErrorKind::unavailable, 686, fmt::format("object storage does not answer for \"{}\"", name))
        .got(fmt::format("{}{}", said(answer), tries > 1 ? fmt::format(", {} times", tries) : ""))
        .help("check the network and AWS_ENDPOINT_URL; a run goes on from its last checkpoint with --resume");
  return Error(ErrorKind::unavailable, 685, fmt::format("object storage refuses \"{}\"", name))
      .got(said(answer))
      .help(advice(answer, code));
}

Error s3_nonsense(const std::string& what, std::string problem) {
  return Error(ErrorKind::bad_data, 687,
               fmt::format("the answer of object storage for \"{}\" is not understood", printable(what)))
      .got(printable(problem.substr(0, kShown)))
      .help("check that AWS_ENDPOINT_URL is a server of object storage, and what lies between");
}

}  // namespace retrace

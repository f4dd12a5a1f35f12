#include "retrace/cloud/s3_bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "retrace/base/mix64.h"
#include "retrace/cloud/s3_answer.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/cloud/xml.h"

namespace retrace {
namespace {

constexpr uint64_t kMostXml = 10 << 20;
constexpr uint64_t kMostRefusal = 64 << 10;  // of a text in place of an object
constexpr uint64_t kMostParts = 10000;       // of the protocol

std::string url_of(const AwsSettings& settings, const std::string& bucket, const std::string& key) {
  const bool aws = settings.endpoint.empty();
  const std::string domain = settings.region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const std::string server = aws ? fmt::format("https://s3.{}.{}", settings.region, domain) : settings.endpoint;
  const std::string path = "/" + url_encoded(key, false);
  // Certificates are for one name before the domain.
  if (settings.path_style || bucket.find('.') != std::string::npos)
    return fmt::format("{}/{}{}", server, bucket, key.empty() ? "" : path);
  const size_t host = server.find("//") + 2;
  return fmt::format("{}{}.{}{}", server.substr(0, host), bucket, server.substr(host), path);
}

// Waits before the next try; the part that is left to chance keeps many processes from asking at the same moment.
void wait_before_try(int done, const S3Options& options, const HttpAnswer& answer) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const double chance = static_cast<double>(mix64(static_cast<uint64_t>(now)) >> 11) * 0x1p-53;
  const double doubled = std::min(options.longest, options.wait * static_cast<double>(1 << std::min(done - 1, 20)));
  const double wait = std::max(doubled * (1 - chance / 2), std::min(options.longest, wanted_wait(answer)));
  std::this_thread::sleep_for(std::chrono::duration<double>(wait));
}

uint64_t size_of(const std::string& text, const std::string& what) {
  uint64_t bytes = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty())
    throw s3_nonsense(what, fmt::format("a size of \"{}\"", text));
  return bytes;
}

// It becomes a part of the server's name: what a server says must not lead to another one's domain.
bool can_be_region(std::string_view name) {
  constexpr size_t kLongest = 40;
  return !name.empty() && name.size() <= kLongest &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

XmlElement document(const HttpAnswer& answer, std::string_view root, const std::string& what) {
  auto parsed = parse_xml(answer.body);
  if (!parsed || parsed->name != root)
    throw s3_nonsense(what, parsed ? fmt::format("<{}> in place of <{}>", parsed->name, root) : "no XML");
  return std::move(*parsed);
}

std::string text_header(const HttpAnswer& answer, const char* name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? "" : found->second;
}

}  // namespace

S3Bucket::S3Bucket(std::string name, S3Options options)
    : name_(std::move(name)), options_(options), settings_(aws_settings()) {}

AwsSettings S3Bucket::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

HttpAnswer S3Bucket::try_once(const Call& call, const AwsSettings& settings) const {
  HttpRequest request{.method = call.method,
                      .url = url_of(settings, name_, call.key),
                      .headers = call.headers,
                      .body = call.body,
                      .most_bytes = call.most_bytes,
                      .stall = options_.stall};
  if (!call.query.empty()) request.url += "?" + call.query;
  return send_signed(request, settings);
}

// Whether there are other settings to try after this answer: those become `used`.
bool S3Bucket::mend(const HttpAnswer& answer, AwsSettings& used) const {
  const std::string region = text_header(answer, "x-amz-bucket-region");
  const bool elsewhere = answer.status >= 300 && answer.status < 500 && can_be_region(region) && region != used.region;
  AwsSettings other = used;
  if (elsewhere)
    other.region = region;
  else if (has_expired(answer))
    other = aws_settings(), other.region = used.region;
  if (other == used) return false;
  const std::lock_guard lock(mutex_);
  used = settings_ = other;
  return true;
}

HttpAnswer S3Bucket::send(const Call& call) const {
  const std::string what = S3Location{name_, call.key}.text();
  AwsSettings used = settings();
  for (int done = 1, mended = 0;; ++done) {
    HttpAnswer answer = try_once(call, used);
    const bool good = answer.status >= 200 && answer.status < 300;
    // The end of an upload in parts is answered before it is known: its error has the status 200.
    if (good && (call.method != "POST" || refusal_of(answer).code.empty())) return answer;
    if (mended < 2 && mend(answer, used)) {
      ++mended;
      continue;
    }
    if (done >= options_.tries || !may_pass(answer)) throw s3_error(answer, what, done);
    wait_before_try(done, options_, answer);
  }
}

std::vector<S3Object> S3Bucket::list(const std::string& prefix, uint64_t most) const {
  const std::string what = S3Location{name_, prefix}.text();
  std::vector<S3Object> objects;
  std::string token;
  do {
    const std::string from = token.empty() ? "" : fmt::format("continuation-token={}&", url_encoded(token, true));
    const HttpAnswer answer = send({.method = "GET",
                                    .key = "",
                                    .query = fmt::format("{}encoding-type=url&list-type=2&max-keys={}&prefix={}", from,
                                                         std::min<uint64_t>(most, 1000), url_encoded(prefix, true)),
                                    .headers = {},
                                    .body = {},
                                    .most_bytes = kMostXml});
    const XmlElement root = document(answer, "ListBucketResult", what);
    const bool encoded = root.text_of("EncodingType") == "url";
    for (const auto& item : root.children) {
      if (item.name != "Contents") continue;
      const std::string key = item.text_of("Key");
      objects.push_back({encoded ? url_decoded(key) : key, size_of(item.text_of("Size"), what), item.text_of("ETag")});
      if (objects.back().key.empty() || objects.back().tag.empty()) throw s3_nonsense(what, "an object without a name");
    }
    const std::string next = root.text_of("IsTruncated") == "true" ? root.text_of("NextContinuationToken") : "";
    if (root.text_of("IsTruncated") == "true" && (next.empty() || next == token))
      throw s3_nonsense(what, "a list that goes on, and does not say where");
    token = next;
  } while (!token.empty() && objects.size() < most);
  std::sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return objects;
}

std::optional<S3Object> S3Bucket::find(const std::string& key) const {
  const auto found = list(key, 1);  // the first in order, so this key before longer ones
  return !found.empty() && found[0].key == key ? std::optional(found[0]) : std::nullopt;
}

std::string S3Bucket::get(const S3Object& object) const {
  if (object.bytes == 0) return "";
  return get(object, 0, object.bytes);
}

std::string S3Bucket::get(const S3Object& object, uint64_t first, uint64_t count) const {
  const std::string what = S3Location{name_, object.key}.text();
  std::vector<std::string> headers = {"If-Match: " + object.tag};
  if (first > 0 || count < object.bytes) headers.push_back(fmt::format("Range: bytes={}-{}", first, first + count - 1));
  for (int tries = 1;; ++tries) {
    HttpAnswer answer = send({"GET", object.key, "", headers, {}, std::max(count, kMostRefusal)});
    if (answer.body.size() == count) return std::move(answer.body);
    if (tries == options_.tries)
      throw s3_nonsense(what, fmt::format("{} bytes in place of {}", answer.body.size(), count));
    wait_before_try(tries, options_, answer);
  }
}

void S3Bucket::put(const std::string& key, std::string_view bytes) const {
  if (bytes.size() > options_.part)
    put_parts(key, bytes);
  else
    send({"PUT", key, "", {}, bytes, kMostXml});
}

void S3Bucket::put_parts(const std::string& key, std::string_view bytes) const {
  const std::string what = S3Location{name_, key}.text();
  const HttpAnswer begun = send({"POST", key, "uploads=", {}, {}, kMostXml});
  const std::string upload = document(begun, "InitiateMultipartUploadResult", what).text_of("UploadId");
  if (upload.empty()) throw s3_nonsense(what, "an upload without a name");
  const std::string of_upload = "uploadId=" + url_encoded(upload, true);
  try {
    const uint64_t size = std::max<uint64_t>(options_.part, (bytes.size() + kMostParts - 1) / kMostParts);
    std::string parts;
    for (uint64_t number = 1, at = 0; at < bytes.size(); ++number, at += size)
      parts += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", number,
                           put_part(key, of_upload, number, bytes.substr(at, size)));
    const std::string list = fmt::format("<CompleteMultipartUpload>{}</CompleteMultipartUpload>", parts);
    const HttpAnswer done = send({"POST", key, of_upload, {}, list, kMostXml});
    document(done, "CompleteMultipartUploadResult", what);
  } catch (...) {
    try {
      send({"DELETE", key, of_upload, {}, {}, kMostXml});  // its parts would be kept, and paid for
    } catch (const Error&) {}
    throw;
  }
}

std::string S3Bucket::put_part(const std::string& key, const std::string& upload, uint64_t number,
                               std::string_view bytes) const {
  const HttpAnswer answer = send({"PUT", key, fmt::format("partNumber={}&{}", number, upload), {}, bytes, kMostXml});
  const std::string tag = text_header(answer, "etag");
  if (tag.empty() || tag.find_first_of("<>&") != std::string::npos)
    throw s3_nonsense(S3Location{name_, key}.text(), "a part without a tag");
  return tag;
}

void S3Bucket::remove(const std::string& key) const { send({"DELETE", key, "", {}, {}, kMostXml}); }

}  // namespace retrace

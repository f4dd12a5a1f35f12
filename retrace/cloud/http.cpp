#include "retrace/cloud/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "retrace/base/sha256.h"
#include "retrace/cloud/curl_library.h"

namespace retrace {
namespace {

namespace option = curl_option;

constexpr long kBufferBytes = 512 * 1024;
constexpr size_t kMostIdle = 64;
constexpr size_t kMostHeaderBytes = 64 * 1024;

// Handles that nobody uses, with their open connections.
class IdleHandles {
 public:
  void* take() {
    const std::lock_guard lock(mutex_);
    if (handles_.empty()) return curl_library().easy_init();
    void* const handle = handles_.back();
    handles_.pop_back();
    return handle;
  }
  void give(void* handle) {
    curl_library().easy_reset(handle);  // options, with keys and texts, but not connections
    {
      const std::lock_guard lock(mutex_);
      if (handles_.size() < kMostIdle) return handles_.push_back(handle);
    }
    curl_library().easy_cleanup(handle);
  }

 private:
  std::mutex mutex_;
  std::vector<void*> handles_;
};

// Never destroyed: threads that are left behind may still use it at the end of the process.
IdleHandles& idle_handles() {
  static auto* const handles = new IdleHandles;
  return *handles;
}

// A list of headers in libcurl's form.
class HeaderList {
 public:
  ~HeaderList() { curl_library().slist_free_all(list_); }
  void add(const std::string& text) { list_ = curl_library().slist_append(list_, text.c_str()); }
  void* get() const { return list_; }

 private:
  void* list_ = nullptr;
};

struct Reception {
  HttpAnswer answer;
  uint64_t most_bytes;
  size_t header_bytes = 0;
  bool too_large = false;
};

size_t take_body(const char* bytes, size_t, size_t count, void* to) {
  auto& reception = *static_cast<Reception*>(to);
  reception.too_large = reception.answer.body.size() + count > reception.most_bytes;
  if (reception.too_large) return 0;
  reception.answer.body.append(bytes, count);
  return count;
}

size_t take_header(const char* bytes, size_t, size_t count, void* to) {
  auto& reception = *static_cast<Reception*>(to);
  const std::string_view line(bytes, count);
  if (line.starts_with("HTTP/")) reception.answer.headers.clear();  // after "100 Continue"
  reception.header_bytes += count;
  if (reception.header_bytes > kMostHeaderBytes) return 0;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return count;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && std::string_view(" \t\r\n").find(value.back()) != std::string_view::npos)
    value.remove_suffix(1);
  reception.answer.headers[name] = value;
  return count;
}

void set_common(void* easy, const HttpRequest& request) {
  const auto set = curl_library().easy_setopt;
  set(easy, option::kUserAgent, "retrace");
  set(easy, option::kNoSignal, 1L);
  set(easy, option::kProtocols, kCurlHttpAndHttps);
  set(easy, option::kKeepAlive, 1L);
  set(easy, option::kPathAsIs, 1L);
  set(easy, option::kBufferSize, kBufferBytes);
  set(easy, option::kConnectMilliseconds, static_cast<long>(request.stall * 1000));
  set(easy, option::kLowSpeedLimit, 1L);
  set(easy, option::kLowSpeedTime, std::max(1L, static_cast<long>(request.stall)));
  set(easy, option::kUrl, request.url.c_str());
}

void set_signature(void* easy, const AwsSettings& settings) {
  const auto set = curl_library().easy_setopt;
  set(easy, option::kSignature, fmt::format("aws:amz:{}:s3", settings.region).c_str());
  set(easy, option::kUserName, settings.key_id.c_str());
  set(easy, option::kPassword, settings.secret.reveal().c_str());
  if (!settings.certificates.empty()) set(easy, option::kCertificates, settings.certificates.c_str());
}

void set_method(void* easy, const HttpRequest& request) {
  const auto set = curl_library().easy_setopt;
  if (request.method == "PUT" || request.method == "POST") {
    set(easy, option::kPostSize, static_cast<int64_t>(request.body.size()));
    set(easy, option::kPostFields, request.body.data() ? request.body.data() : "");
  }
  if (request.method != "GET") set(easy, option::kCustomRequest, request.method.c_str());
}

// Problems that stay: a name of no host is not among them, since networks come back.
bool is_final(int code) {
  constexpr std::array<int, 10> kFinal = {1, 3, 27, 35, 43, 48, 58, 59, 60, 77};
  return std::find(kFinal.begin(), kFinal.end(), code) != kFinal.end();
}

}  // namespace

HttpAnswer send_signed(const HttpRequest& request, const AwsSettings& settings) {
  const CurlLibrary& curl = curl_library();
  const std::unique_ptr<void, void (*)(void*)> easy(idle_handles().take(),
                                                    [](void* handle) { idle_handles().give(handle); });
  if (!easy) return {.status = 0, .problem = "libcurl has no handle left", .final = true, .headers = {}, .body = {}};
  HeaderList headers;
  for (const auto& header : request.headers) headers.add(header);
  headers.add("x-amz-content-sha256: " + sha256_text(request.body));
  if (!settings.token.empty()) headers.add("x-amz-security-token: " + settings.token.reveal());
  if (!request.body.empty()) headers.add("Content-Type: application/octet-stream");

  Reception reception{{}, request.most_bytes};
  set_common(easy.get(), request);
  set_signature(easy.get(), settings);
  set_method(easy.get(), request);
  curl.easy_setopt(easy.get(), option::kHeaders, headers.get());
  curl.easy_setopt(easy.get(), option::kWriteFunction, take_body);
  curl.easy_setopt(easy.get(), option::kWriteData, &reception);
  curl.easy_setopt(easy.get(), option::kHeaderFunction, take_header);
  curl.easy_setopt(easy.get(), option::kHeaderData, &reception);
  const int code = curl.easy_perform(easy.get());
  HttpAnswer answer = std::move(reception.answer);
  if (code == 0) {
    long status = 0;
    curl.easy_getinfo(easy.get(), kCurlResponseCode, &status);
    answer.status = static_cast<int>(status);
    return answer;
  }
  answer.problem = reception.too_large ? fmt::format("an answer of more than {} bytes", request.most_bytes)
                                       : std::string(curl.easy_strerror(code));
  answer.final = reception.too_large || is_final(code);
  return answer;
}

}  // namespace retrace

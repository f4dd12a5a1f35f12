#pragma once
// libcurl, opened when it is first used. Its binary interface is the same since 2006 (libcurl.so.4), so the few
// functions and numbers that are needed stand here, and nothing is needed to build.

#include <cstddef>
#include <cstdint>

#include "retrace/base/error.h"

namespace retrace {

// The numbers of curl/curl.h.
namespace curl_option {
constexpr int kWriteData = 10001, kUrl = 10002, kPostFields = 10015, kUserAgent = 10018, kHeaders = 10023,
              kHeaderData = 10029, kCustomRequest = 10036, kCertificates = 10065, kUserName = 10173, kPassword = 10174,
              kSignature = 10305;
constexpr int kWriteFunction = 20011, kHeaderFunction = 20079;
constexpr int kLowSpeedLimit = 19, kLowSpeedTime = 20, kBufferSize = 98, kNoSignal = 99, kConnectMilliseconds = 156,
              kProtocols = 181, kKeepAlive = 213, kPathAsIs = 234;
constexpr int kPostSize = 30120;
}  // namespace curl_option

constexpr int kCurlResponseCode = 0x200002;
constexpr long kCurlHttpAndHttps = 1 | 2;

struct CurlLibrary {
  int (*global_init)(long flags) = nullptr;
  void* (*easy_init)() = nullptr;
  int (*easy_setopt)(void* easy, int option, ...) = nullptr;
  int (*easy_perform)(void* easy) = nullptr;
  int (*easy_getinfo)(void* easy, int info, ...) = nullptr;
  void (*easy_reset)(void* easy) = nullptr;
  void (*easy_cleanup)(void* easy) = nullptr;
  const char* (*easy_strerror)(int code) = nullptr;
  void* (*slist_append)(void* list, const char* text) = nullptr;
  void (*slist_free_all)(void* list) = nullptr;
};

// The library, ready to be used by any thread. Error(unavailable) where there is none, or one that cannot sign
// requests (before 7.75).
const CurlLibrary& curl_library();

}  // namespace retrace

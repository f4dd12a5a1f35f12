#include "retrace/cloud/curl_library.h"

#include <array>
#include <string>

#include "retrace/base/shared_library.h"

namespace retrace {
namespace {

Error no_curl(std::string reason) {
  return Error(ErrorKind::unavailable, 681, "object storage needs libcurl")
      .got(std::move(reason))
      .help("install libcurl 7.75 or newer (Debian: apt-get install libcurl4)");
}

template <class Function>
void find(const SharedLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(library.find(name));
  if (!function) throw no_curl(library.file() + " has no " + name);
}

CurlLibrary load() {
  const std::array<std::string, 3> files = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
  const SharedLibrary library(files);
  if (!library.open()) throw no_curl(library.reason());
  CurlLibrary curl;
  find(library, "curl_global_init", curl.global_init);
  find(library, "curl_easy_init", curl.easy_init);
  find(library, "curl_easy_setopt", curl.easy_setopt);
  find(library, "curl_easy_perform", curl.easy_perform);
  find(library, "curl_easy_getinfo", curl.easy_getinfo);
  find(library, "curl_easy_reset", curl.easy_reset);
  find(library, "curl_easy_cleanup", curl.easy_cleanup);
  find(library, "curl_easy_strerror", curl.easy_strerror);
  find(library, "curl_slist_append", curl.slist_append);
  find(library, "curl_slist_free_all", curl.slist_free_all);
  constexpr long all = 3;
  if (curl.global_init(all) != 0) throw no_curl(library.file() + " does not start");
  void* const easy = curl.easy_init();
  const bool signs = easy && curl.easy_setopt(easy, curl_option::kSignature, "aws:amz:us-east-1:s3") == 0;
  if (easy) curl.easy_cleanup(easy);
  if (!signs) throw no_curl(library.file() + " cannot sign requests");
  return curl;
}

}  // namespace

const CurlLibrary& curl_library() {
  static const CurlLibrary curl = load();  // one that failed is tried again
  return curl;
}

}  // namespace retrace

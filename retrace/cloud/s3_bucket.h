#pragma once
// Objects of a bucket: listed, read and written.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/cloud/http.h"

namespace retrace {

struct S3Object {
  std::string key;
  uint64_t bytes = 0;
  std::string tag;  // the storage's name of this content (ETag), with its quotes
  bool operator==(const S3Object&) const = default;
};

// How a request is made again after an error of the network or of the server that may pass: statuses 408, 429, 500,
// 502, 503, 504, broken and incomplete answers, silence.
struct S3Options {
  int tries = 8;
  double wait = 0.2;        // seconds before the second try, then twice as long each time, less up to half by chance
  double longest = 20;      // of these, and of what a server asks for (Retry-After)
  double stall = 30;        // see HttpRequest
  uint64_t part = 8 << 20;  // bytes of a part of a large object that is written
};

// A bucket of AWS, or of what speaks as it does. Safe from several threads. Keys are asked for again when a session's
// token has expired; the region follows from the server's answers. Errors of all calls: missing for a bucket or an
// object that is not there; unavailable for what is refused, and after the last try; bad_data for answers that cannot
// be understood; those of aws_settings() and curl_library().
class S3Bucket {
 public:
  explicit S3Bucket(std::string name, S3Options options = {});

  const std::string& name() const { return name_; }

  // The objects whose keys begin with `prefix`, in the order of the bytes of their keys; at most about `most`.
  std::vector<S3Object> list(const std::string& prefix, uint64_t most = UINT64_MAX) const;
  // Nothing if there is none of that key.
  std::optional<S3Object> find(const std::string& key) const;
  // The content of an object, or `count` bytes of it from `first`: all of them, and of the object with that tag.
  // Error(bad_data) if it has changed since it was listed.
  std::string get(const S3Object& object) const;
  std::string get(const S3Object& object, uint64_t first, uint64_t count) const;

  // Writes an object, whole or not at all; one of more than a part in parts.
  void put(const std::string& key, std::string_view bytes) const;
  // One that is not there is no error.
  void remove(const std::string& key) const;

 private:
  struct Call {
    std::string method, key;
    std::string query;  // sorted and encoded, without '?'
    std::vector<std::string> headers;
    std::string_view body;
    uint64_t most_bytes;
  };
  HttpAnswer send(const Call& call) const;
  HttpAnswer try_once(const Call& call, const AwsSettings& settings) const;
  bool mend(const HttpAnswer& answer, AwsSettings& used) const;
  void put_parts(const std::string& key, std::string_view bytes) const;
  std::string put_part(const std::string& key, const std::string& upload, uint64_t number,
                       std::string_view bytes) const;
  AwsSettings settings() const;

  const std::string name_;
  const S3Options options_;
  mutable std::mutex mutex_;
  mutable AwsSettings settings_;
};

}  // namespace retrace

#pragma once
// Names of objects in object storage: s3://bucket/key.

#include <string>
#include <string_view>

#include "retrace/base/error.h"

namespace retrace {

struct S3Location {
  std::string bucket;
  std::string key;  // of an object, or what keys begin with; without '/' at its start, "" for all
  // "s3://bucket/key"
  std::string text() const;
};

// Whether a location is one of object storage: it begins with "s3://".
bool is_s3(std::string_view location);

// Error(usage) for a text that is none, and for a name that no bucket can have: 3 to 63 small letters, digits, '-'
// and '.', with a letter or digit at both ends.
S3Location parse_s3(std::string_view location);

// A text as it stands in a URL (RFC 3986): letters, digits and -._~ as they are, the rest as %XX; `slash`: '/' too.
std::string url_encoded(std::string_view text, bool slash);
// The text that was encoded so; '+' stands for a space. What follows a '%' that is no number stays.
std::string url_decoded(std::string_view text);

}  // namespace retrace

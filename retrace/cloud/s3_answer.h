#pragma once
// What object storage says when it does not do what it was asked for.

#include <string>

#include "retrace/cloud/http.h"

namespace retrace {

// Code and message of an answer's <Error>; empty where it has none.
struct S3Refusal {
  std::string code, message;
};
S3Refusal refusal_of(const HttpAnswer& answer);

// Whether the same request may be answered another way later.
bool may_pass(const HttpAnswer& answer);
// Whether it said that a session's token is no longer good.
bool has_expired(const HttpAnswer& answer);
// The seconds that it asks to wait; 0: none.
double wanted_wait(const HttpAnswer& answer);

// The error of an answer to a request for `what`, such as "s3://bucket/key", after so many tries.
Error s3_error(const HttpAnswer& answer, const std::string& what, int tries);
// Error(bad_data): an answer that cannot be understood.
Error s3_nonsense(const std::string& what, std::string problem);

}  // namespace retrace

#pragma once
// Who asks object storage, and where it is: as the tools of AWS find it.

#include <string>

#include "retrace/base/error.h"

namespace retrace {

// A text that no message, log or file shows: nothing formats it.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  bool empty() const { return text_.empty(); }
  // For the request alone.
  const std::string& reveal() const { return text_; }
  bool operator==(const Secret&) const = default;

 private:
  std::string text_;
};

struct AwsSettings {
  std::string key_id;
  Secret secret;
  Secret token;              // of a session; empty: none
  std::string region;        // us-east-1 if nothing says another
  std::string endpoint;      // "https://host:port" without '/' at its end; "": AWS
  std::string certificates;  // a file of authorities' certificates; "": those of the system
  bool path_style = false;   // https://host/bucket/key in place of https://bucket.host/key
  bool operator==(const AwsSettings&) const = default;
};

// Keys: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile AWS_PROFILE ("default") of
// ~/.aws/credentials and ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE). Region: AWS_REGION,
// AWS_DEFAULT_REGION, or the profile's. Endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or the profile's endpoint_url.
// Style: the profile's s3 addressing_style, else by path for an endpoint of one's own. AWS_CA_BUNDLE: certificates.
// Errors: missing without keys; usage for half of them and for an endpoint that is no http URL or has a password in it;
// bad_data for a profile that is not there and for files that cannot be understood.
AwsSettings aws_settings();

}  // namespace retrace

#include "retrace/cloud/aws_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/base/options.h"

namespace retrace {
namespace {

constexpr uint64_t kFileLimit = uint64_t{1} << 20;

using Profile = std::map<std::string, std::string>;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The first of these variables that is set.
std::string first_set(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto text = foreign_environment(name); !text.empty()) return text;
  return "";
}

// A file of profiles. Lines that are indented below "s3 =" are named "s3.NAME". The messages show no line: it may have
// a key in it.
class ProfileFile {
 public:
  // `prefix`: what stands before the names of all sections but [default].
  ProfileFile(std::string path, std::string prefix) : path_(std::move(path)), prefix_(std::move(prefix)) {}

  // The settings of a profile; nothing if the file or the profile is not there.
  std::optional<Profile> profile(const std::string& name) const {
    std::error_code ignored;
    if (path_.empty() || !std::filesystem::exists(path_, ignored)) return std::nullopt;
    const std::string text = read_file(path_, "file of AWS profiles", kFileLimit);
    Reading reading{name == "default" ? name : prefix_ + name};
    int number = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      ++number;
      if (!reading.take(std::string_view(text).substr(begin, end - begin))) throw not_understood(number);
      begin = end + 1;
    }
    return reading.found;
  }

 private:
  struct Reading {
    std::string wanted;
    std::optional<Profile> found = std::nullopt;
    bool inside = false;
    std::string group = {};

    bool take(std::string_view line) {
      const bool indented = line.starts_with(' ') || line.starts_with('\t');
      const std::string_view text = trimmed(line);
      if (text.empty() || text[0] == '#' || text[0] == ';') return true;
      if (text[0] == '[') {
        if (text.back() != ']') return false;
        std::string_view name = trimmed(text.substr(1, text.size() - 2));
        if (name == "profile default") name = "default";
        inside = name == wanted, group.clear();
        if (inside && !found) found.emplace();
        return true;
      }
      const size_t sign = text.find('=');
      if (sign == std::string_view::npos) return false;
      const std::string key(trimmed(text.substr(0, sign))), value(trimmed(text.substr(sign + 1)));
      if (!indented) group = value.empty() ? key + "." : "";
      if (inside) (*found)[(indented ? group : "") + key] = value;
      return true;
    }
  };

  Error not_understood(int number) const {
    return Error(ErrorKind::bad_data, 683, "a file of AWS profiles cannot be understood")
        .where(fmt::format("{}:{}", printable(path_), number))
        .expected("[PROFILE] or NAME = VALUE");
  }

  std::string path_, prefix_;
};

std::string home_file(const char* variable, const char* name) {
  if (auto path = foreign_environment(variable); !path.empty()) return path;
  const std::string home = foreign_environment("HOME");
  return home.empty() ? "" : fmt::format("{}/.aws/{}", home, name);
}

// What both files say of the profile; keys of `credentials` come first.
Profile chosen_profile() {
  const std::string wanted = first_set({"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  const std::string name = wanted.empty() ? "default" : wanted;
  const ProfileFile credentials(home_file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), "");
  const ProfileFile config(home_file("AWS_CONFIG_FILE", "config"), "profile ");
  auto made = credentials.profile(name), more = config.profile(name);
  if (!made && !more && !wanted.empty())
    throw Error(ErrorKind::bad_data, 683, fmt::format("there is no AWS profile \"{}\"", printable(wanted)))
        .expected("a section of it in ~/.aws/credentials or ~/.aws/config")
        .help("set AWS_PROFILE to another one, or unset it");
  Profile profile = made.value_or(Profile());
  if (more) profile.insert(more->begin(), more->end());
  return profile;
}

void set_keys(AwsSettings& settings, const Profile& profile) {
  const auto of_profile = [&](const char* name) {
    const auto found = profile.find(name);
    return found == profile.end() ? std::string() : found->second;
  };
  settings.key_id = foreign_environment("AWS_ACCESS_KEY_ID");
  settings.secret = Secret(foreign_environment("AWS_SECRET_ACCESS_KEY"));
  settings.token = Secret(foreign_environment("AWS_SESSION_TOKEN"));
  if (settings.key_id.empty() != settings.secret.empty())
    throw Error(ErrorKind::usage, 682, "one half of the keys for object storage is not set")
        .got(settings.key_id.empty() ? "AWS_SECRET_ACCESS_KEY alone" : "AWS_ACCESS_KEY_ID alone")
        .help("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or none of them to use ~/.aws/credentials");
  if (!settings.key_id.empty()) return;
  settings.key_id = of_profile("aws_access_key_id");
  settings.secret = Secret(of_profile("aws_secret_access_key"));
  settings.token = Secret(of_profile("aws_session_token"));
  if (settings.key_id.empty() || settings.secret.empty())
    throw Error(ErrorKind::missing, 682, "there are no keys for object storage")
        .expected("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile with both in ~/.aws/credentials")
        .help("aws configure export-credentials --format env prints those of roles and of single sign-on");
}

// Without '/' at its end.
std::string checked_endpoint(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (url.empty()) return url;
  const size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (scheme && url.size() > scheme && url.find_first_of("/?#@ ", scheme) == std::string::npos) return url;
  throw Error(ErrorKind::usage, 682, "the endpoint of object storage is no address of a server")
      .expected("https://HOST or https://HOST:PORT, without a path, a name or a password in it")
      .help("mend AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or endpoint_url of the profile");
}

}  // namespace

AwsSettings aws_settings() {
  const Profile profile = chosen_profile();
  const auto or_profile = [&](std::string text, const char* name) {
    const auto found = profile.find(name);
    return text.empty() && found != profile.end() ? found->second : text;
  };
  AwsSettings settings;
  set_keys(settings, profile);
  settings.region = or_profile(first_set({"AWS_REGION", "AWS_DEFAULT_REGION"}), "region");
  if (settings.region.empty()) settings.region = "us-east-1";
  settings.endpoint =
      checked_endpoint(or_profile(first_set({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}), "endpoint_url"));
  settings.certificates = or_profile(foreign_environment("AWS_CA_BUNDLE"), "ca_bundle");
  const std::string style = or_profile("", "s3.addressing_style");
  settings.path_style = style == "path" || (style != "virtual" && !settings.endpoint.empty());
  return settings;
}

}  // namespace retrace

#include "retrace/train/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/base/json_value.h"
#include "retrace/train/run_folder.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr int kSchema = 1;
constexpr uint64_t kMostBytes = 100'000'000;
constexpr std::string_view kOwnHash = ",\"sha256\":\"";
constexpr const char* kWhatHelps =
    "take it from a copy of the run, or train anew; without manifest.json a run is taken as it is";

// Everything before the hash of itself.
std::string body_of(const Manifest& manifest) {
  const Json files = Json::list(manifest.files, [](const Manifest::File& file) {
    return Json::object({{"name", file.name}, {"bytes", file.hash.bytes}, {"sha256", file.hash.sha256}});
  });
  std::vector<Json::Member> identity;
  for (const auto& [name, value] : manifest.identity) identity.emplace_back(name, value);
  std::string text = Json::object({{"schema", kSchema}, {"files", files}, {"identity", Json::object(identity)}}).text();
  text.pop_back();  // the brace
  return text;
}

Error damaged(const fs::path& path, const std::string& why) {
  return Error(ErrorKind::bad_data, 642, fmt::format("the manifest \"{}\" is damaged", printable(path.string())))
      .got(why)
      .help(kWhatHelps);
}

Manifest parse_manifest(const std::string& text, const fs::path& path) {
  const size_t end = text.rfind(kOwnHash);
  if (end == std::string::npos) throw damaged(path, "no hash of its own text");
  const std::string_view body = std::string_view(text).substr(0, end);
  if (text.substr(end) != fmt::format("{}{}\"}}\n", kOwnHash, sha256_text(body)))
    throw damaged(path, "another text than the one that was written");
  const auto json = JsonValue::parse(text);
  const auto *files = json ? json->find("files") : nullptr, *identity = json ? json->find("identity") : nullptr;
  if (!files || !files->list() || !identity || !identity->members()) throw damaged(path, "no manifest");
  if (json->integer_or("schema", 0) != kSchema) throw damaged(path, "\"schema\" of another version of retrace");
  Manifest manifest;
  for (const auto& file : *files->list()) {
    const int64_t bytes = file.integer_or("bytes", -1);
    if (bytes < 0) throw damaged(path, "no manifest");
    manifest.files.push_back(
        {file.string_or("name", ""), {static_cast<uint64_t>(bytes), file.string_or("sha256", "")}});
  }
  for (const auto& [name, value] : *identity->members()) {
    if (!value.string()) throw damaged(path, "no manifest");
    manifest.identity.emplace_back(name, *value.string());
  }
  return manifest;
}

// What is wrong with a file; empty: nothing.
std::string problem_of(const fs::path& run, const Manifest::File& file) {
  std::error_code failure;
  const fs::path path = run / file.name;
  if (!fs::is_regular_file(path, failure)) return "is missing";
  if (const uint64_t bytes = fs::file_size(path, failure); bytes != file.hash.bytes)
    return fmt::format("has {} bytes, not {}", bytes, file.hash.bytes);
  return hash_file(path, "file of a run") == file.hash ? "" : "has other content";
}

void throw_problems(const fs::path& run, const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  throw Error(
      ErrorKind::bad_data, 643,
      fmt::format("the run \"{}\" is not what was written: {}", printable(run.string()), problems_text(problems)))
      .help(kWhatHelps);
}

// Of the files of the manifest for which wanted(name) is true, and of those that are not in it.
template <class Wanted>
void check_some(const fs::path& run, const Wanted& wanted) {
  const auto manifest = read_manifest(run);
  if (!manifest) return;
  std::vector<std::string> problems;
  for (const auto& file : manifest->files)
    if (const std::string problem = wanted(file.name) ? problem_of(run, file) : ""; !problem.empty())
      problems.push_back(printable(file.name) + " " + problem);
  for (const auto& name : files_of_run(run)) {
    const bool known = std::any_of(manifest->files.begin(), manifest->files.end(),
                                   [&](const auto& file) { return file.name == name; });
    if (!known && wanted(name)) problems.push_back(printable(name) + " was not there");
  }
  throw_problems(run, problems);
}

}  // namespace

std::string problems_text(const std::vector<std::string>& problems) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < std::min(problems.size(), kMost); ++i) text += (i > 0 ? "; " : "") + problems[i];
  if (problems.size() > kMost) text += fmt::format("; and {} more", problems.size() - kMost);
  return text;
}

fs::path manifest_path(const fs::path& run) { return run / "manifest.json"; }

void write_manifest(const fs::path& run, const NamedValues& identity) {
  Manifest manifest{.files = {}, .identity = identity};
  for (const auto& name : files_of_run(run)) manifest.files.push_back({name, hash_file(run / name, "file of a run")});
  const std::string body = body_of(manifest);
  write_file_whole(manifest_path(run), fmt::format("{}{}{}\"}}\n", body, kOwnHash, sha256_text(body)));
}

std::optional<Manifest> read_manifest(const fs::path& run) {
  const fs::path path = manifest_path(run);
  std::error_code failure;
  if (!fs::exists(path, failure)) return std::nullopt;
  return parse_manifest(read_file(path, "manifest", kMostBytes), path);
}

void check_files(const fs::path& run) {
  check_some(run, [](const std::string&) { return true; });
}

void check_file(const fs::path& run, const std::string& name) {
  check_some(run, [&](const std::string& other) { return other == name; });
}

}  // namespace retrace

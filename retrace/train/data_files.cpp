#include "retrace/train/data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/base/json_value.h"
#include "retrace/base/sha256.h"
#include "retrace/train/manifest.h"
#include "retrace/train/metrics_log.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr const char* kName = "data.jsonl";  // data_files_path()
constexpr const char* kWhat = "data file";

// What is known of a file without reading it.
struct FileTimes {
  uint64_t bytes = 0;
  int64_t time = 0;  // of the last change, in nanoseconds since 1970
  bool operator==(const FileTimes&) const = default;
};

struct KnownFile {
  FileTimes times;
  std::string sha256;       // "": the data were too large
  std::string object, tag;  // "s3://bucket/key", and the storage's name of its content
};

FileTimes times_of(const SourceFile& source) {
  if (!source.tag.empty()) return {source.bytes, 0};
  const fs::path path = source.path;
  std::error_code failure;
  const uint64_t bytes = fs::file_size(path, failure);
  const auto time = failure ? fs::file_time_type() : fs::last_write_time(path, failure);
  if (failure) throw missing_path(path, kWhat);
  return {bytes, std::chrono::nanoseconds(fs::file_time_type::clock::to_sys(time).time_since_epoch()).count()};
}

// The folder in which all paths are, with '/' at its end; "" if there is none.
std::string common_folder(const std::vector<SourceFile>& sources) {
  std::string common = sources.empty() ? "" : sources[0].path;
  for (const auto& source : sources) {
    const std::string& path = source.path;
    const auto [end, other] = std::mismatch(common.begin(), common.end(), path.begin(), path.end());
    common.erase(end, common.end());
  }
  const size_t slash = common.rfind('/');
  return slash == std::string::npos ? "" : common.substr(0, slash + 1);
}

Error damaged(const fs::path& path) {
  return Error(ErrorKind::bad_data, 679, fmt::format("\"{}\" is damaged", printable(path.string())))
      .help("take it from a copy of the run, or remove it: data are then compared by samples of them alone");
}

std::map<std::string, KnownFile> read_known(const fs::path& run) {
  check_file(run, kName);
  std::map<std::string, KnownFile> known;
  for (const auto& line : read_log_lines(run / kName)) {
    const auto json = JsonValue::parse(line);
    const std::string name = json ? json->string_or("name", "") : "";
    if (name.empty()) throw damaged(run / kName);
    known[name] = {{static_cast<uint64_t>(json->integer_or("bytes", -1)), json->integer_or("time", -1)},
                   json->string_or("sha256", ""),
                   json->string_or("object", ""),
                   json->string_or("tag", "")};
  }
  return known;
}

// What is wrong with a file; empty: nothing.
std::string problem_of(const SourceFile& source, const KnownFile& known, DataCheck which) {
  const FileTimes now = times_of(source);
  if (now.bytes != known.times.bytes) return fmt::format("has {} bytes, not {}", now.bytes, known.times.bytes);
  // Tags of equal copies differ where a storage encrypts them, or got them in parts.
  if (!source.tag.empty() || !known.tag.empty())
    return source.path != known.object || source.tag == known.tag ? "" : "was written again";
  if (known.sha256.empty()) return now == known.times ? "" : "was changed at another time";
  if (which == DataCheck::changed && now == known.times) return "";
  return hash_file(source.path, kWhat).sha256 == known.sha256 ? "" : "has other content";
}

}  // namespace

fs::path data_files_path(const fs::path& run) { return run / kName; }

std::vector<DataFile> data_files(const TrainingTask& task) {
  std::vector<SourceFile> sources = task.data.train.source()->files();
  if (task.tested)
    for (auto& source : task.data.test.source()->files()) sources.push_back(std::move(source));
  const auto path = [](const SourceFile& source) -> const std::string& { return source.path; };
  std::ranges::sort(sources, {}, path);
  const auto twice = std::ranges::unique(sources, {}, path);
  sources.erase(twice.begin(), twice.end());
  const size_t common = common_folder(sources).size();
  std::vector<DataFile> files;
  for (auto& source : sources) {
    std::string name = printable(source.path.substr(common));
    files.push_back({std::move(name), std::move(source)});
  }
  return files;
}

void write_data_files(const fs::path& run, const std::vector<DataFile>& files) {
  if (files.empty()) return;
  uint64_t bytes = 0;
  std::vector<FileTimes> times;
  for (const auto& file : files) {
    times.push_back(times_of(file.source));
    if (file.source.tag.empty()) bytes += times.back().bytes;
  }
  std::string text;
  for (size_t i = 0; i < files.size(); ++i) {
    const SourceFile& source = files[i].source;
    const bool on_disk = source.tag.empty();
    const std::string hash = on_disk && bytes <= kMostHashedBytes ? hash_file(source.path, kWhat).sha256 : "";
    const Json line =
        on_disk
            ? Json::object(
                  {{"name", files[i].name}, {"bytes", times[i].bytes}, {"time", times[i].time}, {"sha256", hash}})
            : Json::object(
                  {{"name", files[i].name}, {"bytes", times[i].bytes}, {"object", source.path}, {"tag", source.tag}});
    text += line.text() + "\n";
  }
  write_file_whole(data_files_path(run), text);
}

void check_data_files(const fs::path& run, const std::vector<DataFile>& files, DataCheck which) {
  if (std::error_code ignored; !fs::exists(data_files_path(run), ignored)) return;
  auto known = read_known(run);
  if (std::none_of(files.begin(), files.end(), [&](const auto& file) { return known.contains(file.name); })) return;
  std::vector<std::string> problems;
  for (const auto& file : files) {
    const auto found = known.find(file.name);
    const std::string problem = found == known.end() ? "was not there" : problem_of(file.source, found->second, which);
    if (!problem.empty()) problems.push_back(file.name + " " + problem);
    if (found != known.end()) known.erase(found);
  }
  for (const auto& [name, file] : known) problems.push_back(name + " is missing");
  if (problems.empty()) return;
  throw Error(
      ErrorKind::bad_data, 678,
      fmt::format("the data are not those of the run \"{}\": {}", printable(run.string()), problems_text(problems)))
      .help("put the files of then back, or train anew");
}

}  // namespace retrace

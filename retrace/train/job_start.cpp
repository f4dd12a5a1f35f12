#include "retrace/train/job_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/joined.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/tar.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start_text.h"
#include "retrace/train/unread_files.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> built_in_sources() {
  std::vector<std::string> names;
  for (const auto& source : all_sources())
    if (!source.reads_folder) names.push_back(source.name);
  return names;
}

Error no_data(const std::string& data, const char* why) {
  return Error(ErrorKind::usage, 673, fmt::format("no job can start from \"{}\", which {}", printable(data), why));
}

DataLook look_at(const SourceKind& source, const fs::path& folder, const std::string& target) {
  if (source.look_for_target) return source.look_for_target(folder, target);
  return {source.look ? source.look(folder) : OptionValues(), {}};
}

// A part of a test set is a mistake.
bool has_test_files(const fs::path& folder) {
  std::error_code failure;
  const auto names = folder_names(folder, failure);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with("test") || name.starts_with("t10k"); });
}

// A test set, or else a fifth of the training set.
void find_test_set(FoundData& data) {
  constexpr double kShare = 0.2;
  SourceRequest& request = data.request;
  request.training = data.train.facts;
  try {
    if (!request.whole) {
      data.test = data.source->description(Split::test, request);
      return;
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::missing || data.train.samples < 2 || has_test_files(request.path)) throw;
  }
  data.test_share = request.test_share = kShare;
  request.whole = true;
  const TestParts parts = test_parts_of(*data.source, request, data.source->load(Split::train, request));
  data.test = data.train;
  data.train.samples = std::ssize(parts.train), data.test.samples = std::ssize(parts.test);
}

FoundData found_by(const SourceKind& source, const fs::path& folder, const std::string& target = {}) {
  DataLook look = look_at(source, folder, target);
  std::error_code ignored;
  FoundData data{.source = &source, .notes = std::move(look.notes)};
  data.request = {.path = folder,
                  .options = with_standard_values(std::move(look.options), source.options),
                  .whole = source.look_for_target && fs::is_regular_file(folder, ignored)};
  data.train = source.description(Split::train, data.request);
  if (source.look_for_target && data.request.options.find("features"))
    data.request.options.set("features", data.train.variables[0].shape.back());
  return data;
}

// A table or arrays, of which another source may read more.
FoundData found_in_file(const std::string& source, const fs::path& file, const std::string& target) {
  for (const auto& other : all_sources()) {
    if (other.nearer_than != source) continue;
    try {
      return found_by(other, file, target);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::missing) throw;
    }
  }
  return found_by(kind_of(all_sources(), source, "data source", {}), file, target);
}

// Folders that lie in a folder, or at the top of an archive.
std::set<fs::path> folders_in(const fs::path& folder) {
  std::set<fs::path> found;
  if (const auto archive = archive_path(folder.string()); archive && archive->inside.empty()) {
    const TarArchive opened(archive->archive);
    for (const auto& entry : opened.entries())
      if (const size_t end = entry.name.find('/'); end != std::string::npos)
        found.insert(folder / entry.name.substr(0, end));
    return found;
  }
  std::error_code failure;
  for (const auto& name : folder_names(folder, failure))
    if (std::error_code ignored; fs::is_directory(folder / name, ignored)) found.insert(folder / name);
  return found;
}

// Where data lie that a user may have meant: one folder further down. Looked for in few folders.
std::string folder_meant(const fs::path& folder) {
  constexpr size_t kMostFolders = 8;
  const auto folders = folders_in(folder);
  for (const auto& inner : folders) {
    if (folders.size() > kMostFolders) break;
    for (const auto& source : all_sources()) {
      if (!source.reads_folder || source.forecasts) continue;
      try {
        found_by(source, inner);
        return fmt::format("did you mean \"{}\"?", printable(inner.string()));
      } catch (const Error&) {}
    }
  }
  return "";
}

// What sources find in a folder, and the first error of one whose files are there.
FoundData found_in(const fs::path& folder, const std::string& target) {
  std::vector<FoundData> found;
  std::vector<Error> errors;
  std::vector<std::string> known;
  for (const auto& source : all_sources()) {
    if (!source.reads_folder || source.forecasts) continue;
    known.push_back(fmt::format("{} ({})", source.files, source.name));
    try {
      found.push_back(found_by(source, folder, target));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::missing) errors.push_back(error);
    }
  }
  std::erase_if(found, [&](const FoundData& one) {
    return std::any_of(found.begin(), found.end(),
                       [&](const FoundData& other) { return other.source->nearer_than == one.source->name; });
  });
  if (found.size() == 1) return std::move(found[0]);
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const FoundData& one : found) names.push_back(one.source->name);
    throw no_data(folder.string(), "holds data of several sources")
        .got(joined(names, ", "))
        .help("name one of them: --source " + names[0] + "; or put the files of each into a folder of their own");
  }
  if (!errors.empty()) throw errors[0];
  for (const auto& [source, endings] : {std::pair("csv", ".csv .tsv "), std::pair("npy", ".npz ")})
    if (const auto file = only_file(folder, endings)) return found_in_file(source, *file, target);
  Error error = no_data(folder.string(), "holds no data that a source reads");
  const auto unread = unread_files(folder);
  if (unread) error.got(unread->found);
  error.expected(joined(known, "; "));
  const std::string inner = folder_meant(folder);
  throw error.help(!inner.empty() ? inner : unread ? unread->help : "docs/data.md says how the files are named");
}

// What the source of that name finds, also in a folder with one table or file of arrays of any name.
FoundData found_by_name(const std::string& name, const fs::path& data, const std::string& target) {
  const SourceKind& source = kind_of(all_sources(), name, "data source", {});
  try {
    return found_by(source, data, target);
  } catch (const Error& error) {
    const auto file = name == "csv"   ? only_file(data, ".csv .tsv ")
                      : name == "npy" ? only_file(data, ".npz ")
                                      : std::nullopt;
    if (error.kind() != ErrorKind::missing || !file) throw;
    return found_by(source, *file, target);
  }
}

FoundData find_data(const std::string& data, const std::string& target) {
  std::error_code ignored;
  if (is_s3(data)) return found_by(kind_of(all_sources(), "images", "data source", {}), data);
  if (fs::is_directory(data, ignored) || archive_path(data)) return found_in(data, target);
  for (const auto& [ending, source] :
       {std::pair(".txt", "text"), std::pair(".csv", "csv"), std::pair(".tsv", "csv"), std::pair(".npz", "npy")})
    if (fs::is_regular_file(data, ignored) && data.ends_with(ending)) return found_in_file(source, data, target);
  if (fs::exists(data, ignored)) {
    const auto unread = unread_files(data);
    throw no_data(data, "is neither a folder, a text (.txt), a table (.csv, .tsv) nor arrays (.npz)")
        .help(unread ? unread->help : "give the folder that holds training set and test set");
  }
  for (const auto& source : all_sources()) {
    if (source.name != data) continue;
    if (!source.reads_folder) return found_by(source, {});
    throw no_data(data, "reads the files of a folder").help(fmt::format("give the folder that holds {}", source.files));
  }
  const auto names = built_in_sources();
  const std::string near = nearest(data, names);
  throw no_data(data, "is neither a folder nor a built-in data set")
      .expected(fmt::format("a folder, or one of {}", joined(names, ", ")))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

// Of the training set, where its description does not say it.
int64_t classes_in(const FoundData& data) {
  const Datastore store = data.source->load(Split::train, data.request).store;
  int64_t largest = 0;
  for (int64_t i = 0; i < store.size(); ++i) largest = std::max<int64_t>(largest, store.get(i)[1].item<int32_t>());
  return largest + 1;
}

// The training samples of each class, where the largest has several times as many as the smallest.
void find_uneven_classes(FoundData& data) {
  constexpr int64_t kUneven = 3;
  const SourceSet set = data.source->load(Split::train, data.request);
  const auto labels = labels_of(set.store, 1);
  if (!labels) return;
  std::vector<int64_t> counts(static_cast<size_t>(data.classes));
  const auto add = [&](int64_t sample) { ++counts.at(static_cast<size_t>((*labels)[static_cast<size_t>(sample)])); };
  if (data.test_share > 0)
    for (const int64_t sample : test_parts_of(*data.source, data.request, set).train) add(sample);
  else
    for (int64_t sample = 0; sample < set.store.size(); ++sample) add(sample);
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (counts.size() > 1 && *most >= kUneven * *least) data.class_samples = counts;
}

double rounded(double x, int digits) {
  const std::string text = fmt::format("{:.{}g}", x, digits);
  double value = x;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Mean and deviation of learned values of the training set; a network that begins near 0 would need long to reach large
// ones. Padding is left out.
void find_scale(FoundData& data) {
  constexpr double kNear = 10;
  const SourceSet set = data.source->load(Split::train, data.request);
  std::vector<int64_t> samples(static_cast<size_t>(set.store.size()));
  std::iota(samples.begin(), samples.end(), 0);
  if (data.test_share > 0) samples = test_parts_of(*data.source, data.request, set).train;
  double count = 0, mean = 0, squares = 0;
  for (const int64_t sample : samples)
    for (const float value : set.store.get(sample)[1].to_vector<float>()) {
      if (!std::isfinite(value)) continue;
      count += 1;
      const double from_mean = value - mean;
      mean += from_mean / count;
      squares += from_mean * (value - mean);
    }
  const double deviation = count > 0 ? std::sqrt(squares / count) : 0;
  if (deviation == 0 || (deviation < kNear && deviation > 1 / kNear && std::abs(mean) < kNear)) return;
  data.scale = rounded(deviation, 3), data.offset = rounded(mean, 6);
}

// Throws what the training would throw before its first step.
void check_start(const std::string& text, const std::string& file) {
  const Job job = parse_job(text, file);
  describe_job_data(job, make_job_network(job));
}

}  // namespace

JobStart start_job(const JobStartOptions& options) {
  const FloatingPointScope floating_point;
  FoundData data = options.source.empty() ? find_data(options.data, options.target)
                                          : found_by_name(options.source, options.data, options.target);
  if (!options.target.empty() && !data.source->look_for_target)
    throw Error(ErrorKind::usage, 498,
                fmt::format("data that the source \"{}\" reads have no target to choose", data.source->name))
        .got(fmt::format("target \"{}\"", printable(options.target)))
        .help("leave it out: the columns of a table alone can be named (CSV)");
  find_test_set(data);
  data.target = targets_of(*data.source, data.request.options)[0];
  if (is_scores(data.target.kind)) data.classes = data.train.classes > 0 ? data.train.classes : classes_in(data);
  if (data.target.kind == nn::OutputKind::class_scores) find_uneven_classes(data);
  if (data.target.kind == nn::OutputKind::values || data.target.kind == nn::OutputKind::series_values) find_scale(data);
  JobStart start{data.source->name, data.train.samples,
                 data.test.samples, data.train.variables[0].shape,
                 data.classes,      start_text(data, options.network, options.file)};
  check_start(start.text, options.file);
  return start;
}

}  // namespace retrace

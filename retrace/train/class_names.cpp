#include "retrace/train/class_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/base/json_value.h"
#include "retrace/train/job_data.h"
#include "retrace/train/manifest.h"

namespace retrace {
namespace {

constexpr uint64_t kMaxFile = 100'000'000;

std::filesystem::path file_of(const std::filesystem::path& run) { return run / "classes.json"; }

bool are_numbers(const ClassNames& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] != fmt::format("{}", i)) return false;
  return true;
}

}  // namespace

ClassNames kept_class_names(const std::vector<std::string>& names) {
  ClassNames kept;
  for (const auto& name : names) kept.push_back(printable(name));
  return are_numbers(kept) ? ClassNames() : kept;
}

ClassNames class_names_of(const Job& given, const ClassNames& known) {
  const Job job = resolved(given);
  const auto& source = source_of(job);
  if (!source.class_names) return {};
  SourceRequest request = source_request(job, 0);
  request.training.class_names = known;
  return kept_class_names(source.class_names(request));
}

std::string class_name(const ClassNames& names, int64_t number) {
  return number < static_cast<int64_t>(names.size()) ? names[static_cast<size_t>(number)] : fmt::format("{}", number);
}

void write_class_names(const std::filesystem::path& run, const ClassNames& names) {
  const Json list = Json::list(names, [](const std::string& name) { return Json(name); });
  write_file_whole(file_of(run), Json::object({{"classes", list}}).text() + "\n");
}

ClassNames read_class_names(const std::filesystem::path& run) {
  check_file(run, "classes.json");
  const auto path = file_of(run);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const auto read = JsonValue::parse(read_file(path, "class names", kMaxFile));
  const auto* found = read ? read->find("classes") : nullptr;
  const auto* list = found ? found->list() : nullptr;
  if (!list || !std::all_of(list->begin(), list->end(), [](const auto& name) { return name.string(); }))
    throw Error(ErrorKind::bad_data, 670, fmt::format("\"{}\" is damaged", printable(path.string())))
        .expected("{\"classes\":[\"NAME\",...]}")
        .help("take the file of another run on the same data, or remove it: classes then have their numbers alone");
  ClassNames names;
  for (const auto& name : *list) names.push_back(*name.string());
  return names;
}

}  // namespace retrace

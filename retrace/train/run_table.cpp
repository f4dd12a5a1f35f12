#include "retrace/train/run_table.h"

#include <fmt/format.h>

#include <set>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/base/json_value.h"
#include "retrace/train/class_names.h"
#include "retrace/train/manifest.h"

namespace retrace {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kName = "table.json";
constexpr uint64_t kMaxFile = 100'000'000;

bool are_unique(const std::vector<const Names*>& lists) {
  std::set<std::string> known;
  for (const Names* names : lists)
    for (const auto& name : *names)
      if (!known.insert(printable(name)).second) return false;
  return true;
}

Json list_of(const Names& names) {
  return Json::list(names, [](const std::string& name) { return Json(printable(name)); });
}

// Nothing unless it is a list of texts.
std::optional<Names> names_of(const std::optional<JsonValue>& json, const char* member) {
  const auto* found = json ? json->find(member) : nullptr;
  const auto* list = found ? found->list() : nullptr;
  if (!list) return {};
  Names names;
  for (const auto& name : *list) {
    if (!name.string()) return {};
    names.push_back(*name.string());
  }
  return names;
}

}  // namespace

void write_run_table(const std::filesystem::path& run, const TrainingFacts& facts) {
  if (facts.features.empty() || !are_unique({&facts.features, &facts.targets}) || !are_unique({&facts.class_names}))
    return;
  const Json table = Json::object({{"features", list_of(facts.features)},
                                   {"targets", list_of(facts.targets)},
                                   {"classes", list_of(facts.class_names)}});
  write_file_whole(run / kName, table.text() + "\n");
}

TrainingFacts read_run_table(const std::filesystem::path& run) {
  check_file(run, kName);
  std::error_code ignored;
  if (!std::filesystem::exists(run / kName, ignored)) return {};
  const auto read = JsonValue::parse(read_file(run / kName, "table of a run", kMaxFile));
  const auto features = names_of(read, "features"), targets = names_of(read, "targets"),
             classes = names_of(read, "classes");
  if (!features || !targets || !classes || features->empty())
    throw Error(ErrorKind::bad_data, 736, fmt::format("\"{}\" is damaged", printable((run / kName).string())))
        .expected("{\"features\":[\"NAME\",...],\"targets\":[\"NAME\",...],\"classes\":[\"NAME\",...]}")
        .help(
            "take it from a copy of the run, or remove it: columns then count in their order, and tests read the "
            "training set");
  return {.class_names = *classes, .features = *features, .targets = *targets};
}

TrainingFacts read_run_facts(const std::filesystem::path& run) {
  TrainingFacts facts = read_run_table(run);
  if (facts.features.empty()) facts.class_names = read_class_names(run);
  return facts;
}

}  // namespace retrace

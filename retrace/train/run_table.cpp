#include "retrace/train/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>

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

// Whether names that differ look different, too, where they are kept; a feature may also be a target.
bool are_unique(std::initializer_list<const Names*> lists) {
  std::map<std::string, std::string> known;
  for (const Names* names : lists)
    for (const auto& name : *names)
      if (known.emplace(printable(name), name).first->second != name) return false;
  return true;
}

Json list_of(const Names& names) {
  return Json::list(names, [](const std::string& name) { return Json(printable(name)); });
}

// Nothing unless it is a list of texts.
std::optional<Names> names_in(const JsonValue* found) {
  const auto* list = found ? found->list() : nullptr;
  if (!list) return {};
  Names names;
  for (const auto& name : *list) {
    if (!name.string()) return {};
    names.push_back(*name.string());
  }
  return names;
}
std::optional<Names> names_of(const std::optional<JsonValue>& json, const char* member) {
  return names_in(json ? json->find(member) : nullptr);
}

bool has_categories(const TrainingFacts& facts) {
  return std::any_of(facts.categories.begin(), facts.categories.end(), [](const Names& one) { return !one.empty(); });
}

// Of each feature, where there are any; numbers as text, which is exact. Nothing where it is damaged.
std::optional<std::vector<Names>> categories_of(const JsonValue* found, size_t features) {
  if (!found) return std::vector<Names>{};
  const auto* lists = found->list();
  if (!lists || lists->size() != features) return {};
  std::vector<Names> categories;
  for (const auto& list : *lists) {
    auto names = names_in(&list);
    if (!names) return {};
    categories.push_back(std::move(*names));
  }
  return categories;
}
std::optional<std::vector<float>> means_of(const JsonValue* found, size_t features) {
  if (!found) return std::vector<float>{};
  const auto texts = names_in(found);
  if (!texts || texts->size() != features) return {};
  std::vector<float> means;
  for (const auto& text : *texts) {
    float& mean = means.emplace_back();
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), mean);
    if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(mean)) return {};
  }
  return means;
}

}  // namespace

void write_run_table(const std::filesystem::path& run, const TrainingFacts& facts) {
  if (facts.features.empty() || !are_unique({&facts.features, &facts.targets}) || !are_unique({&facts.class_names}))
    return;
  for (const Names& categories : facts.categories)
    if (!are_unique({&categories})) return;
  std::vector<Json::Member> table = {{"features", list_of(facts.features)},
                                     {"targets", list_of(facts.targets)},
                                     {"classes", list_of(facts.class_names)}};
  if (has_categories(facts)) table.emplace_back("categories", Json::list(facts.categories, list_of));
  if (!facts.means.empty())
    table.emplace_back("means", Json::list(facts.means, [](float mean) { return Json(fmt::format("{}", mean)); }));
  write_file_whole(run / kName, Json::object(table).text() + "\n");
}

TrainingFacts read_run_table(const std::filesystem::path& run) {
  check_file(run, kName);
  std::error_code ignored;
  if (!std::filesystem::exists(run / kName, ignored)) return {};
  const auto read = JsonValue::parse(read_file(run / kName, "table of a run", kMaxFile));
  const auto features = names_of(read, "features"), targets = names_of(read, "targets"),
             classes = names_of(read, "classes");
  const auto* const lists = read ? read->find("categories") : nullptr;
  const auto* const numbers = read ? read->find("means") : nullptr;
  const size_t columns = features ? features->size() : 0;
  const auto categories = categories_of(lists, columns);
  const auto means = means_of(numbers, columns);
  if (!features || !targets || !classes || features->empty() || !categories || !means)
    throw Error(ErrorKind::bad_data, 736, fmt::format("\"{}\" is damaged", printable((run / kName).string())))
        .expected("{\"features\":[\"NAME\",...],\"targets\":[\"NAME\",...],\"classes\":[\"NAME\",...]}")
        .help(
            "take it from a copy of the run, or remove it: columns then count in their order, and tests read the "
            "training set");
  return {
      .class_names = *classes, .features = *features, .targets = *targets, .categories = *categories, .means = *means};
}

TrainingFacts read_run_facts(const std::filesystem::path& run) {
  TrainingFacts facts = read_run_table(run);
  if (facts.features.empty()) facts.class_names = read_class_names(run);
  return facts;
}

}  // namespace retrace

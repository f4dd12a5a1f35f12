#include "retrace/nn/normalization_rules.h"

#include <algorithm>

namespace retrace::nn {
namespace {

template <class Choice>
struct NamedChoice {
  const char* name;
  Choice choice;
};

constexpr NamedChoice<Normalization> kNormalizations[] = {{"none", Normalization::none},
                                                          {"zerocenter", Normalization::zerocenter},
                                                          {"zscore", Normalization::zscore},
                                                          {"rescale-symmetric", Normalization::rescale_symmetric},
                                                          {"rescale-zero-one", Normalization::rescale_zero_one}};
constexpr NamedChoice<NormalizeBy> kBy[] = {
    {"channel", NormalizeBy::channel}, {"element", NormalizeBy::element}, {"all", NormalizeBy::all}};

template <class Choice, size_t n>
Choice choice_of(const NamedChoice<Choice> (&all)[n], const std::string& text) {
  for (const auto& one : all)
    if (text == one.name) return one.choice;
  return all[0].choice;
}

template <class Choice, size_t n>
std::string name_of_choice(const NamedChoice<Choice> (&all)[n], Choice choice) {
  for (size_t i = 1; i < n; ++i)
    if (all[i].choice == choice) return all[i].name;
  return "";
}

}  // namespace

OptionRule normalization_rule() {
  OptionRule rule{.name = "normalization",
                  .help = "what is subtracted, and divided by; without it nothing",
                  .standard = std::string()};
  for (const auto& one : kNormalizations) rule.choices.emplace_back(one.name);
  return rule;
}

OptionRule normalization_by_rule(const std::vector<NormalizeBy>& by) {
  OptionRule rule{.name = "normalization_by",
                  .help = "which numbers have statistics in common; without it a channel's",
                  .standard = std::string()};
  for (const auto& one : kBy)
    if (std::count(by.begin(), by.end(), one.choice)) rule.choices.emplace_back(one.name);
  return rule;
}

Normalization normalization_of(const OptionValues& options) {
  return choice_of(kNormalizations, options.text("normalization"));
}
NormalizeBy normalize_by_of(const OptionValues& options) { return choice_of(kBy, options.text("normalization_by")); }

std::string text_of(Normalization normalization) { return name_of_choice(kNormalizations, normalization); }
std::string text_of(NormalizeBy by) { return name_of_choice(kBy, by); }

}  // namespace retrace::nn

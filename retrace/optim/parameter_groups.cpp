#include "retrace/optim/parameter_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "retrace/base/joined.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

using Texts = std::vector<std::string>;

// A pattern with * for any text and ? for one character.
bool matches(std::string_view pattern, std::string_view path) {
  size_t p = 0, at = 0, star = pattern.npos, tried = 0;
  while (at < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, tried = at;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == path[at])) {
      ++p, ++at;
    } else {
      if (star == pattern.npos) return false;
      p = star + 1, at = ++tried;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

bool any_matches(std::string_view pattern, const Texts& paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const auto& path) { return matches(pattern, path); });
}

// The texts between these characters.
Texts between(std::string_view text, std::string_view characters) {
  Texts parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of(characters, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The names between the slashes of the paths, each once.
Texts names_in(const Texts& paths) {
  Texts names;
  for (const auto& path : paths)
    for (const auto& name : between(path, "/"))
      if (!std::count(names.begin(), names.end(), name)) names.push_back(name);
  return names;
}

// The pattern with those of its texts replaced by near names that occur in no name, or (`whole`) are none.
std::string with_near_names(const std::string& pattern, const Texts& names, bool whole) {
  std::string near = pattern;
  for (const auto& text : between(pattern, "*?/")) {
    const bool occurs = std::any_of(names.begin(), names.end(), [&](const auto& name) {
      return whole ? name == text : name.find(text) != name.npos;
    });
    const auto name = occurs ? "" : nearest(text, names);
    if (!name.empty()) near.replace(near.find(text), text.size(), name);
  }
  return near;
}

// A pattern like this one that matches something; "" if there is none.
std::string mended(const std::string& pattern, const Texts& paths) {
  const Texts names = names_in(paths);
  for (const bool whole : {false, true}) {
    const std::string near = with_near_names(pattern, names, whole);
    for (const auto& text : {near, near + "/*", "*/" + near, "*" + near, near + "*"})
      if (any_matches(text, paths)) return text;
  }
  return "";
}

[[noreturn]] void refuse_pattern(const ParameterGroup& group, const std::string& pattern, const Texts& paths,
                                 Place place) {
  constexpr size_t most = 8;
  const Texts first(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(std::min(most, paths.size())));
  const auto near = mended(pattern, paths);
  Error error(ErrorKind::usage, 461, fmt::format("the pattern \"{}\" of a group matches no parameter", pattern));
  error.expected(fmt::format("{}{}", joined(first, ", "),
                             paths.size() > most ? fmt::format(", ... ({} in all)", paths.size()) : ""));
  if (!near.empty()) error.help(fmt::format("did you mean \"{}\"?", near));
  throw group.place.empty() ? error.where(place) : error.where(group.place);
}

[[noreturn]] void refuse_group(const ParameterGroup& group, const std::string& what, const std::string& help,
                               Place place) {
  Error error(ErrorKind::usage, 462, what);
  error.help(help);
  throw group.place.empty() ? error.where(place) : error.where(group.place);
}

void check_group(const ParameterGroup& group, const Texts& paths, Place place) {
  if (group.parameters.empty())
    refuse_group(group, "a group of parameters has no patterns", "give parameters, such as \"*bias\"", place);
  for (const auto& pattern : group.parameters)
    if (!any_matches(pattern, paths)) refuse_pattern(group, pattern, paths, place);
  for (const double factor : {group.learn_rate_factor, group.l2_factor})
    if (!(factor >= 0 && factor <= 1e6))
      refuse_group(group, fmt::format("a factor of a group of parameters is {}", factor),
                   "learn_rate_factor and l2_factor are from 0 to 1000000", place);
}

}  // namespace

Tree ParameterPart::of(const Tree& parameters) const { return part_of(parameters, leaves); }

Tree ParameterPart::put(const Tree& parameters, const Tree& own) const { return with_part(parameters, leaves, own); }

std::vector<LeafTraining> leaf_training(const Tree& parameters, const std::vector<ParameterGroup>& groups,
                                        Place place) {
  Texts paths;
  for (const auto& leaf : leaves(parameters)) paths.push_back(leaf.first);
  std::vector<LeafTraining> all(paths.size());
  std::vector<bool> taken(paths.size());
  for (const auto& group : groups) {
    check_group(group, paths, place);
    bool takes = false;
    for (size_t i = 0; i < paths.size(); ++i) {
      const auto fits = [&](const std::string& pattern) { return matches(pattern, paths[i]); };
      if (taken[i] || !std::any_of(group.parameters.begin(), group.parameters.end(), fits)) continue;
      all[i] = {group.learn_rate_factor, group.l2_factor, group.frozen, group.options};
      taken[i] = takes = true;
    }
    if (!takes)
      refuse_group(group, "all parameters of a group are in groups before it",
                   "put what is narrower first: a parameter is in the first group that matches it", place);
  }
  return all;
}

std::vector<ParameterPart> parameter_parts(const std::vector<LeafTraining>& leaves, Place place) {
  std::vector<ParameterPart> parts;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].frozen) continue;
    auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& known) { return known.how == leaves[i]; });
    if (part == parts.end()) {
      parts.push_back({fmt::format("group_{}", parts.size() + 1), leaves[i]});
      part = parts.end() - 1;
    }
    part->leaves.push_back(i);
  }
  if (parts.empty())
    throw Error(ErrorKind::usage, 463, "all parameters are frozen").where(place).help("leave one of them unfrozen");
  return parts;
}

ParameterPart all_of(const std::vector<ParameterPart>& parts) {
  ParameterPart all;
  for (const auto& part : parts) all.leaves.insert(all.leaves.end(), part.leaves.begin(), part.leaves.end());
  std::sort(all.leaves.begin(), all.leaves.end());
  return all;
}

OptionValues SolverOfParts::options_of(const ParameterPart& part) const {
  OptionValues own = options;
  for (const auto& [name, value] : part.how.options) own.set(name, value);
  return completed(own, solver.options, fmt::format("solver \"{}\"", solver.name));
}

Tree SolverOfParts::initial(const Tree& parameters) const {
  if (parts.empty()) return solver.initial(parameters, options);
  if (solver.step_on_all) return solver.initial(all_of(parts).of(parameters), options);
  Tree states;
  for (const auto& part : parts) states[part.name] = solver.initial(part.of(parameters), options_of(part));
  return states;
}

SolverUpdate SolverOfParts::update(const Tree& parameters, const Tree& gradients, const Tree& state,
                                   const Operand& rate) const {
  if (parts.empty()) return solver.update(parameters, gradients, state, rate, options);
  SolverUpdate made{parameters, {}};
  for (const auto& part : parts) {
    const Tree own = part.of(parameters);
    const DType type = leaf_tensors(own)[0].type();
    const Operand own_rate =
        part.how.learn_rate == 1 ? rate : Operand(Number(rate).as(type) * Tensor::full(part.how.learn_rate, {}, type));
    const auto updated = solver.update(own, part.of(gradients), state[part.name], own_rate, options_of(part));
    made.parameters = part.put(made.parameters, updated.parameters);
    made.state[part.name] = updated.state;
  }
  return made;
}

}  // namespace retrace

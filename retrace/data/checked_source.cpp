#include "retrace/data/checked_source.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace retrace {
namespace {

constexpr int kMostLevels = 1000;  // reads of stores made of stores are recursive

std::string name_of(const DataSource& source) {
  const char* const mangled = typeid(source).name();
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : mangled;
}

void check_tensors(const DataSource& source, const std::vector<Tensor>& tensors, int expected, const char* call,
                   const std::string& what) {
  if (tensors.size() != static_cast<size_t>(expected))
    throw Error(
        ErrorKind::usage, 317,
        fmt::format("the source {} returned {} tensors from {} for {}", name_of(source), tensors.size(), call, what))
        .expected(fmt::format("{}, one for each of its variables", expected));
  for (size_t v = 0; v < tensors.size(); ++v)
    if (!tensors[v].defined())
      throw Error(ErrorKind::usage, 317,
                  fmt::format("the source {} returned no tensor for variable {} from {} for {}", name_of(source), v,
                              call, what))
          .expected("a tensor with a value");
}

}  // namespace

Observation checked_get(const DataSource& source, int64_t index, int64_t pass) {
  Observation observation = source.get(index, pass);
  const int variables = source.variables();
  if (observation.size() != static_cast<size_t>(variables) ||
      !std::all_of(observation.begin(), observation.end(), [](const Tensor& tensor) { return tensor.defined(); }))
    check_tensors(source, observation, variables, "get()", fmt::format("observation {}", index));
  return observation;
}

std::vector<Tensor> checked_gather(const DataSource& source, std::span<const int64_t> indices, int64_t pass,
                                   int variables) {
  std::vector<Tensor> batch = source.gather(indices, pass, variables);
  check_tensors(source, batch, variables, "gather()", fmt::format("{} observations", indices.size()));
  const auto rows = static_cast<int64_t>(indices.size());
  for (size_t v = 0; v < batch.size(); ++v)
    if (batch[v].rank() == 0 || batch[v].shape()[0] != rows)
      throw Error(ErrorKind::usage, 317,
                  fmt::format("the source {} returned a tensor of another size for variable {} from gather()",
                              name_of(source), v))
          .got(batch[v].spec().text())
          .expected(fmt::format("a first axis of {}, one row for each observation", rows));
  return batch;
}

void check_source(const DataSource* source, Place place) {
  if (!source) throw Error(ErrorKind::usage, 317, "a datastore is made without a source").where(place);
  if (source->size() < 0 || source->variables() < 1)
    throw Error(ErrorKind::usage, 317, fmt::format("the source {} has no data to give", name_of(*source)))
        .where(place)
        .got(fmt::format("size() {}, variables() {}", source->size(), source->variables()))
        .expected("size() of 0 or more, variables() of 1 or more");
  if (source->levels() > kMostLevels)
    throw Error(ErrorKind::usage, 317, fmt::format("more than {} stores lie on each other", kMostLevels))
        .where(place)
        .help("one transform can do what several do; subset() takes the indices of a whole order");
}

}  // namespace retrace

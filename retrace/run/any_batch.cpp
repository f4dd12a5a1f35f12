#include "retrace/run/any_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "retrace/trace/op.h"

namespace retrace {
namespace {

// Calls f(number, where) for every number of a trace that may depend on the batch, in a fixed order: int64_t& or
// double&.
template <class F>
void visit_numbers(Trace& trace, const F& f) {
  const auto shape = [&f](Shape& numbers, const Node* node) {
    for (int i = 0; i < numbers.rank(); ++i) f(numbers[i], node);
  };
  for (auto& node : trace.nodes)
    for (auto& attribute : node.attributes.entries()) {
      if (auto* whole = std::get_if<int64_t>(&attribute.value)) f(*whole, &node);
      if (auto* real = std::get_if<double>(&attribute.value)) f(*real, &node);
      if (auto* list = std::get_if<Shape>(&attribute.value)) shape(*list, &node);
      if (auto* body = std::get_if<std::shared_ptr<const Trace>>(&attribute.value)) {
        auto visited = std::make_shared<Trace>(**body);
        visit_numbers(*visited, f);
        *body = std::move(visited);
      }
    }
  for (auto& spec : trace.values) shape(spec.shape, nullptr);
}

struct Seen {
  bool real;
  int64_t whole;
  double number;
  const Node* node;
  bool operator==(const Seen& other) const {
    return whole == other.whole && std::bit_cast<uint64_t>(number) == std::bit_cast<uint64_t>(other.number);
  }
  // A real number that changes with the batch is a count, hence whole.
  bool is_whole() const { return !real || (number == std::trunc(number) && std::fabs(number) < 0x1p53); }
  int64_t value() const { return real ? static_cast<int64_t>(number) : whole; }
};

std::vector<Seen> numbers_of(Trace& trace) {
  std::vector<Seen> numbers;
  visit_numbers(trace, [&](auto& number, const Node* node) {
    if constexpr (std::is_same_v<std::decay_t<decltype(number)>, double>)
      numbers.push_back({true, 0, number, node});
    else
      numbers.push_back({false, number, 0, node});
  });
  return numbers;
}

Trace without_numbers(Trace trace) {
  visit_numbers(trace, [](auto& number, const Node*) { number = 0; });
  return trace;
}

std::string text_of(const Node* node) {
  return node ? fmt::format("{} at {}", node->op->name, node->place.text()) : std::string("the size of a value");
}

}  // namespace

std::string BatchRule::fit(std::span<const Trace> traces, std::span<const int64_t> sizes) {
  ensure(traces.size() == 3 && sizes.size() == 3, "a rule is found from three traces");
  base_ = traces[0];
  const Trace form = without_numbers(base_);
  std::vector<Trace> same(traces.begin(), traces.end());
  std::vector<Seen> seen[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!(without_numbers(same[i]) == form)) return "other operations are recorded for another batch";
    seen[i] = numbers_of(same[i]);
  }
  numbers_.clear();
  for (size_t n = 0; n < seen[0].size(); ++n) {
    const Seen &a = seen[0][n], &b = seen[1][n], &c = seen[2][n];
    if (a == b && a == c) {
      numbers_.push_back({0, a.whole, a.number});
      continue;
    }
    if (!a.is_whole() || !b.is_whole() || !c.is_whole()) return text_of(a.node);
    const int64_t slope = (b.value() - a.value()) / (sizes[1] - sizes[0]);
    const int64_t constant = a.value() - slope * sizes[0];
    if (slope * sizes[1] + constant != b.value() || slope * sizes[2] + constant != c.value()) return text_of(a.node);
    numbers_.push_back({slope, constant, 0});
  }
  return "";
}

Trace BatchRule::at(int64_t size) const {
  Trace trace = base_;
  size_t next = 0;
  visit_numbers(trace, [&](auto& number, const Node*) {
    const Number& rule = numbers_[next++];
    using T = std::decay_t<decltype(number)>;
    const bool fixed = std::is_same_v<T, double> && rule.slope == 0;
    number = fixed ? static_cast<T>(rule.real) : static_cast<T>(rule.slope * size + rule.constant);
  });
  return trace;
}

std::vector<int64_t> probe_sizes(std::span<const TensorSpec> specs) {
  std::vector<int64_t> sizes;
  for (int64_t size : {3, 67, 8209}) {
    const auto taken = [&](const auto& spec) { return spec.shape.contains(size); };
    while (std::any_of(specs.begin(), specs.end(), taken)) size += 4;
    if (!sizes.empty() && size <= sizes.back()) size = sizes.back() + 4;
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace retrace

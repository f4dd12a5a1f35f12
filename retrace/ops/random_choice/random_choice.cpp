#include "retrace/ops/random_choice/random_choice.h"

#include <optional>

#include "retrace/ops/argmax/argmax.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/flip/flip.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/softmax/softmax_axis.h"
#include "retrace/ops/sort/sort.h"

namespace retrace {
namespace {

using Key = std::optional<RandomKey>;

Tensor draw(const Shape& shape, const Key& key, const DrawOptions& options, Place place) {
  return key ? uniform(shape, *key, options, place) : uniform(shape, options, place);
}

Tensor drawn_like(const Tensor& x, const Key& key, Place place) {
  return draw(x.shape(), key, {.labels = std::string(x.labels()), .type = x.type()}, place);
}

Tensor chosen_class(const Tensor& logits, const Key& key, const Axes& axis, Place place) {
  check_defined("categorical", logits, place);
  const int at = softmax_axis(logits, axis, "categorical", place);
  const Tensor u = drawn_like(logits, key, place);
  return argmax(logits - log(-log(u, place), place), at, {}, place);
}

Tensor yes_or_no(const Tensor& p, const Key& key, Place place) {
  check_defined("bernoulli", p, place);
  return less(drawn_like(p, key, place), p, place);
}

// By the first numbers, and where these are equal by the second ones, so that equal ones do not stay in order.
Tensor order(int64_t n, const Key& key, Place place) {
  const auto numbers = [&](const char* name) { return draw({n}, key ? Key(key->split(name)) : key, {}, place); };
  const Tensor by_second = argsort(numbers("second"), -1, {}, place);
  const Tensor by_first = argsort(take(numbers("first"), 0, by_second, place), -1, {}, place);
  return take(by_second, 0, by_first, place);
}

}  // namespace

Tensor categorical(const Tensor& logits, RandomKey key, const Axes& axis, Place place) {
  return chosen_class(logits, key, axis, place);
}
Tensor categorical(const Tensor& logits, const Axes& axis, Place place) {
  return chosen_class(logits, {}, axis, place);
}

Tensor bernoulli(const Tensor& p, RandomKey key, Place place) { return yes_or_no(p, key, place); }
Tensor bernoulli(const Tensor& p, Place place) { return yes_or_no(p, {}, place); }

Tensor permutation(int64_t n, RandomKey key, Place place) { return order(n, key, place); }
Tensor permutation(int64_t n, Place place) { return order(n, {}, place); }

void define_random_choice(OpTable&) {}  // no op of its own: it is made of uniform, argmax, less and sort

}  // namespace retrace

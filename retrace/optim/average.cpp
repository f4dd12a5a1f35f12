#include "retrace/optim/regularize.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/optim/update_trees.h"

namespace retrace {

Tree average_weights(const Tree& average, const Tree& parameters, const Operand& share, Place place) {
  check_rate("average_weights", "share", share, place);
  check_gradients("average_weights", parameters, average, place);
  const auto news = leaf_tensors(parameters);
  auto found = leaf_tensors(average);
  Number number(share);
  for (size_t i = 0; i < found.size(); ++i)
    found[i] = add(found[i], multiply(number.as(found[i].type()), subtract(news[i], found[i], place), place), place);
  return with_leaves(average, found);
}

}  // namespace retrace

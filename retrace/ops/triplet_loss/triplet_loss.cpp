#include "retrace/ops/triplet_loss/triplet_loss.h"

#include "retrace/ops/mean/mean.h"
#include "retrace/ops/norm/norm.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/relu/relu.h"

namespace retrace {

Tensor triplet_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const TripletOptions& options,
                    Place place) {
  for (const Tensor* each : {&anchor, &positive, &negative}) {
    check_defined("triplet_loss", *each, place);
    if (each->shape() != anchor.shape() || each->rank() == 0)
      throw Error(ErrorKind::usage, 550, "triplet_loss: the vectors do not fit")
          .where(place)
          .got(fmt::format("anchor {}, positive {}, negative {}", anchor.shape().text(), positive.shape().text(),
                           negative.shape().text()))
          .expected("one shape [..., features]");
  }
  const auto number = [&](double value) { return Operand(constant(value, anchor.type())); };
  const auto distance = [&](const Tensor& other) {
    return norm(anchor - other + number(options.epsilon), -1, {}, place);
  };
  return mean(relu(distance(positive) - distance(negative) + number(options.margin), place), {}, {}, place);
}

void define_triplet_loss(OpTable&) {}  // no op of its own: it is made of norm, relu and mean

}  // namespace retrace

#include "retrace/ops/loop.h"

namespace retrace {

Loop::Loop(const Attributes& attributes)
    : body(attributes.trace("body")),
      length(attributes.integer("length")),
      carries(static_cast<size_t>(attributes.integer("carries"))),
      sequences(static_cast<size_t>(attributes.integer("sequences"))),
      reverse(attributes.integer("reverse") != 0),
      history(attributes.integer("history") != 0) {}

Loop::Loop(std::shared_ptr<const Trace> body, int64_t length, size_t carries, size_t sequences, bool reverse,
           bool history)
    : body(std::move(body)),
      length(length),
      carries(carries),
      sequences(sequences),
      reverse(reverse),
      history(history) {}

std::vector<Tensor> record_loop(const Loop& loop, std::span<const Tensor> inputs, Place place) {
  static const Op& op = find_op("scan");
  return record(op,
                {{"body", loop.body},
                 {"length", loop.length},
                 {"carries", static_cast<int64_t>(loop.carries)},
                 {"sequences", static_cast<int64_t>(loop.sequences)},
                 {"reverse", int64_t{loop.reverse}},
                 {"history", int64_t{loop.history}}},
                inputs, place);
}

}  // namespace retrace

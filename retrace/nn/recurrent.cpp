#include "retrace/nn/recurrent.h"

#include <fmt/format.h>

#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/slice/slice.h"

namespace retrace::nn {
namespace {

void check(const char* kind, const Tensor& x, Place place) {
  if (x.rank() == 3 && x.shape()[1] > 0) return;
  throw Error(ErrorKind::usage, 243, fmt::format("{}: x is no sequence", kind))
      .where(place)
      .got(fmt::format("x {}", x.spec().text()))
      .expected("[batch,length,features] of one position or more");
}

}  // namespace

Layer recurrent_layer(const char* kind, int64_t hidden, const RecurrentOptions& options, const Initializer& initializer,
                      const Recurrence& run, Place place) {
  // From the first position to the last one, or back; what each has seen stands at its place.
  const auto one_way = [=](Walk& walk, const Tensor& x, bool back) {
    const Tensor mask = walk.mask_of(x);
    const Recurred found = run(walk, x, {.mask = mask, .reverse = back});
    if (options.last && mask.defined()) return found.h;  // behind the last position that is no padding
    return options.last ? select(found.y, 1, back ? 0 : -1, place) : found.y;
  };
  return Layer(kind,
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check(kind, x, place);
                 if (!options.bidirectional) return Tree(one_way(walk, x, false));
                 std::vector<Tensor> both;
                 for (const bool back : {false, true}) {
                   const Layer way(kind,
                                   [=](Walk& inner, const Tree& of) { return one_way(inner, of.tensor(), back); });
                   both.push_back(way.named(back ? "backward" : "forward").apply(walk, x).tensor());
                 }
                 return Tree(retrace::concatenate(both, -1, place));
               })
      .with_options(with_initializer_value(
          {{"features", hidden}, {"last", options.last}, {"bidirectional", options.bidirectional}}, initializer));
}

LayerKind recurrent_kind(const char* kind, const char* help,
                         Layer (*make)(int64_t, const RecurrentOptions&, const Initializer&, Place)) {
  return {.name = kind,
          .help = help,
          .options = {count_rule("features", "of the hidden state"),
                      {.name = "last",
                       .help = "whether the result is the state behind the last position alone",
                       .standard = false},
                      {.name = "bidirectional",
                       .help = "whether a second state goes from the end to the start",
                       .standard = false},
                      initializer_rule()},
          .required = {"features"},
          .learns = true,
          .layer = [make](const OptionValues& options) {
            return make(options.integer("features"),
                        {.last = options.truth("last"), .bidirectional = options.truth("bidirectional")},
                        initializer_of(options), Place());
          }};
}

}  // namespace retrace::nn

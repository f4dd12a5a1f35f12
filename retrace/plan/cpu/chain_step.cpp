// A fused chain, or one pointwise op, as a tile program over the whole array.

#include <algorithm>

#include "retrace/device/cpu/threads.h"
#include "retrace/plan/cpu/tile_work.h"

namespace retrace {
namespace {

// The node alone, with an input for each of its arguments: one that stands twice is two inputs, as in the step.
Body single_body(const Trace& trace, Node node) {
  Body body{Body::Role::whole, {}};
  const TensorSpec& made = trace.spec(node.first_output);
  for (ValueId& id : node.inputs) id = body.trace.add_input(trace.spec(id));
  body.trace.outputs = {body.trace.add_node(std::move(node), std::span(&made, 1))};
  return body;
}

class ChainStep final : public Step {
 public:
  explicit ChainStep(StepSite& site)
      : Step(site),
        work_(site, node().body ? *node().body : single_body(site.trace, node()), TileProgram::Use::kernel),
        count_(placed().output_specs[0]->count()),
        piece_(piece_elements(site.options.threads)),
        pieces_((count_ + piece_ - 1) / piece_) {}

  void run(const StepRun& run) const override {
    ChainStep::prepare(run);
    run_pieces(pieces_, [&](int64_t piece) { ChainStep::run_piece(run, piece); });
    work_.finish(run);
  }

  int64_t pieces() const override { return pieces_; }
  void prepare(const StepRun& run) const override {
    bind(run, work_.inputs(run));
    work_.prepare(run);
  }
  void run_piece(const StepRun& run, int64_t piece) const override {
    work_.compute(run, piece * piece_, std::min(count_, (piece + 1) * piece_));
  }
  void finish(const StepRun& run) const override { work_.finish(run); }

  // A sum reads a range again once it is done.
  int last_read(size_t input) const override { return work_.reduces() ? kAlways : work_.program().last_read(input); }
  int first_write(size_t output) const override { return work_.program().first_write(output); }

 private:
  // A strip of a sum is within one piece. Else the larger pieces are, the fewer there are whose memory is not asked for
  // ahead, as long as threads that are slower than others leave pieces to them.
  int64_t piece_elements(int threads) const {
    if (work_.reduces()) return tuning::kChainPiece;
    const int64_t share = count_ / (threads * tuning::kFewestPieces) / tuning::kTile * tuning::kTile;
    return std::max(work_.program().piece_elements(), std::min(share, tuning::kMostChainPiece));
  }

  TileWork work_;
  int64_t count_, piece_, pieces_;
};

}  // namespace

void define_chain_step(StepKinds& kinds) {
  kinds.add({.name = "chain", .takes = is_tile_chain, .make = make_step<ChainStep>, .joins = true});
}

}  // namespace retrace

// A contraction, or another op that hands out finished parts of its result, with a chain on these parts.

#include "retrace/plan/cpu/tile_work.h"

namespace retrace {
namespace {

class EpilogueStep final : public Step {
 public:
  explicit EpilogueStep(StepSite& site)
      : Step(site),
        own_inputs_(node().own_inputs()),
        work_(site, *node().body,
              replaces_argument(site) ? TileProgram::Use::epilogue_apart : TileProgram::Use::epilogue),
        raw_spec_(&node().body->trace.spec(node().body->trace.inputs[0])) {
    if (work_.program().raw_output() < 0) site.book(raw_, raw_spec_->bytes());
    std::vector<TensorSpec> specs;
    for (size_t i = 0; i < own_inputs_; ++i) specs.push_back(*placed().input_specs[i]);
    site.book(workspace_, workspace_bytes(node(), specs));
    site.book_kept(kept_, placed());
  }

  void run(const StepRun& run) const override {
    const PlacedNode& own = placed();
    void** const outputs = work_.outputs(run);
    for (size_t i = 0; i < own.outputs.size(); ++i) outputs[i] = run.at(own.outputs[i]);
    void** to = work_.inputs(run);
    const int lies_in = work_.program().raw_output();
    const KernelOutput raw{lies_in < 0 ? run.at(raw_) : outputs[lies_in], raw_spec_};
    *to++ = raw.data;
    for (size_t i = own_inputs_; i < own.inputs.size(); ++i) *to++ = run.at(own.inputs[i]);
    work_.prepare(run);

    auto& in = run.memory.kernel_inputs;
    in.clear();
    for (size_t i = 0; i < own_inputs_; ++i) in.push_back({run.at(own.inputs[i]), own.input_specs[i]});
    const auto epilogue = [&](int64_t begin, int64_t end) { work_.compute(run, begin, end); };
    const FunctionRef<void(int64_t, int64_t)> done(epilogue);
    call_kernel(node(),
                {node().attributes, in, std::span(&raw, 1), run.at(workspace_), &done, nullptr, run.kept(kept_)});
    work_.finish(run);
  }

  // The kernel reads its own inputs until its end; of a finished part the chain reads an element before it writes it.
  // Where the raw result lies in the memory of an output, that is written first. A sum reads a range again once it is
  // done.
  int last_read(size_t input) const override {
    return input < own_inputs_ || work_.reduces() ? kAlways : work_.program().last_read(input - own_inputs_ + 1);
  }
  int first_write(size_t output) const override {
    return static_cast<int>(output) == work_.program().raw_output() ? -1 : work_.program().first_write(output);
  }

 private:
  // Whether a result may be made in the memory of an argument that the chain reads, as in an update.
  bool replaces_argument(const StepSite& site) const {
    const PlacedNode& own = placed();
    for (size_t k = 0; k < own.outputs.size(); ++k)
      for (size_t i = own_inputs_; i < own.inputs.size(); ++i)
        if (own.outputs[k].kind == Location::Kind::output && own.inputs[i].kind == Location::Kind::input &&
            own.output_specs[k]->bytes() > 0 && own.output_specs[k]->bytes() == own.input_specs[i]->bytes())
          return site.options.is_on(kPlaceMemory);
    return false;
  }

  size_t own_inputs_;
  TileWork work_;
  const TensorSpec* raw_spec_;  // of the result before the chain
  Location raw_, workspace_, kept_;
};

bool takes_epilogue_step(const Trace&, const Node& node) {
  return node.body && node.body->role == Body::Role::epilogue;
}

}  // namespace

void define_epilogue_step(StepKinds& kinds) {
  kinds.add({.name = "epilogue", .takes = takes_epilogue_step, .make = make_step<EpilogueStep>});
}

}  // namespace retrace

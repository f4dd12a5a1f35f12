// A reduction whose input a chain makes while it is read.

#include <optional>

#include "retrace/ops/reduce/products.h"
#include "retrace/ops/reduce/reduction.h"
#include "retrace/plan/cpu/step.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {
namespace {

class ChainSource final : public TileSource {
 public:
  ChainSource(const TileProgram& program, const void* const* inputs, const float* patterns)
      : program_(program), inputs_(inputs), patterns_(patterns) {}
  void load(int64_t begin, int64_t count, float* to) const override {
    void* base = to - begin;  // the chain writes element i of the whole array at its base plus i
    program_.run(begin, begin + count, inputs_, &base, patterns_);
  }

 private:
  const TileProgram& program_;
  const void* const* inputs_;
  const float* patterns_;
};

// A factor of the product that a chain ends with: an array of the chain's shape, or what all before the product makes.
struct Factor {
  int input = -1;  // of the body; -1: it is made
};

// The two factors, and the chain that makes the one that is not in memory; both may be the same.
struct ProductEnd {
  Factor a, b;
  std::optional<Trace> before;
};

// Of a chain that a sum reads, where at most one array has to be made for it.
std::optional<ProductEnd> product_end(const Op& reduction, const Trace& body) {
  const Node* last = body.producer(body.outputs[0]);
  if (!reduction.sum || !last || !is_product(*last->op->rule)) return std::nullopt;
  const TensorSpec& made = body.spec(last->first_output);
  ProductEnd end;
  ValueId other = kNoValue;
  for (Factor* factor : {&end.a, &end.b}) {
    const ValueId id = factor == &end.a ? last->inputs.front() : last->inputs.back();
    if (body.spec(id).type != made.type || !(body.spec(id).shape == made.shape)) return std::nullopt;
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), id);
    if (at != body.inputs.end()) {
      factor->input = static_cast<int>(at - body.inputs.begin());
      continue;
    }
    if (other != kNoValue && other != id) return std::nullopt;
    other = id;
  }
  if (other == kNoValue) return end;
  end.before = body;
  end.before->nodes.pop_back();
  end.before->outputs = {other};
  return end;
}

class ProductSource final : public FactorSource {
 public:
  ProductSource(const ChainSource& whole, const ProductEnd& end, const TileProgram* before, const void* const* inputs,
                const float* patterns)
      : whole_(whole), end_(end), before_(before), inputs_(inputs), patterns_(patterns) {}

  void load(int64_t begin, int64_t count, float* to) const override { whole_.load(begin, count, to); }
  Factors factors(int64_t begin, int64_t count, float* made) const override {
    if (before_) ChainSource(*before_, inputs_, patterns_).load(begin, count, made);
    const auto of = [&](const Factor& factor) {
      return factor.input < 0 ? made : static_cast<const float*>(inputs_[factor.input]) + begin;
    };
    return {of(end_.a), of(end_.b)};
  }

 private:
  const ChainSource& whole_;
  const ProductEnd& end_;
  const TileProgram* before_;
  const void* const* inputs_;
  const float* patterns_;
};

class PrologueStep final : public Step {
 public:
  explicit PrologueStep(StepSite& site)
      : Step(site),
        program_(node().body->trace),
        product_(product_end(*node().op, node().body->trace)),
        made_(node().body->trace.spec(node().body->trace.outputs[0])),
        addresses_(site.book_addresses(placed().inputs.size() + placed().outputs.size())) {
    site.book(workspace_, workspace_bytes(node(), std::span(&made_, 1)));
    site.book(patterns_, program_.pattern_bytes());
    if (!product_ || !product_->before) return;
    before_ = std::make_unique<TileProgram>(*product_->before);
    site.book(patterns_before_, before_->pattern_bytes());
  }

  void run(const StepRun& run) const override {
    void** const inputs = run.addresses(addresses_);
    bind(run, inputs);
    auto* const patterns = static_cast<float*>(run.at(patterns_));
    program_.prepare(inputs, patterns);
    auto& out = run.memory.kernel_outputs;
    out.clear();
    const PlacedNode& own = placed();
    for (size_t i = 0; i < own.outputs.size(); ++i) out.push_back({inputs[own.inputs.size() + i], own.output_specs[i]});
    const KernelInput made{nullptr, &made_};
    const ChainSource source(program_, inputs, patterns);
    std::optional<ProductSource> products;
    auto* const patterns_before = before_ ? static_cast<float*>(run.at(patterns_before_)) : nullptr;
    if (before_) before_->prepare(inputs, patterns_before);
    if (product_) products.emplace(source, *product_, before_.get(), inputs, patterns_before);
    const TileSource& from = products ? static_cast<const TileSource&>(*products) : source;
    call_kernel(node(), {node().attributes, std::span(&made, 1), out, run.at(workspace_), nullptr, &from});
  }

 private:
  TileProgram program_;
  std::optional<ProductEnd> product_;
  std::unique_ptr<TileProgram> before_;  // what makes a factor of it
  TensorSpec made_;                      // what the chain makes
  size_t addresses_;
  Location workspace_, patterns_, patterns_before_;
};

bool takes_prologue_step(const Trace&, const Node& node) {
  return node.body && node.body->role == Body::Role::prologue;
}

}  // namespace

void define_prologue_step(StepKinds& kinds) {
  kinds.add({.name = "prologue", .takes = takes_prologue_step, .make = make_step<PrologueStep>});
}

}  // namespace retrace

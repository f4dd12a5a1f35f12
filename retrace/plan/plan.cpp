#include "retrace/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/pointwise.h"
#include "retrace/plan/arena.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

constexpr int64_t kPiece = 16'384;  // elements of a fused chain that one thread takes at a time

bool tiled(const Trace& trace, const Node& node) {
  return node.op == &fused_op() || (node.op->rule && can_tile(trace, node));
}

Trace single_body(const Trace& trace, const Node& node) {
  const size_t index = static_cast<size_t>(&node - trace.nodes.data());
  return extract(trace, std::span(&index, 1), std::span(&node.first_output, 1)).body;
}

}  // namespace

// -- layout -----------------------------------------------------------------------------------------------------

// Gives every value its location: views follow their source, results go to their own buffers, the rest shares one
// arena by lifetime.
struct Plan::Placement {
  Plan& plan;
  const Trace& trace;
  std::vector<ValueId> root;        // per value: the value whose bytes it has
  std::vector<Location> locations;  // per root
  std::vector<size_t> first, last;  // per root: steps between which it lives
  std::vector<ArenaBlock> blocks;
  std::vector<std::pair<Location*, size_t>> pending;  // locations to fill from blocks[second]

  explicit Placement(Plan& p)
      : plan(p),
        trace(p.trace_),
        root(trace.values.size()),
        locations(trace.values.size()),
        first(trace.values.size()),
        last(trace.values.size()) {
    for (size_t i = 0; i < root.size(); ++i) root[i] = static_cast<ValueId>(i);
    for (const auto& node : trace.nodes)
      if (node.op->view) root[static_cast<size_t>(node.first_output)] = root[static_cast<size_t>(node.inputs[0])];
  }

  size_t root_of(ValueId id) const { return static_cast<size_t>(root[static_cast<size_t>(id)]); }
  const TensorSpec& spec(ValueId id) const { return trace.values[static_cast<size_t>(id)]; }

  void place_inputs_outputs_constants() {
    for (size_t i = 0; i < trace.inputs.size(); ++i)
      locations[static_cast<size_t>(trace.inputs[i])] = {Location::Kind::input, i};
    for (const auto& node : trace.nodes) {
      if (node.op->inputs != 0) continue;
      locations[static_cast<size_t>(node.first_output)] = {Location::Kind::constant, plan.constants_.size()};
      plan.constants_.resize(plan.constants_.size() + 64);
    }
    for (size_t k = 0; k < trace.outputs.size(); ++k) {
      auto& location = locations[root_of(trace.outputs[k])];
      if (location.kind == Location::Kind::none)
        location = {Location::Kind::output, k};
      else
        plan.copies_.push_back({location, k, spec(trace.outputs[k]).bytes()});
    }
  }

  void find_lifetimes() {
    size_t step = 0;
    for (const auto& node : trace.nodes) {
      if (node.op->view || node.op->inputs == 0) continue;
      for (ValueId id : node.inputs) last[root_of(id)] = step;
      for (int i = 0; i < node.output_count; ++i) {
        const size_t r = static_cast<size_t>(node.first_output + i);
        first[r] = last[r] = step;
      }
      ++step;
    }
  }

  void place_arena() {
    for (const auto& node : trace.nodes) {
      if (node.op->view || node.op->inputs == 0) continue;
      for (int i = 0; i < node.output_count; ++i) {
        const size_t r = static_cast<size_t>(node.first_output + i);
        if (locations[r].kind == Location::Kind::none)
          book(locations[r], spec(node.first_output + i).bytes(), first[r], last[r]);
      }
    }
  }

  void book(Location& location, size_t bytes, size_t from, size_t to) {
    location.kind = Location::Kind::arena;
    blocks.push_back({bytes, from, to, 0});
    pending.emplace_back(&location, blocks.size() - 1);
  }

  void finish() {
    plan.arena_bytes_ = place_blocks(blocks, pass_is_on("place_memory"));
    for (auto& [location, block] : pending) location->at = blocks[block].offset;
  }
};

Plan::Plan(const Trace& recorded) : trace_(optimise(recorded, &reports_)) {
  Placement placement(*this);
  placement.place_inputs_outputs_constants();
  placement.find_lifetimes();
  placement.place_arena();
  const auto count = std::count_if(trace_.nodes.begin(), trace_.nodes.end(),
                                   [](const Node& node) { return !node.op->view && node.op->inputs != 0; });
  steps_.reserve(static_cast<size_t>(count));  // locations of steps are filled at the end: they must not move
  for (const auto& node : trace_.nodes) {
    if (node.op->view || node.op->inputs == 0) continue;
    Step& step = steps_.emplace_back();
    step.node = &node;
    step.own_inputs = node.inputs.size();
    for (ValueId id : node.inputs) step.input_specs.push_back(&placement.spec(id));
    for (int i = 0; i < node.output_count; ++i) step.output_specs.push_back(&placement.spec(node.first_output + i));
    const size_t index = steps_.size() - 1;
    if (tiled(trace_, node)) {
      step.program = std::make_unique<TileProgram>(node.body ? *node.body : single_body(trace_, node));
    } else if (node.body && node.op->takes_prologue) {
      step.program = std::make_unique<TileProgram>(*node.body);
      step.made_spec = node.body->values[static_cast<size_t>(node.body->outputs[0])];
    } else if (node.body) {
      step.own_inputs = node.inputs.size() - (node.body->inputs.size() - 1);
      step.program = std::make_unique<TileProgram>(*node.body, TileProgram::Use::epilogue);
      step.raw_spec = &node.body->values[static_cast<size_t>(node.body->inputs[0])];
    }
    if (node.op->workspace && !tiled(trace_, node)) {
      std::vector<TensorSpec> specs;
      for (size_t i = 0; i < step.own_inputs; ++i) specs.push_back(*step.input_specs[i]);
      if (node.op->takes_prologue && node.body) specs.assign(1, step.made_spec);
      if (const auto bytes = node.op->workspace({*node.op, node.attributes, specs, node.place}); bytes > 0)
        placement.book(step.workspace, static_cast<size_t>(bytes), index, index);
    }
    if (step.program && step.program->pattern_bytes() > 0)
      placement.book(step.patterns, step.program->pattern_bytes(), index, index);
    if (step.raw_spec) {
      if (const int output = step.program->raw_output(); output >= 0)
        step.raw = {Location::Kind::output, static_cast<size_t>(output)};  // of the step, resolved below
      else
        placement.book(step.raw, step.raw_spec->bytes(), index, index);
    }
  }
  placement.finish();
  for (auto& step : steps_) {
    for (ValueId id : step.node->inputs) step.inputs.push_back(placement.locations[placement.root_of(id)]);
    for (int i = 0; i < step.node->output_count; ++i)
      step.outputs.push_back(placement.locations[static_cast<size_t>(step.node->first_output + i)]);
    if (step.raw_spec && step.raw.kind == Location::Kind::output) step.raw = step.outputs[step.raw.at];
  }
  run_constants();
}

void Plan::run_constants() {
  size_t next = 0;
  for (const auto& node : trace_.nodes) {
    if (node.op->inputs != 0) continue;
    const KernelOutput output{constants_.data() + next, &trace_.values[static_cast<size_t>(node.first_output)]};
    ensure(output.spec->bytes() <= 64, "a constant is one number");
    node.op->kernel({node.attributes, {}, std::span(&output, 1)});
    next += 64;
  }
}

// -- running ----------------------------------------------------------------------------------------------------

struct Plan::Memory {
  const void* const* inputs;
  void* const* outputs;
  char* arena;
  char* constants;
  void* operator()(const Location& location) const {
    switch (location.kind) {
      case Location::Kind::input: return const_cast<void*>(inputs[location.at]);
      case Location::Kind::output: return outputs[location.at];
      case Location::Kind::arena: return arena + location.at;
      case Location::Kind::constant: return constants + location.at;
      case Location::Kind::none: break;
    }
    return nullptr;
  }
};

namespace {

// A tile program with what one call gives it.
class Chain {
 public:
  Chain(const TileProgram& program, const void* const* inputs, void* const* outputs, float* patterns)
      : program_(program), inputs_(inputs), outputs_(outputs), patterns_(patterns) {
    program.prepare(inputs, patterns);
  }
  void operator()(int64_t begin, int64_t end) const { (*this)(begin, end, outputs_); }
  void operator()(int64_t begin, int64_t end, void* const* outputs) const {
    program_.run(begin, end, inputs_, outputs, patterns_);
  }

 private:
  const TileProgram& program_;
  const void* const* inputs_;
  void* const* outputs_;
  const float* patterns_;
};

// A chain that makes a reduction's input.
class ChainSource : public TileSource {
 public:
  explicit ChainSource(const Chain& chain) : chain_(chain) {}
  void load(int64_t begin, int64_t count, float* to) const override {
    void* base = to - begin;  // the chain writes element i of the whole array at its base plus i
    chain_(begin, begin + count, &base);
  }

 private:
  const Chain& chain_;
};

}  // namespace

void Plan::run_step(const Step& step, const Memory& memory) const {
  std::vector<const void*> inputs(step.inputs.size() + 1);
  std::vector<void*> outputs(step.outputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) inputs[i] = memory(step.inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = memory(step.outputs[i]);
  float* const patterns = static_cast<float*>(memory(step.patterns));
  if (step.program && tiled(trace_, *step.node)) {
    const Chain chain(*step.program, inputs.data(), outputs.data(), patterns);
    const int64_t count = step.output_specs[0]->count();
    return run_pieces((count + kPiece - 1) / kPiece,
                      [&](int64_t piece) { chain(piece * kPiece, std::min(count, (piece + 1) * kPiece)); });
  }
  std::vector<KernelInput> own;
  std::vector<KernelOutput> made;
  for (size_t i = 0; i < step.own_inputs; ++i) own.push_back({inputs[i], step.input_specs[i]});
  for (size_t i = 0; i < outputs.size(); ++i) made.push_back({outputs[i], step.output_specs[i]});
  void* workspace = memory(step.workspace);
  if (step.program && step.raw_spec) {
    std::vector<const void*> chain_inputs{memory(step.raw)};
    chain_inputs.insert(chain_inputs.end(), inputs.begin() + static_cast<long>(step.own_inputs), inputs.end());
    const Chain chain(*step.program, chain_inputs.data(), outputs.data(), patterns);
    const FunctionRef<void(int64_t, int64_t)> done(chain);
    const KernelOutput raw{memory(step.raw), step.raw_spec};
    return step.node->op->kernel({step.node->attributes, own, std::span(&raw, 1), workspace, &done});
  }
  if (step.program) {
    const Chain chain(*step.program, inputs.data(), outputs.data(), patterns);
    const ChainSource source(chain);
    own.assign(1, {nullptr, &step.made_spec});
    return step.node->op->kernel({step.node->attributes, own, made, workspace, nullptr, &source});
  }
  const KernelCall call{step.node->attributes, own, made, workspace};
  if (step.node->op->kernel)
    step.node->op->kernel(call);
  else
    run_pointwise(*step.node->op, call);
}

void Plan::run(const void* const* inputs, void* const* outputs) const {
  const FloatingPointScope environment;
  const ParallelRegion region;
  const Memory memory{inputs, outputs, static_cast<char*>(arena_memory(arena_bytes_)),
                      const_cast<char*>(constants_.data())};
  for (const auto& step : steps_) run_step(step, memory);
  for (const auto& copy : copies_)
    if (copy.bytes) std::memcpy(outputs[copy.output], memory(copy.from), copy.bytes);
}

std::string Plan::text() const {
  std::string text = "passes\n";
  for (const auto& report : reports_)
    text += fmt::format("  {:<18} {:>5} -> {:<5} nodes {:>8.3f} ms{}\n", report.name, report.nodes_before,
                        report.nodes_after, report.seconds * 1e3, report.on ? "" : "  (off)");
  text += fmt::format("\nplan: {} kernel calls, arena {:.2f} MiB\n", kernel_calls(),
                      static_cast<double>(arena_bytes_) / 1048576.0);
  return text + print_trace(trace_);
}

}  // namespace retrace

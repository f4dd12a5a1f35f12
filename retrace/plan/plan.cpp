#include "retrace/plan/plan.h"

#include <algorithm>
#include <cstring>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/pointwise.h"
#include "retrace/plan/arena.h"
#include "retrace/plan/launch_order.h"
#include "retrace/plan/passes/passes.h"

namespace retrace {
namespace {

bool tiled(const Trace& trace, const Node& node) {
  return node.op == &fused_op() || (node.op->rule && can_tile(trace, node));
}

// The node alone, with an input for each of its arguments: one that stands twice is two inputs, as in the step.
Trace single_body(const Trace& trace, Node node) {
  Trace body;
  const TensorSpec& made = trace.values[static_cast<size_t>(node.first_output)];
  for (ValueId& id : node.inputs) id = body.add_input(trace.values[static_cast<size_t>(id)]);
  body.outputs = {body.add_node(std::move(node), std::span(&made, 1))};
  return body;
}

}  // namespace

// Gives every value its location: views follow their source, results go to their own buffers, the rest shares one
// arena by lifetime.
struct Plan::Placement {
  Plan& plan;
  const Trace& trace;
  std::vector<ValueId> root;        // per value: the value whose bytes it has
  std::vector<Location> locations;  // per root
  std::vector<size_t> launch;       // per node: when it runs
  std::vector<size_t> first, last;  // per root: launches between which it lives
  std::vector<ArenaBlock> blocks;
  std::vector<std::pair<Location*, size_t>> pending;  // locations to fill from blocks[second]

  explicit Placement(Plan& p)
      : plan(p),
        trace(p.trace_),
        root(find_roots(trace)),
        locations(trace.values.size()),
        launch(number_launches(trace, root, [&](const Node& node) { return tiled(trace, node); })),
        first(trace.values.size()),
        last(trace.values.size()) {}

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
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      if (!runs(node)) continue;
      for (ValueId id : node.inputs) last[root_of(id)] = launch[n];
      for (int i = 0; i < node.output_count; ++i) {
        const size_t r = static_cast<size_t>(node.first_output + i);
        first[r] = last[r] = launch[n];
      }
    }
  }

  void place_arena() {
    for (const auto& node : trace.nodes) {
      if (!runs(node)) continue;
      for (int i = 0; i < node.output_count; ++i) {
        const size_t r = static_cast<size_t>(node.first_output + i);
        if (locations[r].kind == Location::Kind::none)
          book(locations[r], spec(node.first_output + i).bytes(), first[r], last[r]);
      }
    }
  }

  // Whether a result of an epilogue may be made in the memory of an argument that the epilogue reads, as in an update.
  bool replaces_argument(const Step& step) const {
    const auto bytes_of = [&](ValueId id, Location::Kind kind) {
      return locations[root_of(id)].kind == kind ? spec(id).bytes() : 0;
    };
    for (int k = 0; k < step.node->output_count; ++k)
      for (size_t i = step.own_inputs; i < step.node->inputs.size(); ++i)
        if (const size_t bytes = bytes_of(step.node->first_output + k, Location::Kind::output);
            bytes > 0 && bytes == bytes_of(step.node->inputs[i], Location::Kind::input))
          return pass_is_on("place_memory");
    return false;
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

Plan::Plan(const Trace& recorded) : trace_(optimise(recorded, &reports_)) { lay_out(); }

Plan::Plan(Trace planned, AsItIs) : trace_(std::move(planned)) { lay_out(); }

void Plan::lay_out() {
  if (const DeviceId device = device_of(trace_); device > 0) {
    trace_ = gather_chains(trace_, [&](const Node& node) { return is_chain(trace_, node); });
    cuda_ = std::make_unique<CudaPlan>(trace_, device);
    arena_bytes_ = cuda_->arena_bytes();
    donors_ = cuda_->find_donors();
    return;
  }
  Placement placement(*this);
  placement.place_inputs_outputs_constants();
  placement.find_lifetimes();
  placement.place_arena();
  // Locations of steps are filled at the end: they must not move.
  steps_.reserve(static_cast<size_t>(std::count_if(trace_.nodes.begin(), trace_.nodes.end(), runs)));
  for (size_t n = 0; n < trace_.nodes.size(); ++n)
    if (runs(trace_.nodes[n])) add_step(placement, trace_.nodes[n], placement.launch[n]);
  placement.finish();
  for (auto& step : steps_) {
    for (ValueId id : step.node->inputs) step.inputs.push_back(placement.locations[placement.root_of(id)]);
    for (int i = 0; i < step.node->output_count; ++i)
      step.outputs.push_back(placement.locations[static_cast<size_t>(step.node->first_output + i)]);
    if (step.raw_spec && step.raw.kind == Location::Kind::output) step.raw = step.outputs[step.raw.at];
    step.pointers = pointer_count_;
    pointer_count_ += step.inputs.size() + step.outputs.size() + 1;
    for (auto& reduction : step.reductions) {
      reduction.pointers = pointer_count_;
      pointer_count_ += reduction.inputs.size();
    }
  }
  add_launches();
  find_donors();
  run_constants();
}

void Plan::add_step(Placement& placement, const Node& node, size_t launch) {
  Step& step = steps_.emplace_back();
  step.node = &node;
  step.launch = launch;
  step.own_inputs = node.inputs.size();
  for (ValueId id : node.inputs) step.input_specs.push_back(&placement.spec(id));
  for (int i = 0; i < node.output_count; ++i) step.output_specs.push_back(&placement.spec(node.first_output + i));
  step.chain = tiled(trace_, node);
  if (step.chain) {
    step.program =
        std::make_unique<TileProgram>(node.body ? without_reductions(*node.body) : single_body(trace_, node));
  } else if (node.op == &row_chain_op()) {
    step.rows = std::make_unique<RowProgram>(*node.body);
    if (const auto bytes = step.rows->workspace_bytes(); bytes > 0)
      placement.book(step.workspace, static_cast<size_t>(bytes), launch, launch);
  } else if (node.op == &sample_chain_op()) {
    step.samples = std::make_unique<SampleProgram>(*node.body, node.attributes.integer("samples"),
                                                   node.attributes.integer("slab"));
    if (const auto bytes = step.samples->workspace_bytes(); bytes > 0)
      placement.book(step.workspace, static_cast<size_t>(bytes), launch, launch);
  } else if (node.body && node.op->takes_prologue) {
    step.program = std::make_unique<TileProgram>(*node.body);
    step.made_spec = node.body->values[static_cast<size_t>(node.body->outputs[0])];
  } else if (node.body) {
    step.own_inputs = node.inputs.size() - (node.body->inputs.size() - 1);
    step.program = std::make_unique<TileProgram>(without_reductions(*node.body), placement.replaces_argument(step)
                                                                                     ? TileProgram::Use::epilogue_apart
                                                                                     : TileProgram::Use::epilogue);
    step.raw_spec = &node.body->values[static_cast<size_t>(node.body->inputs[0])];
    if (const int output = step.program->raw_output(); output >= 0)
      step.raw = {Location::Kind::output, static_cast<size_t>(output)};  // of the step, resolved later
    else
      placement.book(step.raw, step.raw_spec->bytes(), launch, launch);
  }
  if (node.op->workspace && !step.chain) {
    std::vector<TensorSpec> specs;
    for (size_t i = 0; i < step.own_inputs; ++i) specs.push_back(*step.input_specs[i]);
    if (node.op->takes_prologue && node.body) specs.assign(1, step.made_spec);
    if (const auto bytes = node.op->workspace({*node.op, node.attributes, specs, node.place}); bytes > 0)
      placement.book(step.workspace, static_cast<size_t>(bytes), launch, launch);
  }
  if (step.program && step.program->pattern_bytes() > 0)
    placement.book(step.patterns, step.program->pattern_bytes(), launch, launch);
  if (node.body && (step.chain || step.raw_spec)) add_reductions(placement, step, launch);
}

void Plan::add_reductions(Placement& placement, Step& step, size_t launch) {
  const Trace& body = *step.node->body;
  const auto count = static_cast<size_t>(
      std::count_if(body.nodes.begin(), body.nodes.end(), [](const Node& node) { return node.op->column_kernels; }));
  step.reductions.reserve(count);  // locations are filled at the end: they must not move
  for (const Node& node : body.nodes) {
    if (!node.op->column_kernels) continue;
    const auto index = [](const std::vector<ValueId>& list, ValueId id) {
      return static_cast<size_t>(std::find(list.begin(), list.end(), id) - list.begin());
    };
    auto& reduction = step.reductions.emplace_back(
        Reduction{StripReduction(body, node), {}, index(body.outputs, node.first_output), {}});
    for (ValueId id : node.inputs) {
      const size_t input = index(body.inputs, id);
      reduction.inputs.push_back(input < body.inputs.size() ? input : input + index(body.outputs, id));
    }
    placement.book(reduction.workspace, reduction.work.workspace_bytes(), launch, launch);
  }
}

void Plan::add_launches() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.launch == launches_.size()) launches_.push_back({i, 0, 0});
    Launch& launch = launches_.back();
    ++launch.count;
    if (step.chain) launch.pieces += chain_pieces(step.output_specs[0]->count());
  }
}

void Plan::run_constants() {
  const FloatingPointScope floating_point;
  size_t next = 0;
  for (const auto& node : trace_.nodes) {
    if (node.op->inputs != 0) continue;
    const KernelOutput output{constants_.data() + next, &trace_.values[static_cast<size_t>(node.first_output)]};
    ensure(output.spec->bytes() <= 64, "a constant is one number");
    node.op->kernel({node.attributes, {}, std::span(&output, 1)});
    next += 64;
  }
}

std::string Plan::kernel_call_name(size_t call) const {
  if (cuda_) return cuda_->kernel_call_name(call);
  const Launch& launch = launches_[call];
  std::string name;
  for (size_t i = launch.first; i < launch.first + std::min<size_t>(launch.count, 3); ++i) {
    const Step& step = steps_[i];
    name += (i > launch.first ? ", " : "") + std::string(step.node->op->name);
    if (step.node->body) name += fmt::format(" +{}", step.node->body->nodes.size());
  }
  if (launch.count > 3) name += fmt::format(", {} more", launch.count - 3);
  return name + " -> " + steps_[launch.first].output_specs[0]->text();
}

}  // namespace retrace

#include "retrace/plan/programs/tile_program.h"

#include <algorithm>
#include <cstring>

#include "retrace/base/error.h"
#include "retrace/ops/rule_pairs.h"
#include "retrace/plan/programs/tile_bytes.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

using namespace tuning;

// What a tile knows of each of its patterns, or loads.
template <class T>
T* for_each_of(size_t count) {
  thread_local std::vector<T> all;
  if (all.size() < count) all.resize(count);
  return all.data();
}

float* scratch_memory(int count) {
  thread_local std::vector<float> memory;
  const size_t needed = static_cast<size_t>(count) * kTile + 16;
  if (memory.size() < needed) memory.resize(needed);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<float*>((address + 63) / 64 * 64);
}

bool tile_output(DType type) { return type == DType::f32 || type == DType::boolean || is_half(type); }
bool tile_input(DType type) { return tile_output(type) || type == DType::u8; }

// A node that computes the one before it that makes its argument, too: `function` is of both.
struct NodePair {
  TileFunction function = nullptr;
  const Node* first = nullptr;
  int position = 0;     // of its result among the node's arguments
  bool within = false;  // the node is the first one of a pair
};

}  // namespace

std::vector<TensorSpec> infer_by_body(const InferCall&) {
  throw Error(ErrorKind::internal, 903, "a chain says its outputs by its body");
}

bool can_tile(const Trace& trace, const Node& node) {
  if (!node.op->rule || node.output_count != 1) return false;
  for (ValueId id : node.inputs)
    if (!tile_input(trace.spec(id).type)) return false;
  return tile_output(trace.spec(node.first_output).type);
}

const Op& fused_op() {
  static const Op op{.name = "fused", .inputs = -1, .infer = infer_by_body};
  return op;
}

bool is_tile_chain(const Trace& trace, const Node& node) { return node.op == &fused_op() || can_tile(trace, node); }

struct TileProgram::Builder {
  TileProgram& program;
  const Trace& body;
  Use use;
  ValueMap<size_t> last_use;  // the index of the last node that reads a value
  ValueMap<Operand> places;
  std::vector<int> free_scratch;
  std::vector<NodePair> pairs;  // of each node

  Operand& place(ValueId id) { return places[id]; }
  const TensorSpec& spec(ValueId id) const { return body.spec(id); }

  int take() {
    if (free_scratch.empty()) return program.scratch_count_++;
    const int scratch = free_scratch.back();
    free_scratch.pop_back();
    return scratch;
  }

  void find_last_uses() {
    for (size_t n = 0; n < body.nodes.size(); ++n)
      for (ValueId id : body.nodes[n].inputs) last_use[id] = n;
    for (ValueId id : body.outputs) last_use[id] = body.nodes.size();
  }

  // A sum, difference or product that one other alone reads is computed with that one.
  void find_pairs() {
    ValueMap<int> uses(body);
    for (const Node& node : body.nodes)
      for (ValueId id : node.inputs) ++uses[id];
    for (ValueId id : body.outputs) ++uses[id];
    pairs.resize(body.nodes.size());
    for (size_t n = 0; n < body.nodes.size(); ++n) {
      const Node& node = body.nodes[n];
      for (int position = 0; node.inputs.size() == 2 && position < 2 && !pairs[n].first; ++position) {
        const Node* first = body.producer(node.inputs[position]);
        if (!first || uses[first->first_output] != 1) continue;
        NodePair& other = pairs[static_cast<size_t>(first - body.nodes.data())];
        const TileFunction function = rule_pair(*first->op->rule, *node.op->rule, position);
        if (other.first || !function) continue;
        other.within = true;
        pairs[n] = {function, first, position, false};
        for (ValueId id : first->inputs) last_use[id] = std::max(last_use[id], n);
      }
    }
  }

  // The raw result is kept where it is wanted as an output, or else lies where the first f32 result will be.
  void place_raw_result() {
    const auto& outputs = body.outputs;
    const auto at = std::find(outputs.begin(), outputs.end(), body.inputs[0]);
    const auto first = at != outputs.end() ? at : std::find_if(outputs.begin(), outputs.end(), [&](ValueId id) {
      return spec(id).type == DType::f32;
    });
    if (first != outputs.end()) program.raw_output_ = static_cast<int>(first - outputs.begin());
  }

  void add_input(size_t i) {
    const int input = static_cast<int>(i);
    const ValueId id = body.inputs[i];
    if (spec(id).type == DType::f32 && spec(id).shape == program.shape_) {
      place(id) = {Operand::In::input, input};
      return;
    }
    BroadcastLoad load(spec(id).type, spec(id).shape, program.shape_);
    const int64_t period = load.period();
    if (period > 0 && period <= kLongPeriod) {
      place(id) = {Operand::In::pattern, static_cast<int>(program.patterns_.size())};
      const int64_t extent = period + std::min(kTile, program.shape_.count());  // of any tile that starts in the first
      program.patterns_.push_back({input, program.pattern_floats_, period, kTile % period, extent, std::move(load)});
      program.pattern_floats_ += static_cast<size_t>((extent + 15) / 16 * 16);
    } else {
      place(id) = {Operand::In::load, static_cast<int>(program.loads_.size())};
      program.loads_.push_back({input, program.scratch_count_++, std::move(load)});
    }
  }

  // An f32 result that is wanted once goes straight to memory, unless the raw result that lies there is read later.
  int direct_output(ValueId id, size_t n) const {
    const auto& outputs = body.outputs;
    const auto at = std::find(outputs.begin(), outputs.end(), id);
    if (at == outputs.end() || spec(id).type != DType::f32) return -1;
    if (std::find(at + 1, outputs.end(), id) != outputs.end()) return -1;
    const int output = static_cast<int>(at - outputs.begin());
    if (output == program.raw_output_ && last_use[body.inputs[0]] > n) return -1;
    return output;
  }

  void add_node(size_t n) {
    const Node& node = body.nodes[n];
    if (pairs[n].within) return;
    Step step{node.op->rule->tile.get(), node.op->rule->arity, {}, {}};
    ensure(step.function && step.arity == static_cast<int>(node.inputs.size()),
           "a fused op has a kernel for its arguments");
    std::vector<ValueId> arguments(node.inputs.begin(), node.inputs.end());
    if (const NodePair& pair = pairs[n]; pair.first) {
      step.function = pair.function, step.arity = 3;
      arguments = {pair.first->inputs[0], pair.first->inputs[1], node.inputs[pair.position == 0 ? 1 : 0]};
    }
    for (size_t i = 0; i < arguments.size(); ++i) step.in[i] = place(arguments[i]);
    // A result may take the register of an argument that dies here: rules read an element before they write it.
    for (size_t i = 0; i < arguments.size(); ++i) release(arguments, i, n);
    if (const int output = direct_output(node.first_output, n); output >= 0)
      step.out = {Operand::In::output, output};
    else
      step.out = {Operand::In::scratch, take()};
    place(node.first_output) = step.out;
    if (step.out.in == Operand::In::scratch) add_stores(node.first_output);
    program.steps_.push_back(step);
  }

  void release(const std::vector<ValueId>& arguments, size_t argument, size_t n) {
    const ValueId id = arguments[argument];
    const auto before = arguments.begin() + static_cast<long>(argument);
    const bool first_mention = std::find(arguments.begin(), before, id) == before;
    const bool made_here = body.producer(id) != nullptr;  // loads are kept for the next tile
    if (place(id).in == Operand::In::scratch && made_here && last_use[id] == n && first_mention)
      free_scratch.push_back(place(id).index);
  }

  void add_stores(ValueId id) {
    for (size_t k = 0; k < body.outputs.size(); ++k)
      if (body.outputs[k] == id) program.stores_.push_back({place(id), static_cast<int>(k), spec(id).type});
  }
};

TileProgram::TileProgram(const Trace& body, Use use) {
  ensure(!body.outputs.empty(), "a fused chain has outputs");
  shape_ = body.spec(body.outputs[0]).shape;
  Builder builder{*this, body, use, ValueMap<size_t>(body), ValueMap<Operand>(body), {}, {}};
  builder.find_last_uses();
  builder.find_pairs();
  if (use == Use::epilogue) builder.place_raw_result();
  for (size_t i = 0; i < body.inputs.size(); ++i) builder.add_input(i);
  for (size_t n = 0; n < body.nodes.size(); ++n) builder.add_node(n);
  for (size_t i = 0; i < body.inputs.size(); ++i)  // an input that is also an output
    if (i > 0 || use != Use::epilogue) builder.add_stores(body.inputs[i]);
  // One op from memory to memory needs no registers.
  const bool one = steps_.size() == 1 && loads_.empty() && patterns_.empty() && stores_.empty();
  tile_ = one ? kChainPiece : kTile;
}

void TileProgram::prepare(const void* const* inputs, float* patterns) const {
  if (shape_.count() == 0) return;
  for (const auto& each : patterns_) each.load.load(inputs[each.input], patterns + each.offset, 0, each.extent);
}

int64_t TileProgram::piece_elements() const {
  const auto ops = static_cast<int64_t>(std::max<size_t>(1, steps_.size()));
  return std::clamp(kChainPieceWork / ops / kTile * kTile, kTile, kChainPiece);
}

int TileProgram::last_read(size_t input) const {
  const int from = static_cast<int>(input);
  const auto loaded = [&](const auto& each) { return each.input == from; };
  const auto reads = [&](const Operand& place) { return place.in == Operand::In::input && place.index == from; };
  if (std::any_of(loads_.begin(), loads_.end(), loaded) || std::any_of(patterns_.begin(), patterns_.end(), loaded) ||
      std::any_of(stores_.begin(), stores_.end(), [&](const Store& store) { return reads(store.from); }))
    return kAlways;
  int last = -1;
  for (size_t i = 0; i < steps_.size(); ++i)
    if (std::any_of(steps_[i].in, steps_[i].in + steps_[i].arity, reads)) last = static_cast<int>(i);
  return last;
}

int TileProgram::first_write(size_t output) const {
  const int to = static_cast<int>(output);
  const auto at = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) {
    return step.out.in == Operand::In::output && step.out.index == to;
  });
  return static_cast<int>(at - steps_.begin());
}

struct TileProgram::Tile {
  const TileProgram& program;
  const void* const* inputs;
  void* const* outputs;
  const float* patterns;
  float* scratch;
  int64_t* places;       // of the tile's first element in each pattern
  const float** loaded;  // where the tile's elements of each load are

  // They are read where they lie, if they lie in a row.
  void load(int64_t at, int64_t count) const {
    for (size_t i = 0; i < program.loads_.size(); ++i) {
      const Load& each = program.loads_[i];
      loaded[i] = each.load.in_row(inputs[each.input], at, count);
      if (loaded[i]) continue;
      each.load.load(inputs[each.input], scratch + each.scratch * kTile, at, count);
      loaded[i] = scratch + each.scratch * kTile;
    }
  }

  void begin(int64_t at) const {
    for (size_t i = 0; i < program.patterns_.size(); ++i) places[i] = at % program.patterns_[i].period;
  }
  void next() const {
    for (size_t i = 0; i < program.patterns_.size(); ++i) {
      const Pattern& pattern = program.patterns_[i];
      places[i] += pattern.step;
      if (places[i] >= pattern.period) places[i] -= pattern.period;
    }
  }

  const float* read(const Operand& place, int64_t at) const {
    const size_t i = static_cast<size_t>(place.index);
    switch (place.in) {
      case Operand::In::input: return static_cast<const float*>(inputs[i]) + at;
      case Operand::In::output: return static_cast<const float*>(outputs[i]) + at;
      case Operand::In::scratch: return scratch + place.index * kTile;
      case Operand::In::load: return loaded[place.index];
      case Operand::In::pattern: return patterns + program.patterns_[i].offset + places[i];
      case Operand::In::none: break;
    }
    return nullptr;
  }
  float* write(const Operand& place, int64_t at) const {
    if (place.in == Operand::In::output) return static_cast<float*>(outputs[place.index]) + at;
    return scratch + place.index * kTile;
  }
  void store(const Store& store, int64_t at, int64_t count) const {
    const float* from = read(store.from, at);
    if (store.type == DType::f32) {
      std::memcpy(static_cast<float*>(outputs[store.output]) + at, from, static_cast<size_t>(count) * sizeof(float));
      return;
    }
    if (is_half(store.type)) {
      const auto& table = store.type == DType::bf16 ? numbers_to_bf16_table : numbers_to_f16_table;
      return table.get()(from, static_cast<uint16_t*>(outputs[store.output]) + at, count);
    }
    numbers_to_truth_table.get()(from, static_cast<uint8_t*>(outputs[store.output]) + at, count);
  }
};

void TileProgram::run(int64_t begin, int64_t end, const void* const* inputs, void* const* outputs,
                      const float* patterns) const {
  const Tile tile{*this,
                  inputs,
                  outputs,
                  patterns,
                  scratch_memory(scratch_count_),
                  for_each_of<int64_t>(patterns_.size()),
                  for_each_of<const float*>(loads_.size())};
  tile.begin(begin);
  for (int64_t at = begin; at < end; at += tile_, tile.next()) {
    const int64_t count = std::min(tile_, end - at);
    tile.load(at, count);
    for (const auto& step : steps_) {
      const float* in[3] = {};
      for (int i = 0; i < step.arity; ++i) in[i] = tile.read(step.in[i], at);
      step.function(in, tile.write(step.out, at), count);
    }
    for (const auto& store : stores_) tile.store(store, at, count);
  }
}

}  // namespace retrace

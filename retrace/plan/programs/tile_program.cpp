#include "retrace/plan/programs/tile_program.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "retrace/base/error.h"
#include "retrace/ops/rule_groups.h"
#include "retrace/ops/rule_pairs.h"
#include "retrace/plan/programs/chain_order.h"
#include "retrace/plan/programs/tile_bytes.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

using namespace tuning;

static_assert(kNumbersTile / kFewestInRow + 1 + 2 * kReadAhead <=
              kRowNumbers);  // numbers of a tile's rows, and those ahead
static_assert(kTile / kFewestInRow + 1 + 2 * kReadAhead <= kTile);

// What a tile knows of each of its patterns, or loads.
template <class T>
T* for_each_of(size_t count) {
  if (count == 0) return nullptr;
  thread_local std::vector<T> all;
  if (all.size() < count) all.resize(count);
  return all.data();
}

float* scratch_memory(int64_t floats) {
  if (floats == 0) return nullptr;
  thread_local std::vector<float> memory;
  const auto needed = static_cast<size_t>(floats) + 16;
  if (memory.size() < needed) memory.resize(needed);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<float*>((address + 63) / 64 * 64);
}

bool tile_output(DType type) { return type == DType::f32 || type == DType::boolean || is_half(type); }
bool tile_input(DType type) { return tile_output(type) || type == DType::u8; }

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

// Where the values of a body are, and who reads them.
struct TileProgram::Places {
  TileProgram& program;
  const Trace& body;
  std::vector<OrderedNode> order;
  ValueMap<size_t> last_use;  // the place in the order of the last node that reads a value
  ValueMap<int> uses;
  ValueMap<Operand> places;
  std::vector<int> free_scratch;
  std::vector<int> free_kept = {1, 0};  // of the run of links

  Operand& place(ValueId id) { return places[id]; }
  const TensorSpec& spec(ValueId id) const { return body.spec(id); }

  int take() {
    if (free_scratch.empty()) return program.scratch_count_++;
    const int scratch = free_scratch.back();
    free_scratch.pop_back();
    return scratch;
  }

  void find_last_uses() {
    for (size_t at = 0; at < order.size(); ++at)
      for (ValueId id : body.nodes[order[at].node].inputs) last_use[id] = at, ++uses[id];
    for (ValueId id : body.outputs) last_use[id] = order.size(), ++uses[id];
  }

  // Whether only links of this kind read a value: a rule that is none reads whole tiles.
  template <class Kind>
  bool linked(ValueId id, Kind kind) const {
    if (std::find(body.outputs.begin(), body.outputs.end(), id) != body.outputs.end()) return false;
    return std::all_of(order.begin(), order.end(), [&](const OrderedNode& each) {
      const auto& inputs = body.nodes[each.node].inputs;
      return std::find(inputs.begin(), inputs.end(), id) == inputs.end() ||
             (each.code != kNoChainCode && kind(each.code));
    });
  }
  ChainRead read_of(const Operand& place) const {
    const auto i = static_cast<size_t>(place.index);
    if (place.in == Operand::In::load) return program.loads_[i].read;
    if (place.in == Operand::In::kept) return place.index == 0 ? ChainRead::kept_0 : ChainRead::kept_1;
    const bool equal = place.in == Operand::In::pattern && program.patterns_[i].period == 1;
    return equal ? ChainRead::equal : ChainRead::each;
  }
  bool is_equal(const Operand& place) const { return read_of(place) == ChainRead::equal; }

  bool joins(size_t at) const { return at < order.size() && order[at].joins; }
  const Node& node_at(size_t at) const { return body.nodes[order[at].node]; }
  // Whether it reads a number where it lies that stands for many.
  bool reads_numbers(const Node& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return place(id).in == Operand::In::load && read_of(place(id)) != ChainRead::each;
    });
  }

  // Makes `step` of the nodes from this place on, if they are the group and nothing else reads what they make in
  // between.
  bool is_group(size_t at, const RuleGroup& group, Step& step) {
    const size_t end = at + group.rules.size();
    if (end > order.size() || (end < order.size() && order[end].follows)) return false;
    const auto& first = node_at(at).inputs;
    const ValueId x = first[group.others[0] == 'n' && is_equal(place(first[0])) ? first.size() - 1 : 0];
    if (place(x).in == Operand::In::none || read_of(place(x)) != ChainRead::each) return false;
    step = {group.tile, 1, {place(x)}, {}, 0, true};
    ValueId made = x;
    for (size_t n = at; n < end; ++n) {
      const Node& node = node_at(n);
      const char other = group.others[n - at];
      if (node.op->rule != group.rules[n - at] || (n > at && uses[made] != 1)) return false;
      const auto own = std::find(node.inputs.begin(), node.inputs.end(), made);
      if (own == node.inputs.end()) return false;
      const ValueId beside = own == node.inputs.begin() ? node.inputs.back() : node.inputs.front();
      if (other == 'x' && beside != x) return false;
      const bool number = other == 'n' || other == 's';
      if ((number && !is_equal(place(beside))) || (other == 's' && own != node.inputs.begin())) return false;
      if (number) step.in[step.arity++] = place(beside);
      made = node.first_output;
    }
    return true;
  }

  // Whether anybody but the next link reads the result.
  bool needed(size_t at) const {
    const ValueId id = node_at(at).first_output;
    if (!order[at].leads) return true;
    const auto& next = node_at(at + 1).inputs;
    return uses[id] > std::count(next.begin(), next.end(), id);
  }
  void release_all(size_t at) {
    const auto& inputs = node_at(at).inputs;
    for (size_t i = 0; i < inputs.size(); ++i) release(inputs, i, at);
  }
  void release(const std::vector<ValueId>& arguments, size_t argument, size_t n) {
    const ValueId id = arguments[argument];
    const auto before = arguments.begin() + static_cast<long>(argument);
    const bool first_mention = std::find(arguments.begin(), before, id) == before;
    const bool made_here = body.producer(id) != nullptr;  // loads are kept for the next tile
    if (!made_here || last_use[id] != n || !first_mention) return;
    if (place(id).in == Operand::In::scratch) free_scratch.push_back(place(id).index);
    if (place(id).in == Operand::In::kept) free_kept.push_back(place(id).index);
  }
};

// Makes the steps.
struct TileProgram::Builder : Places {
  Use use;

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
      program.patterns_.push_back({input, 0, period, 0, 0, std::move(load)});
    } else {
      place(id) = {Operand::In::load, static_cast<int>(program.loads_.size())};
      const ChainRead read = spec(id).type == DType::f32 ? read_rows(id, load.equal_run()) : ChainRead::each;
      program.loads_.push_back({input, read == ChainRead::each ? program.scratch_count_++ : -1, std::move(load), read});
    }
  }
  // How links read a value that is one number for each row of so many elements.
  ChainRead read_rows(ValueId id, int64_t row) {
    const bool is_long = row >= kFewestRow;
    int64_t& of_program = is_long ? program.row_ : program.short_row_;
    if (row < kFewestInRow || (of_program != 0 && of_program != row)) return ChainRead::each;
    if (!linked(id, [&](ChainCode code) { return is_long || reads_rows(code); })) return ChainRead::each;
    of_program = row;
    return is_long ? ChainRead::equal : ChainRead::rows;
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

  // Adds the nodes from this place in the order on that are one step or link; returns the place behind them.
  size_t add_nodes(size_t at) {
    for (const RuleGroup& group : rule_groups()) {
      if (joins(at)) break;
      Step step;
      if (!is_group(at, group, step)) continue;
      const size_t end = at + group.rules.size();
      for (size_t n = at; n < end; ++n) release_all(n);
      step.out = finish(end - 1);
      program.steps_.push_back(step);
      return end;
    }
    if (add_pair(at)) {
      program.steps_.back().out = finish(at + 1);
      return at + 2;
    }
    const Node& node = node_at(at);
    const bool links = joins(at) || joins(at + 1) || reads_numbers(node);
    if (links)
      add_links(order[at], node);
    else
      add_rule(node);
    release_all(at);
    // A result may take the register of an argument that dies here: rules read an element before they write it.
    const Operand out = !needed(at) ? Operand{} : links && can_keep(at) ? keep(at) : finish(at);
    (links ? program.links_.back().out : program.steps_.back().out) = out;
    return at + 1;
  }
  // Whether all readers of the result are links of the same run, which has a place for it.
  bool can_keep(size_t at) const {
    const size_t last = last_use[node_at(at).first_output];
    size_t end = at + 1;
    while (joins(end)) ++end;
    return last < end && !free_kept.empty();
  }
  Operand keep(size_t at) {
    const Operand kept{Operand::In::kept, free_kept.back()};
    free_kept.pop_back();
    return place(node_at(at).first_output) = kept;
  }
  Operand finish(size_t at) {
    const ValueId id = node_at(at).first_output;
    const int output = direct_output(id, at);
    place(id) = output >= 0 ? Operand{Operand::In::output, output} : Operand{Operand::In::scratch, take()};
    if (output < 0) add_stores(id);
    return place(id);
  }

  // Two links of sums, differences and products from memory to memory are faster as a rule of both.
  bool add_pair(size_t at) {
    if (joins(at) || !order[at].leads || joins(at + 2) || needed(at)) return false;
    const Node &first = node_at(at), &second = node_at(at + 1);
    const int position = order[at + 1].position;
    if (first.inputs.size() != 2 || second.inputs.size() != 2 || position < 0) return false;
    const TileFunction pair = rule_pair(*first.op->rule, *second.op->rule, position);
    if (!pair || reads_numbers(first) || reads_numbers(second)) return false;
    const ValueId other = second.inputs[position == 0 ? 1 : 0];
    program.steps_.push_back({pair, 3, {place(first.inputs[0]), place(first.inputs[1]), place(other)}, {}});
    release_all(at);
    release_all(at + 1);
    return true;
  }

  void add_rule(const Node& node) {
    Step step{node.op->rule->tile.get(), node.op->rule->arity, {}, {}};
    ensure(step.function && step.arity == static_cast<int>(node.inputs.size()),
           "a fused op has a kernel for its arguments");
    for (size_t i = 0; i < node.inputs.size(); ++i) step.in[i] = place(node.inputs[i]);
    program.steps_.push_back(step);
  }

  void add_links(const OrderedNode& ordered, const Node& node) {
    if (!ordered.joins) program.steps_.push_back({nullptr, 0, {}, {}, program.links_.size()});
    if (!ordered.follows) {
      add_link(kChainLoad, {node.inputs[static_cast<size_t>(std::max(0, ordered.position))]});
    }
    std::vector<ValueId> others;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (ordered.position >= 0 && static_cast<int>(i) != ordered.position) others.push_back(node.inputs[i]);
    add_link(ordered.code, others);
  }
  void add_link(ChainCode code, const std::vector<ValueId>& arguments) {
    Link link{code, {}, {}, {}};
    for (size_t i = 0; i < arguments.size(); ++i) link.in[i] = place(arguments[i]), link.read[i] = read_of(link.in[i]);
    link.code = chain_code_of(code, link.read[0]);
    program.links_.push_back(link);
    ++program.steps_.back().arity;
  }

  void add_stores(ValueId id) {
    for (size_t k = 0; k < body.outputs.size(); ++k)
      if (body.outputs[k] == id) program.stores_.push_back({place(id), static_cast<int>(k), spec(id).type});
  }
};

TileProgram::TileProgram(const Trace& body, Use use) {
  ensure(!body.outputs.empty(), "a fused chain has outputs");
  shape_ = body.spec(body.outputs[0]).shape;
  Builder builder{
      {*this, body, chain_order(body), ValueMap<size_t>(body), ValueMap<int>(body), ValueMap<Operand>(body), {}}, use};
  builder.find_last_uses();
  if (use == Use::epilogue) builder.place_raw_result();
  for (size_t i = 0; i < body.inputs.size(); ++i) builder.add_input(i);
  for (size_t at = 0; at < builder.order.size();) at = builder.add_nodes(at);
  for (size_t i = 0; i < body.inputs.size(); ++i)  // an input that is also an output
    if (i > 0 || use != Use::epilogue) builder.add_stores(body.inputs[i]);
  for (int64_t i = 0; short_row_ > 0 && i < short_row_ + kMostChainBatch; ++i)
    row_of_.push_back(static_cast<uint8_t>(i / short_row_));
  choose_tile();
}

void TileProgram::choose_tile() {
  // One op from memory to memory needs no registers, nor do links that read numbers where they lie.
  const bool free = stores_.empty() && steps_.size() == 1 && scratch_count_ == 0;
  const bool even =
      std::all_of(patterns_.begin(), patterns_.end(), [](const Pattern& each) { return each.period == 1; });
  const bool reads_numbers = !links_.empty() || (!steps_.empty() && steps_[0].reads_numbers);
  const auto held = static_cast<int64_t>(patterns_.size()) + scratch_count_;
  tile_ = kTile;
  if (free && loads_.empty() && patterns_.empty())
    tile_ = kMostChainPiece;
  else if (free && reads_numbers)
    tile_ = even ? kNumbersTile : kFreeTile;
  else if (even && loads_.empty())
    tile_ = std::clamp(kTileFloats / std::max<int64_t>(held, 1) / kTile * kTile, kTile, kMostTile);
  register_ = free ? kRowNumbers : tile_;
  for (Load& each : loads_)
    if (each.read == ChainRead::rows) each.scratch = scratch_count_++;
  for (Pattern& each : patterns_) {
    each.step = tile_ % each.period;
    // Of any tile that starts in the first; of one number where links read no other.
    each.extent = free && each.period == 1 && reads_numbers ? 1 : each.period + std::min(tile_, shape_.count());
    each.offset = pattern_floats_;
    pattern_floats_ += static_cast<size_t>((each.extent + 15) / 16 * 16);
  }
}

void TileProgram::prepare(const void* const* inputs, float* patterns) const {
  if (shape_.count() == 0) return;
  for (const auto& each : patterns_) each.load.load(inputs[each.input], patterns + each.offset, 0, each.extent);
}

int64_t TileProgram::piece_elements() const {
  const auto ops = static_cast<int64_t>(std::max<size_t>(1, steps_.size() + links_.size()));
  return std::clamp(kChainPieceWork / ops / kTile * kTile, kTile, kChainPiece);
}

template <class Read, class Write>
void TileProgram::visit(Read read, Write write) const {
  int time = 0;
  for (const Step& step : steps_) {
    if (step.function) {
      for (int i = 0; i < step.arity; ++i) read(step.in[i], time);
      write(step.out, time++);
    } else {
      for (const Link& link : std::span(links_).subspan(step.first_link, static_cast<size_t>(step.arity))) {
        for (const Operand& operand : link.in) read(operand, time);
        write(link.out, time++);
      }
    }
  }
}

int TileProgram::last_read(size_t input) const {
  const int from = static_cast<int>(input);
  const auto loaded = [&](const auto& each) { return each.input == from; };
  const auto reads = [&](const Operand& place) { return place.in == Operand::In::input && place.index == from; };
  if (std::any_of(loads_.begin(), loads_.end(), loaded) || std::any_of(patterns_.begin(), patterns_.end(), loaded) ||
      std::any_of(stores_.begin(), stores_.end(), [&](const Store& store) { return reads(store.from); }))
    return kAlways;
  int last = -1;
  visit([&](const Operand& place, int time) { last = reads(place) ? time : last; }, [](const Operand&, int) {});
  return last;
}

int TileProgram::first_write(size_t output) const {
  const int to = static_cast<int>(output);
  int first = kAlways;
  visit([](const Operand&, int) {},
        [&](const Operand& place, int time) {
          if (place.in == Operand::In::output && place.index == to) first = std::min(first, time);
        });
  return first == kAlways ? static_cast<int>(links_.size() + steps_.size()) : first;
}

int64_t TileProgram::tile_at(int64_t at, int64_t end) const {
  const int64_t most = std::min(tile_, end - at);
  return row_ == 0 ? most : std::min(most, row_ - at % row_);
}

ChainRows TileProgram::rows_at(int64_t at) const {
  if (short_row_ == 0) return {};
  return {short_row_, row_of_.data(), at % short_row_};
}

// Where the tile's elements of a load are, and what its register holds (BroadcastLoad::content).
struct TileProgram::Loaded {
  const float* elements = nullptr;
  int64_t content = -1, count = 0;
};

struct TileProgram::Tile {
  const TileProgram& program;
  const int64_t end;  // of the run
  const void* const* inputs;
  void* const* outputs;
  const float* patterns;
  float* scratch;
  int64_t* places;  // of the tile's first element in each pattern
  Loaded* loaded;   // of each load

  // The numbers of the tile's rows, behind which links may read: a copy where those of the run end there.
  const float* readable(const Load& each, const float* numbers, int64_t at, int64_t count) const {
    const int64_t row = program.short_row_, left = (end - 1) / row - at / row + 1;
    if ((at % row + count - 1) / row + kReadAhead <= left) return numbers;
    float* const copy = scratch + each.scratch * program.register_;
    std::copy_n(numbers, left, copy);  // fewer than a register has: of a tile one in ten, and those ahead
    return copy;
  }

  // They are read where they lie, if they lie in a row.
  void load(int64_t at, int64_t count) const {
    for (size_t i = 0; i < program.loads_.size(); ++i) {
      const Load& each = program.loads_[i];
      if (each.read != ChainRead::each) {
        const int64_t row = each.read == ChainRead::equal ? program.row_ : program.short_row_;
        loaded[i].elements = static_cast<const float*>(inputs[each.input]) + at / row;
        if (each.read == ChainRead::rows) loaded[i].elements = readable(each, loaded[i].elements, at, count);
        continue;
      }
      loaded[i].elements = each.load.in_row(inputs[each.input], at, count);
      if (loaded[i].elements) continue;
      loaded[i].elements = scratch + each.scratch * program.register_;
      const int64_t content = each.load.content(at, count);
      if (content >= 0 && content == loaded[i].content && count <= loaded[i].count) continue;
      each.load.load(inputs[each.input], scratch + each.scratch * program.register_, at, count);
      loaded[i].content = content, loaded[i].count = count;
    }
  }

  void begin(int64_t at) const {
    for (size_t i = 0; i < program.loads_.size(); ++i) loaded[i] = {};
    for (size_t i = 0; i < program.patterns_.size(); ++i) places[i] = at % program.patterns_[i].period;
  }
  void next(int64_t at, int64_t count) const {
    if (count < program.tile_) return begin(at + count);
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
      case Operand::In::scratch: return scratch + place.index * program.register_;
      case Operand::In::load: return loaded[place.index].elements;
      case Operand::In::pattern: return patterns + program.patterns_[i].offset + places[i];
      case Operand::In::kept:
      case Operand::In::none: break;
    }
    return nullptr;
  }
  float* write(const Operand& place, int64_t at) const {
    if (place.in == Operand::In::output) return static_cast<float*>(outputs[place.index]) + at;
    return scratch + place.index * program.register_;
  }
  void rule(const Step& step, int64_t at, int64_t count) const {
    const float* in[std::size(Step().in)] = {};
    for (int i = 0; i < step.arity; ++i) in[i] = read(step.in[i], at);
    step.function(in, write(step.out, at), count);
  }
  void links(const Step& step, int64_t at, int64_t count) const {
    ChainLink* const all = for_each_of<ChainLink>(2 * static_cast<size_t>(step.arity) + 1);
    ChainLink* next = all;
    for (int i = 0; i < step.arity; ++i) {
      const Link& link = program.links_[step.first_link + static_cast<size_t>(i)];
      *next++ = {link.code, {link.read[0], link.read[1]}, {read(link.in[0], at), read(link.in[1], at)}, nullptr};
      if (link.out.in == Operand::In::kept)
        *next++ = {static_cast<ChainCode>(kChainKeep + link.out.index), {}, {}, nullptr};
      else if (link.out.in != Operand::In::none)
        *next++ = {kChainStore, {}, {}, write(link.out, at)};
    }
    next->code = kChainEnd;
    chain_function()(all, count, program.rows_at(at));
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
                  end,
                  inputs,
                  outputs,
                  patterns,
                  scratch_memory(scratch_count_ * register_),
                  for_each_of<int64_t>(patterns_.size()),
                  for_each_of<Loaded>(loads_.size())};
  tile.begin(begin);
  for (int64_t at = begin, count = 0; at < end; tile.next(at, count), at += count) {
    count = tile_at(at, end);
    if (!loads_.empty()) tile.load(at, count);
    for (const auto& step : steps_) step.function ? tile.rule(step, at, count) : tile.links(step, at, count);
    for (const auto& store : stores_) tile.store(store, at, count);
  }
}

}  // namespace retrace

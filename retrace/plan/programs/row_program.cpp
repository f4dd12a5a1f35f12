#include "retrace/plan/programs/row_program.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/finish_order.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/plan/programs/row_kernels.h"

namespace retrace {
namespace {

using namespace row_chain;

float* row_scratch(int64_t floats) {
  thread_local std::vector<float> memory;
  if (memory.size() < static_cast<size_t>(floats) + 16) memory.resize(static_cast<size_t>(floats) + 16);
  return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
}

}  // namespace

int64_t RowProgram::blocks() const { return (rows_ + kBlock - 1) / kBlock; }
int64_t RowProgram::tiles() const { return (blocks() + kLanes - 1) / kLanes; }

int64_t RowProgram::workspace_bytes() const {
  Workspace space(nullptr);
  space.take<float>(tiles() * record_floats_);
  return space.bytes();
}

// One thread's work on 16 blocks.
struct RowProgram::Worker {
  const RowProgram& p;
  const void* const* inputs;
  void* const* outputs;
  int64_t tile;
  float* rows;  // the scratch begins here
  float* patterns;
  float* sums;
  float* spare;    // twice the widest rows
  float* records;  // the sums of each block
  int64_t lanes;   // blocks that exist
  int64_t end;     // of the last one's rows

  Worker(const RowProgram& program, const void* const* in, void* const* out, int64_t number)
      : p(program), inputs(in), outputs(out), tile(number) {
    rows = row_scratch(p.row_floats_ + p.sum_floats_ + p.pattern_floats_ + 2 * p.widest_ * kChunk +
                       kLanes * p.record_floats_);
    patterns = rows + p.row_floats_;
    sums = patterns + p.pattern_floats_;
    spare = sums + p.sum_floats_;
    records = spare + 2 * p.widest_ * kChunk;
    lanes = std::min(kLanes, p.blocks() - tile * kLanes);
    end = std::min(kBlock, p.rows_ - row_of(lanes - 1));
    for (const auto& each : p.patterns_)
      for (int64_t i = 0; i < each.numbers; ++i) {
        const float number = static_cast<const float*>(inputs[each.input])[i];
        std::fill_n(patterns + each.offset + i * each.length, each.length, each.bias ? number + 0.0f : number);
      }
  }

  int64_t row_of(int64_t lane) const { return (tile * kLanes + lane) * kBlock; }

  void compute(float* partials) {
    std::fill_n(sums, p.sum_floats_, 0.0f);
    for (int64_t first = 0; first < kBlock; first += kChunkRows) {
      for (const auto& each : p.loads_) load(each, first);
      for (const auto& step : p.steps_) run(step, first);
      for (const auto& each : p.stores_) put(each, first);
    }
    const auto& kernels = contraction_kernels();
    for (const auto& sum : p.sums_)
      kernels.transpose(sums + sum.memory, kLanes, records + sum.partial, p.record_floats_, sum.size, kLanes);
    kernels.tree_sum(records, p.record_floats_, lanes, nullptr, partials + tile * p.record_floats_, p.record_floats_);
  }

  // Rows of a lane in the chunk that begins there.
  int64_t present(int64_t lane, int64_t first) const {
    if (lane >= lanes) return 0;
    return lane + 1 < lanes ? kChunkRows : std::clamp(end - first, int64_t{0}, kChunkRows);
  }
  bool whole(int64_t first) const { return lanes == kLanes && present(lanes - 1, first) == kChunkRows; }

  // [lane][row of the chunk][feature] to [feature][row][lane]; rows that do not exist are 0.
  void load(const Transfer& t, int64_t first) {
    const float* from = static_cast<const float*>(inputs[t.index]) + (row_of(0) + first) * t.features;
    int64_t stride = kBlock * t.features;
    if (!whole(first)) {
      float* const copy = spare + p.widest_ * kChunk;
      const int64_t size = kChunkRows * t.features;
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t there = present(lane, first) * t.features;
        if (there > 0) std::copy_n(from + lane * stride, there, copy + lane * size);
        std::fill_n(copy + lane * size + there, size - there, 0.0f);
      }
      from = copy, stride = size;
    }
    float* const to = rows + t.offset;
    float* const turned = t.features == 1 ? to : spare;
    contraction_kernels().transpose(from, stride, turned, kLanes, kLanes, kChunkRows * t.features);
    if (t.features > 1) row_kernels().by_feature(turned, t.features, to);
  }

  void put(const Transfer& t, int64_t first) {
    float* const to = static_cast<float*>(outputs[t.index]) + (row_of(0) + first) * t.features;
    const int64_t stride = kBlock * t.features, size = kChunkRows * t.features;
    row_kernels().by_row(rows + t.offset, t.features, spare);
    if (whole(first)) return contraction_kernels().transpose(spare, kLanes, to, stride, size, kLanes);
    float* const copy = spare + p.widest_ * kChunk;
    contraction_kernels().transpose(spare, kLanes, copy, size, size, kLanes);
    for (int64_t lane = 0; lane < lanes; ++lane)
      std::copy_n(copy + lane * size, present(lane, first) * t.features, to + lane * stride);
  }

  void run(const Step& step, int64_t first) {
    const auto begin = static_cast<size_t>(step.first);
    if (step.kind == RowRoles::Step::Kind::dense) return dense(p.dense_[begin]);
    if (step.kind == RowRoles::Step::Kind::sum) return sum(p.sums_[begin], first);
    for (int64_t c = 0; c < step.features; ++c)
      for (size_t i = begin; i < begin + static_cast<size_t>(step.count); ++i) rule(p.rules_[i], c);
  }

  void dense(const Dense& d) {
    const auto input = [&](int i) { return i < 0 ? nullptr : static_cast<const float*>(inputs[i]); };
    const bool masked = d.after == RowRoles::After::Kind::mask;
    static constexpr float kNoBias[tuning::kMostChainFeatures] = {};
    row_kernels().dense({input(d.weights), d.per_output, d.per_term, d.depth, d.width,
                         d.bias < 0 ? kNoBias : rows + d.bias, rows + d.from, rows + d.to, d.after, rows + d.mask,
                         masked ? *input(d.bound) : 0.0f, masked ? *input(d.otherwise) : 0.0f});
  }

  void rule(const Rule& r, int64_t feature) {
    const auto at = [&](const Operand& o) { return rows + o.offset + feature * o.step; };
    const float* in[3] = {at(r.in[0]), at(r.in[1]), at(r.in[2])};
    r.function(in, at(r.out), kChunk);
  }

  // Rows that do not exist, after the end of the last block, add +0, which changes no sum: one that starts from +0 and
  // adds is never -0, and a product's sum has +0 added at its end. Nobody reads the sums of blocks that do not exist.
  const float* summands(int64_t offset, int64_t features, int64_t first) {
    const int64_t there = present(lanes - 1, first);
    if (there < kChunkRows) row_kernels().clear(rows + offset, features, there, lanes - 1);
    return rows + offset;
  }

  void sum(const Sum& s, int64_t first) {
    float* const to = sums + s.memory;
    const float* const a = summands(s.a, s.a_features, first);
    if (s.kind == Sum::Kind::outer)
      return row_kernels().outer(a, s.a_features, summands(s.b, s.b_features, first), s.b_features, to);
    if (s.kind == Sum::Kind::row) return row_kernels().add_left(a, to + first % kStrip * kLanes, kChunk);
    row_kernels().add_rows(a, s.a_features, to);
    if ((first + kChunkRows) % kStrip == 0) end_strip(s, first / kStrip);
  }

  // The finished strip enters the tree over the strips of its block.
  void end_strip(const Sum& s, int64_t strip) {
    const int64_t count = s.size * kLanes;
    float* const sum = sums + s.memory;
    const uint64_t merges = merges_after(strip, kStrips);
    for (uint64_t left = merges; left != 0; left &= left - 1)
      row_kernels().add_left(sum + count * (1 + std::countr_zero(left)), sum, count);
    if (strip + 1 == kStrips) return;
    std::copy_n(sum, count, sum + count * (1 + std::popcount(merges)));
    std::fill_n(sum, count, 0.0f);
  }
};

void RowProgram::combine(const FinishOrder& order, const float* partials, void* const* outputs) const {
  for (const auto& sum : sums_) {
    auto* const out = static_cast<float*>(outputs[sum.output]);
    if (sum.kind != Sum::Kind::row) {
      order.sum(partials + sum.partial, record_floats_, nullptr, out, sum.size);
      continue;
    }
    float lane[kStrip];
    order.sum(partials + sum.partial, record_floats_, nullptr, lane, kStrip);
    for (int64_t half = kStrip / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
    *out = lane[0];
  }
}

void RowProgram::run(const void* const* inputs, void* const* outputs, void* workspace) const {
  Workspace space(workspace);
  float* const partials = space.take<float>(tiles() * record_floats_);
  FinishOrder order(tiles());
  run_pieces(tiles(), [&](int64_t tile) {
    Worker(*this, inputs, outputs, tile).compute(partials);
    order.done(tile);
  });
  combine(order, partials, outputs);
}

}  // namespace retrace

#include "retrace/plan/tile_program.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace retrace {
namespace {

constexpr int64_t kTile = 512;  // elements: a register takes 2 KiB

float* scratch_memory(int count) {
  thread_local std::vector<float> memory;
  const size_t needed = static_cast<size_t>(count) * kTile + 16;
  if (memory.size() < needed) memory.resize(needed);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<float*>((address + 63) / 64 * 64);
}

bool tile_input(DType type) { return type == DType::f32 || type == DType::boolean || type == DType::u8; }
bool tile_output(DType type) { return type == DType::f32 || type == DType::boolean; }

// Strides of a broadcast of `from` to `to`, with axes merged where they step regularly.
void merge_axes(const Shape& from, const Shape& to, Shape& shape, Shape& strides) {
  const Shape own = row_major_strides(from);
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] == 1) continue;
    const int axis = i - (to.rank() - from.rank());
    const int64_t stride = axis < 0 || from[axis] == 1 ? 0 : own[axis];
    const int last = shape.rank() - 1;
    if (last >= 0 && strides[last] == stride * to[i]) {
      shape[last] *= to[i];
      strides[last] = stride;
    } else {
      shape.push_back(to[i]);
      strides.push_back(stride);
    }
  }
}

template <class T>
void gather(const T* from, float* to, int64_t count, int64_t stride) {
  if (stride == 0)
    std::fill_n(to, count, static_cast<float>(*from));
  else
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i * stride]);
}

template <>
void gather(const float* from, float* to, int64_t count, int64_t stride) {
  if (stride == 0)
    std::fill_n(to, count, *from);
  else if (stride == 1)
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  else
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

// Rows along the last merged axis, the others counted up.
template <class T>
void load_strided(const Shape& shape, const Shape& strides, const T* from, float* to, int64_t begin, int64_t count) {
  if (shape.rank() == 0) return gather(from, to, count, 0);
  Shape index = shape;
  int64_t rest = begin, offset = 0;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    index[i] = rest % shape[i];
    rest /= shape[i];
    offset += index[i] * strides[i];
  }
  const int last = shape.rank() - 1;
  while (count > 0) {
    const int64_t row = std::min(count, shape[last] - index[last]);
    gather(from + offset, to, row, strides[last]);
    to += row;
    count -= row;
    offset += row * strides[last];
    index[last] += row;
    for (int i = last; i > 0 && index[i] == shape[i]; --i) {
      offset += strides[i - 1] - strides[i] * shape[i];
      index[i] = 0;
      ++index[i - 1];
    }
  }
}

}  // namespace

bool can_tile(const Trace& trace, const Node& node) {
  if (!node.op->rule || node.output_count != 1) return false;
  for (ValueId id : node.inputs)
    if (!tile_input(trace.values[static_cast<size_t>(id)].type)) return false;
  return tile_output(trace.values[static_cast<size_t>(node.first_output)].type);
}

struct TileProgram::Builder {
  TileProgram& program;
  const Trace& body;
  int alias_input;
  std::vector<size_t> last_use;  // per value: index of the last node that reads it
  std::vector<Source> sources;   // per value
  std::vector<int> free_scratch;

  int take() {
    if (free_scratch.empty()) return program.scratch_count_++;
    const int scratch = free_scratch.back();
    free_scratch.pop_back();
    return scratch;
  }

  void find_last_uses() {
    last_use.assign(body.values.size(), 0);
    for (size_t n = 0; n < body.nodes.size(); ++n)
      for (ValueId id : body.nodes[n].inputs) last_use[static_cast<size_t>(id)] = n;
    for (ValueId id : body.outputs) last_use[static_cast<size_t>(id)] = body.nodes.size();
  }

  void add_input(size_t i) {
    const ValueId id = body.inputs[i];
    const TensorSpec& spec = body.values[static_cast<size_t>(id)];
    Source& source = sources[static_cast<size_t>(id)];
    if (spec.type == DType::f32 && spec.shape == program.shape_) {
      source.input = static_cast<int>(i);
      return;
    }
    Load load{static_cast<int>(i), program.scratch_count_++, spec.type, spec.count() == 1, {}, {}};
    merge_axes(spec.shape, program.shape_, load.shape, load.strides);
    source.scratch = load.scratch;
    program.loads_.push_back(load);
  }

  // An f32 result that is wanted once goes straight to memory, unless that memory may still be read as an input.
  int direct_output(ValueId id, size_t n) const {
    const auto& outputs = body.outputs;
    const auto at = std::find(outputs.begin(), outputs.end(), id);
    if (at == outputs.end() || body.values[static_cast<size_t>(id)].type != DType::f32) return -1;
    if (std::find(at + 1, outputs.end(), id) != outputs.end()) return -1;
    if (alias_input >= 0 && last_use[static_cast<size_t>(body.inputs[static_cast<size_t>(alias_input)])] > n) return -1;
    return static_cast<int>(at - outputs.begin());
  }

  void add_node(size_t n) {
    const Node& node = body.nodes[n];
    Step step{node.op->rule->tile.get(), node.op->rule->arity, {}, -1, -1};
    ensure(step.function && step.arity == static_cast<int>(node.inputs.size()),
           "a fused op has a kernel for its arguments");
    for (size_t i = 0; i < node.inputs.size(); ++i) step.in[i] = sources[static_cast<size_t>(node.inputs[i])];
    // A result may take the register of an argument that dies here: rules read an element before they write it.
    for (size_t i = 0; i < node.inputs.size(); ++i) release(node.inputs[i], n, node, i);
    step.output = direct_output(node.first_output, n);
    const bool read_later = last_use[static_cast<size_t>(node.first_output)] > n && reads_after(node.first_output, n);
    if (step.output < 0 || read_later) step.scratch = take();
    if (step.output >= 0 && read_later) step.output = -1;  // kept in a register, stored at the end
    sources[static_cast<size_t>(node.first_output)] = {-1, step.scratch};
    if (step.output < 0) add_stores(node.first_output);
    program.steps_.push_back(step);
  }

  bool reads_after(ValueId id, size_t n) const {
    for (size_t m = n + 1; m < body.nodes.size(); ++m)
      if (std::find(body.nodes[m].inputs.begin(), body.nodes[m].inputs.end(), id) != body.nodes[m].inputs.end())
        return true;
    return false;
  }

  void release(ValueId id, size_t n, const Node& node, size_t argument) {
    const Source& source = sources[static_cast<size_t>(id)];
    const bool is_load = body.producers[static_cast<size_t>(id)] < 0;
    const bool first_mention = std::find(node.inputs.begin(), node.inputs.begin() + static_cast<long>(argument), id) ==
                               node.inputs.begin() + static_cast<long>(argument);
    if (source.scratch >= 0 && !is_load && last_use[static_cast<size_t>(id)] == n && first_mention)
      free_scratch.push_back(source.scratch);
  }

  void add_stores(ValueId id) {
    for (size_t k = 0; k < body.outputs.size(); ++k)
      if (body.outputs[k] == id)
        program.stores_.push_back(
            {sources[static_cast<size_t>(id)], static_cast<int>(k), body.values[static_cast<size_t>(id)].type});
  }
};

TileProgram::TileProgram(const Trace& body, int alias_input) {
  ensure(!body.outputs.empty(), "a fused chain has outputs");
  shape_ = body.values[static_cast<size_t>(body.outputs[0])].shape;
  Builder builder{*this, body, alias_input, {}, std::vector<Source>(body.values.size()), {}};
  builder.find_last_uses();
  for (size_t i = 0; i < body.inputs.size(); ++i) builder.add_input(i);
  for (size_t n = 0; n < body.nodes.size(); ++n) builder.add_node(n);
  for (size_t i = 0; i < body.inputs.size(); ++i)  // an input that is also an output: the raw result, kept
    if (static_cast<int>(i) != alias_input) builder.add_stores(body.inputs[i]);
}

void TileProgram::load(const Load& load, const void* from, float* to, int64_t begin, int64_t count) const {
  if (load.type == DType::f32)
    load_strided(load.shape, load.strides, static_cast<const float*>(from), to, begin, count);
  else
    load_strided(load.shape, load.strides, static_cast<const uint8_t*>(from), to, begin, count);
}

void TileProgram::run(int64_t begin, int64_t end, const void* const* inputs, void* const* outputs) const {
  float* const scratch = scratch_memory(scratch_count_);
  const auto resolve = [&](const Source& source, int64_t at) -> const float* {
    if (source.input >= 0) return static_cast<const float*>(inputs[source.input]) + at;
    return scratch + source.scratch * kTile;
  };
  for (const auto& scalar : loads_)
    if (scalar.scalar)
      load(scalar, inputs[scalar.input], scratch + scalar.scratch * kTile, 0, std::min(kTile, end - begin));
  for (int64_t at = begin; at < end; at += kTile) {
    const int64_t count = std::min(kTile, end - at);
    for (const auto& each : loads_)
      if (!each.scalar) load(each, inputs[each.input], scratch + each.scratch * kTile, at, count);
    for (const auto& step : steps_) {
      const float* in[3] = {};
      for (int i = 0; i < step.arity; ++i) in[i] = resolve(step.in[i], at);
      float* out = step.output >= 0 ? static_cast<float*>(outputs[step.output]) + at : scratch + step.scratch * kTile;
      step.function(in, out, count);
    }
    for (const auto& store : stores_) {
      const float* from = resolve(store.from, at);
      if (store.type == DType::f32) {
        std::memcpy(static_cast<float*>(outputs[store.output]) + at, from, static_cast<size_t>(count) * sizeof(float));
      } else {
        uint8_t* to = static_cast<uint8_t*>(outputs[store.output]) + at;
        for (int64_t i = 0; i < count; ++i) to[i] = from[i] != 0;
      }
    }
  }
}

}  // namespace retrace

#pragma once
// A fused chain: each op's vector loop over a tile that stays in the first-level cache. Built from a trace of
// pointwise nodes whose outputs all have one shape; inputs broadcast to it. The values are those of the unfused ops:
// every element goes through the same rules in the same order.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "retrace/ops/rule_chain.h"
#include "retrace/plan/programs/tile_load.h"
#include "retrace/trace/op.h"

namespace retrace {

// Whether a node can be part of a tile program: a rule, and f32, bool or u8 values (bool or f32 results).
bool can_tile(const Trace& trace, const Node& node);

// The op of a fused chain: its body says what it computes.
const Op& fused_op();
// Whether a tile program is all that a node needs: a fused chain, or a node that can be part of one.
bool is_tile_chain(const Trace& trace, const Node& node);

// infer() of ops whose bodies say their outputs: an Error(internal).
std::vector<TensorSpec> infer_by_body(const InferCall& call);

class TileProgram {
 public:
  // As a kernel of its own, or as the epilogue of a contraction, whose raw result is input 0 of the body and lies in
  // the memory of an output, or apart.
  enum class Use { kernel, epilogue, epilogue_apart };
  explicit TileProgram(const Trace& body, Use use = Use::kernel);

  // Inputs that repeat with a short period (a number for all elements, one for each channel) are written out once a
  // call, so that a tile finds them in memory: `patterns` has pattern_bytes() bytes, 64-byte aligned.
  size_t pattern_bytes() const { return pattern_floats_ * sizeof(float); }
  void prepare(const void* const* inputs, float* patterns) const;

  // Computes elements begin..end-1 of all outputs. inputs[i] and outputs[i] are the whole arrays.
  void run(int64_t begin, int64_t end, const void* const* inputs, void* const* outputs, const float* patterns) const;

  const Shape& shape() const { return shape_; }
  // Elements that one thread takes at a time: fewer where each costs many ops, so that small arrays have work for all.
  int64_t piece_elements() const;
  // An output may lie in the memory of an input if last_read(input) <= first_write(output): of each tile the input is
  // then read before it is overwritten. kAlways: it is read otherwise than element by element.
  static constexpr int kAlways = std::numeric_limits<int>::max();
  int last_read(size_t input) const;
  int first_write(size_t output) const;
  // Epilogues: the output in whose memory the raw result lies; -1 if it needs memory of its own.
  int raw_output() const { return raw_output_; }

 private:
  // Where an operand of a tile is: in an f32 input or output at the element's own index, in a register of the tile
  // machine, where a load found or put it, in a pattern, or among what a run of links keeps.
  struct Operand {
    enum class In { none, input, output, scratch, load, pattern, kept } in = In::none;
    int index = -1;
  };
  struct Load {
    int input;
    int scratch;
    BroadcastLoad load;
    ChainRead
        read;  // equal: a tile's elements are one number; rows: so are those of a row. Links read it where it lies
  };
  struct Pattern {
    int input;
    size_t offset;                 // in the patterns, in floats
    int64_t period, step, extent;  // step: from tile to tile
    BroadcastLoad load;
  };
  struct Step {
    TileFunction function;  // null: `arity` links
    int arity;
    Operand in[4];
    Operand out;
    size_t first_link = 0;
    bool reads_numbers = false;  // of equal elements one alone
  };
  struct Link {
    ChainCode code;
    ChainRead read[2];
    Operand in[2];
    Operand out;  // none: the result stays in registers
  };
  struct Store {
    Operand from;
    int output;
    DType type;
  };
  struct Places;
  struct Builder;
  struct Loaded;
  struct Tile;
  // read(operand, time) and write(operand, time) of all rules in their order: at one time reads come first.
  template <class Read, class Write>
  void visit(Read read, Write write) const;
  // Elements of the tile that begins at `at`.
  int64_t tile_at(int64_t at, int64_t end) const;
  void choose_tile();
  ChainRows rows_at(int64_t at) const;  // for a tile that begins there

  Shape shape_;
  std::vector<Load> loads_;
  std::vector<Pattern> patterns_;
  std::vector<Step> steps_;
  std::vector<Link> links_;
  std::vector<Store> stores_;
  int scratch_count_ = 0;
  size_t pattern_floats_ = 0;
  int raw_output_ = -1;
  int64_t tile_ = 0;             // elements that go through all steps at a time
  int64_t register_ = 0;         // floats of a register
  int64_t row_ = 0;              // no tile crosses the end of a row of so many; 0: it may
  int64_t short_row_ = 0;        // elements of the rows that links read numbers of; 0: of none
  std::vector<uint8_t> row_of_;  // of these (ChainRows)
};

}  // namespace retrace

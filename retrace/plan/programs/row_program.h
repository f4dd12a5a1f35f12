#pragma once
// A chain of narrow layers and their gradients, computed by rows: what lies in between stays in the first-level cache.
// Sixteen blocks of 256 rows go side by side, a block in each lane, so that every lane meets its rows in the order of
// the contract (docs/numerics.md: blocks of k, strips, lanes); the values are those of the ops one by one.

#include <cstdint>
#include <vector>

#include "retrace/plan/programs/row_roles.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"

namespace retrace {

class FinishOrder;  // retrace/device/cpu/finish_order.h

// The body's values are rows, [rows, features] with at most tuning::kMostChainFeatures features, or small inputs. Its
// ops:
//   matmul(rows, small)          with either layout of the small matrix
//   matmul(rows, rows)           with transpose_a: a weight gradient
//   pointwise rules              of rows with rows of as many features, one number, or a number for each feature
//   sum                          over axis 0, or over both of a single feature
//   views that keep the shape
class RowProgram {
 public:
  explicit RowProgram(const Trace& body);

  int64_t workspace_bytes() const;
  // inputs[i] and outputs[i] are the whole arrays.
  void run(const void* const* inputs, void* const* outputs, void* workspace) const;

 private:
  // Feature i of an operand of a rule, in floats of a thread's scratch: at offset + i * step.
  struct Operand {
    int64_t offset = 0, step = 0;
  };
  // An input's numbers, each written out `length` times, in the scratch; +0 instead of -0 where they are a bias.
  struct Pattern {
    int input;
    bool bias;
    int64_t numbers, length, offset;
  };
  struct Transfer {  // of rows from an input or to an output
    int index;
    int64_t features, offset;
  };
  struct Dense {
    int weights;                   // input
    int64_t depth, width;          // features in and out
    int64_t per_output, per_term;  // distances of the weights of two outputs, and of two features
    int64_t from, to;              // offsets of rows
    int64_t bias;                  // offset of a pattern; -1: none
    RowRoles::After::Kind after;
    int64_t mask;          // offset of rows
    int bound, otherwise;  // inputs
  };
  struct Rule {
    TileFunction function;
    int arity;
    Operand in[3], out;
  };
  struct Sum {
    enum class Kind { outer, column, row } kind;
    int output;
    int64_t a, b;                    // offsets of rows
    int64_t a_features, b_features;  // b: of outer products
    int64_t size;                    // floats of a block's partial sum
    int64_t memory;                  // offset of the accumulators in the scratch
    int64_t partial;                 // offset in a block's record
  };
  struct Step {
    RowRoles::Step::Kind kind;
    int64_t first, count;  // in dense_, rules_ or sums_
    int64_t features;      // of rules
  };
  struct Builder;
  struct Worker;

  int64_t blocks() const;
  int64_t tiles() const;
  void combine(const FinishOrder& order, const float* partials, void* const* outputs) const;

  int64_t rows_ = 0;
  std::vector<Transfer> loads_, stores_;
  std::vector<Pattern> patterns_;
  std::vector<Dense> dense_;
  std::vector<Rule> rules_;
  std::vector<Sum> sums_;
  std::vector<Step> steps_;
  // A thread's scratch: rows, patterns, sums, spare rows.
  int64_t row_floats_ = 0, sum_floats_ = 0, pattern_floats_ = 0, widest_ = 1;
  int64_t record_floats_ = 0;  // of the partial sums of a block
};

// The op of such a chain; its node's body says what it computes.
const Op& row_chain_op();

}  // namespace retrace

#pragma once
// What each value and each node of a chain of rows is (row_program.h): the steps that its kernels take, on the CPU and
// on a CUDA device.

#include <cstdint>
#include <vector>

#include "retrace/plan/layout/arena.h"
#include "retrace/plan/programs/row_kernels.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {

class RowRoles {
 public:
  explicit RowRoles(const Trace& body);

  struct Value {
    int64_t features = 0;           // 0: no rows
    int64_t first = -1, last = -1;  // steps
    size_t reader = 0;              // the last node that reads it
    int reads = 0;
    bool single = false;  // one feature at a time: only rules of the step that makes it read it
    bool kept = false;    // an output
    size_t block = 0;     // of memory
  };
  // One after the other: a product, rules feature by feature, or a sum.
  struct Step {
    enum class Kind { dense, rules, sum } kind;
    int64_t features;  // of rules
  };
  // What a product's kernel does to it beside: adds a number to each feature; then max(0, it) as relu does it, or
  // mask > bound ? it : otherwise.
  struct After {
    using Kind = RowDense::After;
    ValueId bias = kNoValue;
    Kind kind = Kind::nothing;
    ValueId mask = kNoValue, bound = kNoValue, otherwise = kNoValue;
  };
  static constexpr int64_t kNone = -1;

  const Trace& body() const { return body_; }
  int64_t rows() const { return rows_; }
  const std::vector<Step>& steps() const { return steps_; }
  // The step of a node; kNone: a product has taken it in, or it is a view.
  int64_t step_of(size_t node) const { return step_of_[node]; }
  const After& after(size_t product) const { return after_[product]; }
  // The value in whose place one lies: of a view what it shows, of what a product has taken in the product.
  ValueId root(ValueId id) const { return root_[id]; }
  Value& value(ValueId id) { return values_[root_[id]]; }
  const Value& value(ValueId id) const { return values_[root_[id]]; }
  const TensorSpec& spec(ValueId id) const { return body_.spec(id); }
  bool is_rows(ValueId id) const;
  static Step::Kind kind_of(const Node& node);

  // Gives the rows places in a memory that holds `bytes` for a feature, and so many for the one of a single value, if
  // it lies there; returns the bytes needed.
  size_t place_rows(size_t bytes, size_t bytes_of_single);
  size_t offset(ValueId id) const { return blocks_[value(id).block].offset; }

 private:
  void find_rows();
  void find_steps();
  size_t number(const Node& node) const { return static_cast<size_t>(&node - body_.nodes.data()); }
  size_t maker(ValueId id) const { return body_.producer_index(root_[id]); }
  size_t product_for_one(ValueId id) const;
  void take_into_product(const Node& node);
  void take_bias(const Node& node);
  void take_mask(const Node& node);
  bool is_number(ValueId id) const { return !is_rows(id) && spec(id).shape.count() == 1; }
  void take(const Node& node, ValueId product);
  void place(Value& made, size_t bytes);
  void place(size_t n, Value& made, size_t bytes, size_t bytes_of_single);

  const Trace& body_;
  int64_t rows_ = 0;
  ValueMap<ValueId> root_;
  ValueMap<Value> values_;  // per root
  std::vector<Step> steps_;
  std::vector<int64_t> step_of_;  // per node
  std::vector<After> after_;      // per node
  std::vector<ArenaBlock> blocks_;
};

}  // namespace retrace

#pragma once
// The key of a recorded trace.

#include <cstdint>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "retrace/tensor/tree.h"

namespace retrace {

// Decides whether a recorded trace fits a call. It holds, of tensors the type, shape, labels and position in the
// mini-batch; of trees the names and nesting; of floats only that they are there; of everything else the value; and the
// mode. Kept as words that are compared in full; texts are made only when the difference is asked for.
class TraceKey {
 public:
  // Empties it; the words keep their memory. The mode is that of this thread.
  void begin(const std::type_info& arguments, bool in_shard);

  void add_nothing();  // an undefined tensor
  // any_batch: without the size of an axis B.
  void add_tensor(const TensorSpec& spec, bool any_batch = false);
  void add_number(DType type);
  void add_integer(int64_t value);
  void add_text(std::string_view text);
  void add_group(size_t parts);
  void add_tree(const Tree& tree, bool any_batch = false);

  uint64_t hash() const;
  bool operator==(const TraceKey& other) const { return words_ == other.words_; }

  // The first part in which `now` differs: "argument 2, "conv2d_1/weights": f32[3,2] became f32[4,2]"; "" if equal.
  static std::string difference(const TraceKey& before, const TraceKey& now);

 private:
  friend class TraceKeyReader;
  void add_characters(uint64_t kind, std::string_view text);
  std::vector<uint64_t> words_;
};

}  // namespace retrace

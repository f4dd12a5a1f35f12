#pragma once
// A call of an op as bench/op_calls reads it, and the tables of the functions that it knows.

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "retrace/retrace.h"

namespace retrace::bench {

// Tensors (undefined: left out) and named options of a call. What an option is, is asked for: axes, flags, numbers.
class Call {
 public:
  Call(std::vector<Tensor> tensors, const nlohmann::json& options) : tensors_(std::move(tensors)), options_(options) {}

  // Tensor i; an undefined one where the call has fewer.
  Tensor operator[](size_t i) const { return i < tensors_.size() ? tensors_[i] : Tensor(); }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  bool has(const char* name) const { return options_.contains(name); }
  bool is_text(const char* name) const { return has(name) && options_[name].is_string(); }
  int64_t whole(const char* name, int64_t standard) const { return options_.value(name, standard); }
  double number(const char* name, double standard) const { return options_.value(name, standard); }
  bool flag(const char* name) const { return options_.value(name, false); }
  std::string text(const char* name, const char* standard) const { return options_.value(name, standard); }
  std::vector<int64_t> list(const char* name) const;
  Shape shape(const char* name) const { return Shape(list(name)); }
  // What is not given is empty.
  Axes axes(const char* name = "axes") const { return has(name) ? Axes(shape(name)) : Axes(); }
  // A list of one or two.
  Pair pair(const char* name, int64_t standard) const;
  // A list of four, or "same".
  Padding padding(const char* name) const;
  // A list of two, "same" or "causal".
  EndPadding end_padding(const char* name) const;
  // Tensor i, else the option "number".
  Operand operand(size_t i) const;
  DType type() const;  // the option "type", else f32

 private:
  std::vector<Tensor> tensors_;
  const nlohmann::json& options_;
};

using Results = std::vector<Tensor>;
using OpTable = std::map<std::string, std::function<Results(const Call&)>>;

// Each adds its functions by their public names.
void add_pointwise(OpTable& table);
void add_arrays(OpTable& table);
void add_layers(OpTable& table);
void add_losses(OpTable& table);
void add_volumes(OpTable& table);

}  // namespace retrace::bench

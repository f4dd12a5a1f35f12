#include "retrace/run/call_parts.h"

#include <bit>

#include "retrace/run/call_state.h"

namespace retrace::detail {

void ArgumentReader::begin_argument() { given_ = call_.given[next_++] && call_.donates; }

void ArgumentReader::leaf(const Tensor& tensor) {
  call_.leaves.push_back(Leaf::of(tensor));
  call_.leaves.back().given = given_;
  if (!any_batch_ || !tensor.spec().batch_first()) return;
  const int64_t size = tensor.shape()[0];
  one_batch_ &= size > 1 && tensor.spec().part.whole == 0 && (call_.batch == 0 || call_.batch == size);
  call_.batch = size;
}

void ArgumentReader::tree_leaves(const Tree& tree) {
  if (tree.is_leaf()) leaf(tree.tensor());
  for (const auto& child : tree.children()) tree_leaves(child.second);
}

void ArgumentReader::tensor(const Tensor& tensor) {
  if (!tensor.defined()) return call_.key.add_nothing();
  call_.key.add_tensor(tensor.spec(), any_batch_);
  leaf(tensor);
}

void ArgumentReader::tree(const Tree& tree) {
  call_.key.add_tree(tree, any_batch_);
  tree_leaves(tree);
}

void ArgumentReader::operand(const Operand& operand) {
  if (operand.is_tensor()) return tensor(operand.tensor());
  if (operand.is_integer()) return call_.key.add_integer(std::bit_cast<int64_t>(operand.number()));
  if (!operand.is_traced()) return number(operand.number());
  call_.key.add_number(operand.type());
  leaf(operand.tensor());
}

void ArgumentReader::number(float value) {
  call_.key.add_number(DType::f32);
  call_.leaves.push_back(Leaf::of(value));
}

void ArgumentReader::number(double value) {
  call_.key.add_number(DType::f64);
  call_.leaves.push_back(Leaf::of(value));
}

void ArgumentReader::integer(int64_t value) { call_.key.add_integer(value); }
void ArgumentReader::text(std::string_view text) { call_.key.add_text(text); }

void ArgumentReader::shape(const Shape& shape) {
  call_.key.add_group(static_cast<size_t>(shape.rank()));
  for (int64_t size : shape) call_.key.add_integer(size);
}

void ArgumentReader::open(size_t parts) { call_.key.add_group(parts); }

Tensor next_argument(FunctionRecorder& recorder) { return recorder.next_argument(); }
void take_result(FunctionRecorder& recorder, Tensor& tensor) { recorder.take_result(tensor); }

void FormReader::tensor(const Tensor& tensor) {
  tensor.defined() ? recorder.form().add_text("tensor") : recorder.form().add_nothing();
}
void FormReader::tree(const Tree& tree) { recorder.form().add_tree(tree); }
void FormReader::number(double value) { recorder.form().add_integer(std::bit_cast<int64_t>(value)); }
void FormReader::integer(int64_t value) { recorder.form().add_integer(value); }
void FormReader::text(std::string_view text) { recorder.form().add_text(text); }
void FormReader::shape(const Shape& shape) { recorder.form().add_text(shape.text()); }
void FormReader::open(size_t parts) { recorder.form().add_group(parts); }

}  // namespace retrace::detail

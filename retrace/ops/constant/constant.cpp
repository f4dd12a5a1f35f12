#include "retrace/ops/op.h"

namespace retrace {
namespace {

// A rank-0 number of an op's definition; rounded once to its type.
std::vector<TensorSpec> infer_constant(const InferCall& call) {
  const DType type = call.attributes.type("type");
  if (const double value = call.attributes.number("value"); !can_hold(type, value))
    op_error(call, 108, fmt::format("the number {} does not fit the type {}", value, name_of(type)), "",
             std::string(range_of(type)));
  return {{type, {}, {}, {}}};
}

void run_constant(const KernelCall& call) {
  store_number(call.attributes.number("value"), call.outputs[0].spec->type, call.outputs[0].data);
}

}  // namespace

void store_number(double value, DType type, void* to) {
  switch (type) {
    case DType::f32: *static_cast<float*>(to) = static_cast<float>(value); return;
    case DType::f64: *static_cast<double*>(to) = value; return;
    case DType::i32: *static_cast<int32_t*>(to) = static_cast<int32_t>(value); return;
    case DType::bf16: *static_cast<BFloat16*>(to) = to_bf16(static_cast<float>(value)); return;
    case DType::f16: *static_cast<Float16*>(to) = to_f16(static_cast<float>(value)); return;
    case DType::i64: *static_cast<int64_t*>(to) = static_cast<int64_t>(value); return;
    case DType::u8:
    case DType::boolean: *static_cast<uint8_t*>(to) = static_cast<uint8_t>(value); return;
  }
}

ValueId add_number(Trace& trace, double value, const TensorSpec& spec, Place place) {
  Node number;
  number.op = &find_op("constant");
  number.attributes = {{"value", value}, {"type", spec.type}};
  number.place = place;
  const TensorSpec single{spec.type, {}, {}, {}};
  const ValueId made = trace.add_node(std::move(number), std::span(&single, 1));
  if (spec.shape.rank() == 0) return made;
  Node stretch;
  stretch.op = &find_op(spec.count() == 1 ? "reshape" : "broadcast");
  stretch.attributes = {{"shape", spec.shape}, {"labels", std::string(spec.labels.text())}};
  stretch.inputs = {made};
  stretch.place = place;
  return trace.add_node(std::move(stretch), std::span(&spec, 1));
}

Tensor constant(double value, DType type) {
  static const Op& op = find_op("constant");
  return record_one(op, {{"value", value}, {"type", type}}, {}, {});
}

void define_constant(OpTable& table) {
  // No gradient: it has no inputs.
  table.add({.name = "constant",
             .inputs = 0,
             .attributes = {"value", "type"},
             .infer = infer_constant,
             .kernel = run_constant,
             .constant = true});
}

}  // namespace retrace

#include "retrace/ops/cast/cast.h"

#include <algorithm>
#include <type_traits>

#include "retrace/base/convert.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/conversion.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(widen);
RT_POINTWISE_RULE(narrow_bf16);
RT_POINTWISE_RULE(narrow_f16);

extern const KernelTable<void (*)(const float*, int32_t*, int64_t)> cast_f32_to_i32_table;

namespace {

template <class From, class To>
void convert_cast(const KernelCall& call) {
  const auto* x = static_cast<const From*>(call.inputs[0].data);
  auto* y = static_cast<To*>(call.outputs[0].data);
  const int64_t count = call.outputs[0].spec->count();
  constexpr int64_t kPiece = 1 << 14;
  run_pieces((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece, last = std::min(count, first + kPiece);
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int32_t>)
      cast_f32_to_i32_table.get()(x + first, y + first, last - first);
    else
      for (int64_t i = first; i < last; ++i) y[i] = converted<To>(x[i]);
  });
}

template <class From>
void convert_from(const KernelCall& call) {
  switch (call.outputs[0].spec->type) {
    case DType::f32: return convert_cast<From, float>(call);
    case DType::f64: return convert_cast<From, double>(call);
    case DType::i32: return convert_cast<From, int32_t>(call);
    case DType::i64: return convert_cast<From, int64_t>(call);
    case DType::u8:
    case DType::boolean:  // cast() records x != 0 instead, so only bool itself arrives here
    case DType::bf16:
    case DType::f16: break;  // cast() goes through f32
  }
  convert_cast<From, uint8_t>(call);
}

void run_cast(const KernelCall& call) {
  switch (call.inputs[0].spec->type) {
    case DType::f32: return convert_from<float>(call);
    case DType::f64: return convert_from<double>(call);
    case DType::i32: return convert_from<int32_t>(call);
    case DType::i64: return convert_from<int64_t>(call);
    case DType::u8:
    case DType::boolean:
    case DType::bf16:
    case DType::f16: break;
  }
  convert_from<uint8_t>(call);
}

std::vector<TensorSpec> infer_cast(const InferCall& call) {
  TensorSpec y = call.inputs[0];
  y.type = call.attributes.type("type");
  ensure(!is_half(y.type) && !is_half(call.inputs[0].type), "halves are converted by ops of their own");
  if (y.type == DType::boolean && call.inputs[0].type != DType::boolean)
    op_error(call, 142, fmt::format("{} does not become bool by a conversion", name_of(call.inputs[0].type)),
             "x " + call.inputs[0].text(), "bool", "not_equal(x, 0) says what is meant");
  return {y};
}

std::vector<TensorSpec> infer_widen(const InferCall& call) {
  const auto& x = call.inputs[0];
  if (x.type != DType::boolean && x.type != DType::u8 && !is_half(x.type))
    op_error(call, 131, fmt::format("x is {}", name_of(x.type)), "x " + x.text(), "bool, u8, bf16 or f16",
             "cast(x, DType::f32)");
  return {{DType::f32, x.shape, x.labels, x.part}};
}

template <DType type>
std::vector<TensorSpec> infer_narrow(const InferCall& call) {
  check_type(call, 0, "x", DType::f32);
  const auto& x = call.inputs[0];
  return {{type, x.shape, x.labels, x.part}};
}

std::vector<Tensor> gradient_cast(const GradientCall& call) {
  const auto& x = call.inputs[0];
  if (!is_float(x.type()) || !is_float(call.outputs[0].type())) return {Tensor()};
  return {cast(call.cotangents[0], x.type(), call.place)};
}

// To the type of a half, from f32.
Tensor narrow(const Tensor& x, DType type, Place place) {
  static const Op &bf16 = find_op("narrow_bf16"), &f16 = find_op("narrow_f16");
  return record_one(type == DType::bf16 ? bf16 : f16, {}, {x}, place);
}

}  // namespace

Tensor cast(const Tensor& x, DType type, Place place) {
  static const Op &op = find_op("cast"), &widen = find_op("widen");
  const DType from = x.type(place);
  if (from == type) return x;
  if (type == DType::boolean) return not_equal(x, constant(0, from), place);
  if (is_half(type)) return narrow(cast(x, DType::f32, place), type, place);
  if (is_half(from) && type != DType::f32) return cast(cast(x, DType::f32, place), type, place);
  if (type == DType::f32 && (from == DType::boolean || from == DType::u8 || is_half(from)))
    return record_one(widen, {}, {x}, place);
  return record_one(op, {{"type", type}}, {x}, place);
}

void define_cast(OpTable& table) {
  table.add({.name = "cast",
             .attributes = {"type"},
             .infer = infer_cast,
             .gradient = gradient_cast,
             .kernel = run_cast,
             .cuda = cuda_conversion,
             .same_as = {{.input = 0}},
             .elementwise = true,
             .any_type = true});
  // bool, u8 and halves to f32 and back to halves: pointwise ops, so that masks and halves are converted by the work
  // that they serve.
  table.add(
      {.name = "widen", .infer = infer_widen, .gradient = gradient_cast, .rule = &widen_pointwise, .any_type = true});
  table.add({.name = "narrow_bf16",
             .infer = infer_narrow<DType::bf16>,
             .gradient = gradient_cast,
             .rule = &narrow_bf16_pointwise});
  table.add({.name = "narrow_f16",
             .infer = infer_narrow<DType::f16>,
             .gradient = gradient_cast,
             .rule = &narrow_f16_pointwise});
}

}  // namespace retrace

// Calls with arguments of bf16, f16 and i64.
#include <algorithm>

#include "retrace/ops/cast/cast.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/op.h"

namespace retrace {
namespace {

std::string texts_of_stored(std::span<const Tensor> inputs) {
  std::string all;
  for (const Tensor& input : inputs)
    if (input.defined()) all += (all.empty() ? "" : " and ") + input.spec().text();
  return all;
}

[[noreturn]] void refuse_i64(const Op& op, std::span<const Tensor> inputs, Place place) {
  throw Error(ErrorKind::usage, 473, fmt::format("{} does not compute i64", op.name))
      .where(place)
      .got(texts_of_stored(inputs))
      .expected("f32, f64, i32, u8, bool, bf16 or f16")
      .help("cast(x, DType::i32), if the numbers fit");
}

// The one type of all float arguments; f32 if there is none.
DType type_of_floats(const Op& op, std::span<const Tensor> inputs, Place place) {
  const auto counts = [](const Tensor& input) { return input.defined() && is_float(input.type()); };
  const auto first = std::ranges::find_if(inputs, counts);
  if (first == inputs.end()) return DType::f32;
  const auto other = std::find_if(first, inputs.end(),
                                  [&](const Tensor& input) { return counts(input) && input.type() != first->type(); });
  if (other == inputs.end()) return first->type();
  throw Error(ErrorKind::usage, 132,
              fmt::format("{}: the arguments have the types {} and {}", op.name, name_of(first->type()),
                          name_of(other->type())))
      .where(place)
      .got(texts_of_stored(inputs))
      .expected("one type")
      .help(fmt::format("cast(x, DType::{})", name_of(is_half(first->type()) ? other->type() : first->type())));
}

}  // namespace

std::vector<Tensor> record_stored_types(const Op& op, Attributes attributes, std::span<const Tensor> inputs,
                                        Place place) {
  std::vector<Tensor> widened(inputs.begin(), inputs.end());
  for (size_t i = 0; i < widened.size(); ++i)
    if (op.indices >> i & 1 && widened[i].type(place) == DType::i64) widened[i] = as_index(widened[i], place);
  const auto add = [&] {
    return with_place(place, [&] { return current_recording()->add(op, std::move(attributes), widened, place); });
  };
  if (op.any_type) return add();
  const bool wide =
      std::ranges::any_of(widened, [](const Tensor& input) { return input.defined() && input.type() == DType::i64; });
  if (wide && !op.i64 && !op.integer) refuse_i64(op, inputs, place);
  const DType type = type_of_floats(op, inputs, place);
  for (Tensor& input : widened)
    if (input.defined() && is_half(input.type())) input = cast(input, DType::f32, place);
  auto results = add();
  if (is_half(type))
    for (Tensor& result : results)
      if (result.type() == DType::f32) result = cast(result, type, place);
  return results;
}

}  // namespace retrace

#include "bench/op_calls/call.h"

namespace retrace::bench {
namespace {

using Unary = Tensor (*)(const Tensor&, Place);
using Binary = Tensor (*)(const Tensor&, const Tensor&, Place);
using WithOperand = Tensor (*)(const Tensor&, const Operand&, Place);

constexpr std::pair<const char*, Unary> kUnary[] = {
    {"abs", abs},
    {"acos", acos},
    {"acosh", acosh},
    {"asin", asin},
    {"asinh", asinh},
    {"atan", atan},
    {"atanh", atanh},
    {"bitwise_not", bitwise_not},
    {"ceil", ceil},
    {"cos", cos},
    {"cosh", cosh},
    {"erf", erf},
    {"exp", exp},
    {"expm1", expm1},
    {"floor", floor},
    {"gelu", gelu},
    {"gelu_tanh", gelu_tanh},
    {"hard_sigmoid", hard_sigmoid},
    {"hard_swish", hard_swish},
    {"hard_tanh", hard_tanh},
    {"identity", identity},
    {"isfinite", isfinite},
    {"isinf", isinf},
    {"isnan", isnan},
    {"log", log},
    {"log1p", log1p},
    {"log_sigmoid", log_sigmoid},
    {"logical_not", logical_not},
    {"mish", mish},
    {"negate", negate},
    {"relu", relu},
    {"round", round},
    {"rsqrt", rsqrt},
    {"selu", selu},
    {"sigmoid", sigmoid},
    {"sign", sign},
    {"silu", silu},
    {"sin", sin},
    {"sinh", sinh},
    {"softplus", softplus},
    {"softsign", softsign},
    {"sqrt", sqrt},
    {"square", square},
    {"stop_gradient", stop_gradient},
    {"tan", tan},
    {"tanh", tanh},
};

constexpr std::pair<const char*, Binary> kBinary[] = {
    {"add", add},
    {"divide", divide},
    {"equal", equal},
    {"greater", greater},
    {"greater_equal", greater_equal},
    {"less", less},
    {"less_equal", less_equal},
    {"logical_and", logical_and},
    {"logical_or", logical_or},
    {"logical_xor", logical_xor},
    {"multiply", multiply},
    {"not_equal", not_equal},
    {"subtract", subtract},
};

constexpr std::pair<const char*, WithOperand> kWithOperand[] = {
    {"atan2", atan2},
    {"bitwise_and", bitwise_and},
    {"bitwise_or", bitwise_or},
    {"bitwise_xor", bitwise_xor},
    {"clipped_relu", clipped_relu},
    {"elu", elu},
    {"leaky_relu", leaky_relu},
    {"maximum", maximum},
    {"minimum", minimum},
    {"pow", pow},
    {"remainder", remainder},
};

}  // namespace

void add_pointwise(OpTable& table) {
  for (const auto& [name, f] : kUnary) table[name] = [f = f](const Call& c) { return Results{f(c[0], Place::here())}; };
  for (const auto& [name, f] : kBinary)
    table[name] = [f = f](const Call& c) { return Results{f(c[0], c[1], Place::here())}; };
  for (const auto& [name, f] : kWithOperand)
    table[name] = [f = f](const Call& c) { return Results{f(c[0], c.operand(1), Place::here())}; };
  table["cast"] = [](const Call& c) { return Results{cast(c[0], c.type())}; };
  table["clamp"] = [](const Call& c) { return Results{clamp(c[0], c[1], c[2])}; };
  table["multiply_add"] = [](const Call& c) { return Results{multiply_add(c[0], c[1], c[2])}; };
  table["where"] = [](const Call& c) { return Results{where(c[0], c[1], c[2])}; };
}

}  // namespace retrace::bench

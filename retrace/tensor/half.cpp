// Numbers of bf16 and f16 on the host.
#include "retrace/base/elementary_half.h"
#include "retrace/tensor/dtype.h"

namespace retrace {

float to_f32(BFloat16 x) { return rules::from_bf16_bits<float>(x.bits); }
float to_f32(Float16 x) { return rules::from_f16_bits<float>(x.bits); }
BFloat16 to_bf16(float x) { return {static_cast<uint16_t>(rules::bits_of_bf16(rules::rounded_to_bf16(x)).value)}; }
Float16 to_f16(float x) { return {static_cast<uint16_t>(rules::bits_of_f16(rules::rounded_to_f16(x)).value)}; }

}  // namespace retrace

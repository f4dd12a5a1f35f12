#include "retrace/ops/softsign/softsign.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_CASES(softsign) {
  auto cases = activation_cases({.op = "softsign",
                                 .inputs = {{.low = -4, .high = 4, .avoid = {0}}},
                                 .build = one(softsign),
                                 .bound = {.ulp = 2, .tiny = true}});
  return cases;
}

}  // namespace
}  // namespace retrace

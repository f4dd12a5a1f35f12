#pragma once
// All that users include.

#include "retrace/autodiff/gradient.h"
#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/ops.h"
#include "retrace/plan/plan.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/tensor.h"
#include "retrace/tensor/tree.h"

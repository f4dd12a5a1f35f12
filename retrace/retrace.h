#pragma once
// All that users include.

#include "retrace/base/requirements.h"

// Whatever warnings a program turns on are about its own code.
#pragma GCC system_header
#if !defined(__cpp_exceptions)
#error "retrace reports errors by exceptions: compile without -fno-exceptions"
#elif !defined(__cpp_rtti)
#error "retrace needs run-time type information: compile without -fno-rtti"
#endif

#include "retrace/autodiff/gradient.h"
#include "retrace/autodiff/value_and_grad.h"
#include "retrace/base/warning.h"
#include "retrace/data/array_store.h"
#include "retrace/data/augment.h"
#include "retrace/data/csv_store.h"
#include "retrace/data/datasets.h"
#include "retrace/data/image_store.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/npy_store.h"
#include "retrace/data/transform.h"
#include "retrace/device/cpu/thread_count.h"
#include "retrace/distributed/data_queue.h"
#include "retrace/distributed/parallel_for.h"
#include "retrace/distributed/pool.h"
#include "retrace/experiment/experiment.h"
#include "retrace/monitor/charts.h"
#include "retrace/monitor/terminal.h"
#include "retrace/nn/analyze.h"
#include "retrace/nn/layers.h"
#include "retrace/nn/models.h"
#include "retrace/nn/networks.h"
#include "retrace/ops/all_reduce/portable.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/ops.h"
#include "retrace/optim/minimize.h"
#include "retrace/optim/regularize.h"
#include "retrace/optim/schedule.h"
#include "retrace/optim/solver.h"
#include "retrace/run/accelerate.h"
#include "retrace/run/plan_settings.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/tensor/tensor.h"
#include "retrace/tensor/tree.h"
#include "retrace/train/save.h"
#include "retrace/train/train_network.h"
#include "retrace/web/progress_monitor.h"

#include "retrace/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "retrace/plan/cpu/cpu_plan.h"
#include "retrace/plan/cuda/cuda_plan.h"
#include "retrace/plan/cuda/gather_chains.h"
#include "retrace/plan/device_plan.h"
#include "retrace/plan/explain.h"
#include "retrace/trace/op.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

thread_local std::vector<double>* timed = nullptr;

// A run that ends with an error leaves nothing behind that still writes into its memory.
class AbandonScope {
 public:
  explicit AbandonScope(const std::vector<void (*)(const char* why)>& abandon) : abandon_(abandon) {}
  ~AbandonScope() {
    if (abandon_.empty() || std::uncaught_exceptions() <= before_) return;
    for (const auto& abandon : abandon_) abandon("a kernel failed while an exchange was under way");
  }

 private:
  const std::vector<void (*)(const char* why)>& abandon_;
  int before_ = abandon_.empty() ? 0 : std::uncaught_exceptions();
};

std::vector<void (*)(const char*)> find_abandon(const Trace& trace) {
  std::vector<void (*)(const char*)> found;
  for (const Node& node : trace.nodes)
    if (node.op->abandon && std::find(found.begin(), found.end(), node.op->abandon) == found.end())
      found.push_back(node.op->abandon);
  return found;
}

}  // namespace

Plan::Plan(Trace planned, PlanOptions options, std::vector<PassReport> reports)
    : options_(std::move(options)),
      reports_(std::move(reports)),
      trace_(std::move(planned)),
      abandon_(find_abandon(trace_)) {
  if (const DeviceId device = device_of(trace_); device > 0) {
    trace_ = gather_chains(trace_, [&](const Node& node) { return is_chain(trace_, node); });
    device_ = std::make_unique<CudaPlan>(trace_, device, options_);
  } else {
    device_ = std::make_unique<CpuPlan>(trace_, options_);
  }
  donors_ = options_.is_on(kPlaceMemory) ? device_->find_donors() : std::vector<int>(trace_.outputs.size(), -1);
}

Plan::~Plan() = default;

void Plan::run(const void* const* inputs, void* const* outputs) const {
  const AbandonScope abandon(abandon_);
  device_->run(inputs, outputs, timed);
}

void Plan::time_kernel_calls(std::vector<double>* seconds) { timed = seconds; }

size_t Plan::arena_bytes() const { return device_->arena_bytes(); }
size_t Plan::kernel_calls() const { return device_->kernel_calls(); }
size_t Plan::changed_launches() const { return device_->changed_launches(); }

std::string Plan::summary() const {
  std::string text = "passes\n";
  for (const auto& report : reports_)
    text += fmt::format("  {:<18} {:>5} -> {:<5} nodes {:>8.3f} ms{}\n", report.name, report.nodes_before,
                        report.nodes_after, report.seconds * 1e3, report.on ? "" : "  (off)");
  const auto mib = [](size_t bytes) { return static_cast<double>(bytes) / 1048576.0; };
  text += fmt::format("\nplan: {} kernel calls, arena {:.2f} MiB", kernel_calls(), mib(arena_bytes()));
  if (const size_t bytes = device_->thread_bytes(); bytes > 0)
    text += fmt::format(", and {:.2f} MiB for each thread", mib(bytes));
  if (options_.memory_limit > 0) text += fmt::format(", memory limit {:.2f} MiB", mib(options_.memory_limit));
  return text + "\n";
}

std::string Plan::text() const { return summary() + print_trace(trace_); }
std::string Plan::why() const { return explain_calls(trace_, device_->calls()); }

std::vector<PlannedCall> Plan::calls() const { return device_->calls(); }

std::string Plan::kernel_call_name(size_t call) const {
  const auto calls = device_->calls();
  const auto at =
      std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& one) { return call < one.first + one.count; });
  return name_call(trace_, *at, call);
}

}  // namespace retrace

#include "retrace/plan/cuda/cuda_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "retrace/ops/cuda_call.h"
#include "retrace/plan/cuda/cuda_epilogue.h"
#include "retrace/plan/cuda/generated_kernel.h"

namespace retrace {
namespace {

void (*watch)(const std::string&) = nullptr;

// A pointwise op has kernels, so that what is missing is one for its types: f64, or else that of its result.
[[noreturn]] void refuse(const Trace& trace, const Node& node) {
  const auto type = [&](ValueId id) { return trace.spec(id).type; };
  DType missing = type(node.first_output);
  for (ValueId id : node.inputs)
    if (size_of(type(id)) == 8) missing = type(id);
  throw no_cuda_kernel(node.op->name, node.op->rule ? name_of(missing) : "").where(node.place);
}

cuda::ValueErrors::Describe description(const Trace& trace, const Node& node) {
  std::vector<TensorSpec> inputs;
  for (ValueId id : node.inputs) inputs.push_back(trace.spec(id));
  return [op = node.op, attributes = node.attributes, inputs, place = node.place](int64_t position, int32_t value) {
    return op->value_error({attributes, inputs, position, value}).where(place);
  };
}

bool same_form(std::span<const cuda::Launch> a, std::span<const cuda::Launch> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const cuda::Launch& x, const cuda::Launch& y) {
    return x.kernel == y.kernel && x.blocks == y.blocks && x.threads == y.threads && x.shared_bytes == y.shared_bytes;
  });
}

}  // namespace

CudaPlan::CudaPlan(const Trace& trace, DeviceId device, const PlanOptions& options)
    : trace_(trace),
      device_(device),
      mode_(options.mode),
      runtime_(cuda_device(device - 1).runtime()),
      exchanges_(trace, cuda_device(device - 1)) {
  lay_out(options.is_on(kPlaceMemory));
  for (const Step& step : steps_) {
    if (step.node->op->on_host)
      exchanges_.add(*step.node), exchange_steps_.push_back(&step);
    else if (!step.node->op->cuda && !is_chain(trace, *step.node) && !generated_kernel(*step.node))
      refuse(trace, *step.node);
  }
  find_sources_of_errors();
  find_calls();
  compile_epilogues();
  compile_chains();
  if (options.is_on(kPlaceMemory)) donors_ = find_donors();
  const std::vector<unsigned> zeros(calls_.size() * cuda::Launches::kCounters);
  const size_t counter_bytes = zeros.size() * sizeof(unsigned);
  take_arena();
  memory_ = device_at(device).allocate(constants_.size() + host_values_.size() + counter_bytes);
  if (!calls_.empty()) runtime_.copy_from_host(counters(calls_[0]), zeros.data(), counter_bytes);
  if (!constants_.empty())
    runtime_.copy_from_host(at({Location::Kind::constant, 0}), constants_.data(), constants_.size());
  inputs_.resize(trace.inputs.size()), outputs_.resize(trace.outputs.size());
  build();
}

CudaPlan::~CudaPlan() = default;

void CudaPlan::watch_sources(void (*given)(const std::string& source)) { watch = given; }

void CudaPlan::find_sources_of_errors() {
  auto& errors = cuda_device(device_of(trace_) - 1).value_errors();
  for (Step& step : steps_) {
    const bool generated = generated_kernel(*step.node) != nullptr;
    const Trace& trace = generated ? step.node->body->trace : trace_;
    const Node* const node = generated ? reporting_node(trace) : step.node;
    if (node && reports_errors(trace, *node))
      step.errors = std::make_unique<const cuda::ValueErrors::Source>(errors, description(trace, *node));
  }
}

// Chains of one launch in as few calls as the size of their arguments allows. Chains of no elements are left out. One
// that reports errors stands alone: of two in one launch nobody could tell which is the first.
void CudaPlan::find_calls() {
  size_t bytes = 0;  // of the arguments of the last call
  for (Step& step : steps_) {
    const bool chain = is_chain(trace_, *step.node);
    if (chain && step.count() == 0) continue;
    if (chain) step.takes_four = takes_four(chain_body(trace_, *step.node));
    const size_t more = (step.inputs.size() + step.outputs.size() + 1) * sizeof(void*) + sizeof(unsigned);
    const bool beside = chain && !step.errors && !calls_.empty() && !calls_.back().steps[0]->errors &&
                        calls_.back().steps[0]->launch == step.launch;
    if (!beside || bytes + more > tuning::kMostCudaArguments) {
      const size_t number = calls_.size();
      calls_.emplace_back().number = number, bytes = 0;
    }
    bytes += more;
    Call& call = calls_.back();
    call.steps.push_back(&step);
    for (const auto* places : {&step.inputs, &step.outputs})
      for (const Location& place : *places)
        if (place.kind == Location::Kind::input || place.kind == Location::Kind::output) call.moving.push_back(place);
  }
}

// Each is a source of its own: plans share them.
void CudaPlan::compile_epilogues() {
  for (Call& call : calls_) {
    const Node& node = *call.steps[0]->node;
    if (!has_epilogue(node)) continue;
    const CudaEpilogue epilogue = generate_epilogue(trace_, node, mode_);
    try {
      if (watch) watch(epilogue.source);
      call.kernel = runtime_.compile(epilogue.source, std::span(&epilogue.name, 1))[0];
    } catch (const Error& error) {
      throw EpilogueError(error);
    }
  }
}

// Chains of one name stand in a row.
void CudaPlan::compile_chains() {
  std::map<std::string, std::string> chains, kernels;  // sources by name
  std::set<std::string> headers;
  std::vector<std::pair<Call*, std::string>> wanted;
  for (Call& call : calls_) {
    const Node& node = *call.steps[0]->node;
    if (const GeneratedKernel* const generated = generated_kernel(node)) {
      CudaChain chain = generated->generate(node.body->trace);
      wanted.emplace_back(&call, chain.name);
      headers.merge(chain.headers);
      kernels.insert_or_assign(std::move(chain.name), std::move(chain.source));
      continue;
    } else if (!is_chain(trace_, node)) {
      continue;
    }
    std::map<std::string, std::vector<const Step*>> runs;
    for (const Step* step : call.steps) {
      CudaChain chain = generate_chain(chain_body(trace_, *step->node));
      runs[chain.name].push_back(step);
      headers.merge(chain.headers);
      chains.emplace(std::move(chain.name), std::move(chain.source));
    }
    std::vector<ChainRun> parts;
    call.steps.clear();
    for (const auto& [name, steps] : runs) {
      parts.push_back({name, steps.size()});
      call.steps.insert(call.steps.end(), steps.begin(), steps.end());
    }
    CudaChainKernel kernel = generate_kernel(parts);
    wanted.emplace_back(&call, kernel.name);
    kernels.insert_or_assign(std::move(kernel.name), std::move(kernel.source));
  }
  if (kernels.empty()) return;
  std::string source = "#include \"retrace/device/cuda/kernel.h\"\n";
  for (const auto& header : headers) source += fmt::format("#include \"{}\"\n", header);
  source += "\nusing namespace retrace;\nusing namespace retrace::cuda;\n\n";
  std::vector<std::string> names;
  for (const auto& [name, text] : chains) source += text;
  for (const auto& [name, text] : kernels) source += text, names.push_back(name);
  if (watch) watch(source);
  const auto compiled = runtime_.compile(source, names);
  for (auto& [call, name] : wanted)
    call->kernel = compiled[static_cast<size_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin())];
}

// Plans of a thread run one after the other, and so does their work on the device: each needs its intermediates only
// until the next one begins. True if the arena is not that of the run before.
bool CudaPlan::take_arena() {
  thread_local std::map<DeviceId, std::shared_ptr<Buffer>> arenas;
  auto& shared = arenas[device_];
  if (arena_bytes_ == 0) return false;
  if (!shared || arena_bytes_ > shared->bytes()) {
    shared.reset();  // before the new one is taken: there may be no memory for both
    shared = device_at(device_).allocate(arena_bytes_);
  }
  char* const before = std::exchange(arena_, static_cast<char*>(shared->data()));
  return arena_ != before;
}

void* CudaPlan::at(const Location& location) const {
  char* const memory = static_cast<char*>(memory_->data());
  switch (location.kind) {
    case Location::Kind::input: return const_cast<void*>(inputs_[location.at]);
    case Location::Kind::output: return outputs_[location.at];
    case Location::Kind::arena: return arena_ + location.at;
    case Location::Kind::constant: return memory + location.at;
    case Location::Kind::host: return memory + constants_.size() + location.at;
    case Location::Kind::kept:
    case Location::Kind::none: break;
  }
  return nullptr;
}

// Each call has its own: launches of several may run beside each other. Behind all values of the host.
unsigned* CudaPlan::counters(const Call& call) const {
  return static_cast<unsigned*>(at({Location::Kind::host, host_values_.size()})) +
         call.number * cuda::Launches::kCounters;
}

cuda::Launch CudaPlan::launch_of_chains(const Call& call) const {
  std::vector<void*> words;
  std::vector<unsigned> first_blocks;
  unsigned blocks = 0;
  for (const Step* step : call.steps) {
    bool fours = step->takes_four;
    const auto add = [&](const Location& place, const TensorSpec& spec) {
      words.push_back(at(place));
      fours = fours && (spec.count() == 1 || reinterpret_cast<uintptr_t>(words.back()) % 16 == 0);
    };
    for (size_t i = 0; i < step->inputs.size(); ++i) add(step->inputs[i], *step->input_specs[i]);
    for (size_t i = 0; i < step->outputs.size(); ++i) add(step->outputs[i], *step->output_specs[i]);
    const int64_t each = fours ? 4 : 1;
    if (step->errors) {
      const auto [record, reported, source] = step->errors->target();
      words.insert(words.end(), {record.pointer, reported, reinterpret_cast<void*>(uintptr_t{source})});
    }
    words.push_back(reinterpret_cast<void*>(step->count() | (step->takes_four ? each << 32 : 0)));
    first_blocks.push_back(blocks);
    blocks += cuda::blocks_for(step->count() / each, tuning::kCudaChainThreads).x;
  }
  if (first_blocks.size() % 2 != 0) first_blocks.push_back(0);  // the struct ends at a multiple of a word
  cuda::Launch launch{call.kernel.get(), {blocks}, {tuning::kCudaChainThreads}, 0, {}};
  launch.append(std::as_bytes(std::span(words))), launch.append(std::as_bytes(std::span(first_blocks)));
  return launch;
}

// Kernels are looked up only where `earlier`, the same launches with other addresses, does not name them.
std::vector<cuda::Launch> CudaPlan::launches_of(const Call& call, std::span<const cuda::Launch> earlier) const {
  if (call.steps[0]->node->op->on_host) return {};
  cuda::Launches launches(runtime_, counters(call), earlier, mode_);
  const Step& step = *call.steps[0];
  const auto errors = step.errors ? step.errors->target() : cuda::ErrorTarget();
  if (const GeneratedKernel* const generated = generated_kernel(*step.node)) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const Location& input : step.inputs) in.push_back(at(input));
    for (const Location& output : step.outputs) out.push_back(at(output));
    generated->add({step.node->body->trace, *call.kernel, in, out, at(step.workspace), launches, errors});
  } else if (is_chain(trace_, *step.node)) {
    launches.add(launch_of_chains(call));
  } else {
    std::vector<KernelInput> in;
    std::vector<KernelOutput> out;
    for (size_t i = 0; i < step.inputs.size(); ++i) in.push_back({at(step.inputs[i]), step.input_specs[i]});
    for (size_t i = 0; i < step.outputs.size(); ++i) out.push_back({at(step.outputs[i]), step.output_specs[i]});
    try {
      if (has_epilogue(*step.node))
        add_epilogue_launch(trace_, *step.node, *call.kernel, in, out, at(step.workspace), launches);
      else
        step.node->op->cuda({step.node->attributes, in, out, at(step.workspace), launches, errors});
    } catch (Error& error) {  // a type or a size that its kernels do not take
      throw error.has_place() ? error : error.where(step.node->place);
    }
  }
  return std::move(launches.all());
}

bool CudaPlan::has_moved(const Call& call) const {
  for (size_t i = 0; i < call.moving.size(); ++i)
    if (at(call.moving[i]) != call.addresses[i]) return true;
  return false;
}

void CudaPlan::note_addresses(Call& call) {
  call.addresses.clear();
  for (const Location& place : call.moving) call.addresses.push_back(at(place));
}

std::vector<PlannedCall> CudaPlan::calls() const {
  std::vector<PlannedCall> calls;
  for (const Call& call : calls_) {
    PlannedCall& one = calls.emplace_back(PlannedCall{{}, call.first_launch, call.launches});
    for (const Step* step : call.steps) one.nodes.push_back(step->node);
    for (size_t i = 0; i < call.launches; ++i) one.kernels.push_back(launches_[call.first_launch + i].kernel->name());
  }
  return calls;
}

void CudaPlan::build() {
  launches_.clear(), cuts_.clear();
  for (Call& call : calls_) {
    if (call.steps[0]->node->op->on_host) cuts_.push_back(launches_.size());
    auto made = launches_of(call, {});
    call.first_launch = launches_.size(), call.launches = made.size();
    std::move(made.begin(), made.end(), std::back_inserter(launches_));
    note_addresses(call);
  }
}

// False if these addresses need other launches: an op may choose a kernel by how its arguments are aligned.
bool CudaPlan::change(Call& call) {
  const auto held = std::span(launches_).subspan(call.first_launch, call.launches);
  auto now = launches_of(call, held);
  if (!same_form(now, held)) return false;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].arguments == held[i].arguments) continue;
    graph_->set_arguments(call.first_launch + i, now[i].arguments);
    held[i].arguments = std::move(now[i].arguments);
    ++changed_launches_;
  }
  note_addresses(call);
  return true;
}

// Brings the launches up to date with the addresses of this run.
void CudaPlan::refresh() {
  if (graph_ && std::all_of(calls_.begin(), calls_.end(), [&](Call& call) { return !has_moved(call) || change(call); }))
    return;
  if (graph_) changed_launches_ += launches_.size();
  build();
  graph_ = make_graph();
}

std::unique_ptr<cuda::Graph> CudaPlan::make_graph() {
  const cuda::Edges edges = find_edges();
  if (cuts_.empty()) return launches_.empty() ? nullptr : runtime_.make_graph(launches_, edges);
  return make_cut_graph(runtime_, launches_, edges, cuts_, [this](size_t number) { run_exchange(number); });
}

void CudaPlan::run_exchange(size_t number) {
  const Step& step = *exchange_steps_[number];
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Location& input : step.inputs) inputs.push_back(at(input));
  for (const Location& output : step.outputs) outputs.push_back(at(output));
  exchanges_.run(number, inputs, outputs);
}

void CudaPlan::send_host_values(const void* const* inputs) {
  bool changed = false;
  for (size_t k = 0; k < host_inputs_.size(); ++k) {
    const void* value = inputs[host_inputs_[k]];
    const size_t bytes = trace_.spec(trace_.inputs[host_inputs_[k]]).bytes();
    if (!value || bytes == 0 || std::memcmp(host_values_.data() + k * Placement::kSlot, value, bytes) == 0) continue;
    std::memcpy(host_values_.data() + k * Placement::kSlot, value, bytes);
    changed = true;
  }
  if (changed || (!graph_ && !host_values_.empty()))
    runtime_.copy_from_host(at({Location::Kind::host, 0}), host_values_.data(), host_values_.size());
}

void CudaPlan::run_timed(std::vector<double>& seconds) {
  seconds.resize(launches_.size());
  if (!cuts_.empty()) return graph_->run();
  const auto taken = runtime_.time(launches_);
  std::transform(taken.begin(), taken.end(), seconds.begin(), seconds.begin(), std::plus<>());
}

void CudaPlan::run(const void* const* inputs, void* const* outputs, std::vector<double>* seconds) {
  const std::lock_guard lock(mutex_);
  if (take_arena()) graph_.reset();  // all addresses are others
  inputs_.assign(inputs, inputs + trace_.inputs.size());
  outputs_.assign(outputs, outputs + trace_.outputs.size());
  send_host_values(inputs);
  refresh();
  if (graph_) seconds ? run_timed(*seconds) : graph_->run();
  for (const ResultCopy& copy : copies_)
    if (copy.bytes) runtime_.copy(outputs[copy.output], at(copy.from), copy.bytes);
}

}  // namespace retrace

#include "retrace/plan/cuda_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "retrace/plan/arena.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr size_t kSlot = 64;  // bytes of a constant or a value of the host
constexpr unsigned kChainThreads = 256;

bool runs(const Node& node) { return !node.op->view && node.op->inputs != 0; }
size_t index(ValueId id) { return static_cast<size_t>(id); }

// A chain, or a node that can be one: its body.
std::optional<Trace> chain_body(const Trace& trace, const Node& node) {
  if (node.op == &fused_op()) return *node.body;
  if (!can_generate(trace, node)) return std::nullopt;
  Trace body;
  Node alone = node;
  for (ValueId& id : alone.inputs) id = body.add_input(trace.values[index(id)]);
  body.outputs = {body.add_node(std::move(alone), std::span(&trace.values[index(node.first_output)], 1))};
  return body;
}

void (*watch)(const std::string&) = nullptr;

[[noreturn]] void refuse(const Node& node) {
  throw Error(ErrorKind::unavailable, 620, fmt::format("{} has no CUDA kernel yet", node.op->name))
      .where(node.place)
      .help("compute this part on the CPU: x.to(rt::cpu_device()), or --device cpu");
}

}  // namespace

// Gives every value its location.
class CudaPlan::Layout {
 public:
  explicit Layout(CudaPlan& plan)
      : plan_(plan), trace_(plan.trace_), root_(trace_.values.size()), locations_(trace_.values.size()) {
    for (size_t i = 0; i < root_.size(); ++i) root_[i] = i;
    for (const Node& node : trace_.nodes)
      if (node.op->view) root_[index(node.first_output)] = root_[index(node.inputs[0])];
    place_inputs_and_constants();
    place_outputs();
    place_arena();
  }

  void add_steps() {
    for (size_t n = 0; n < trace_.nodes.size(); ++n) {
      const Node& node = trace_.nodes[n];
      if (!runs(node)) continue;
      Step step{&node, {}, {}, {}, {}, workspaces_[n]};
      for (ValueId id : node.inputs) {
        step.inputs.push_back(locations_[root_[index(id)]]);
        step.input_specs.push_back(&trace_.values[index(id)]);
      }
      for (int i = 0; i < node.output_count; ++i) {
        step.outputs.push_back(locations_[index(node.first_output + i)]);
        step.output_specs.push_back(&trace_.values[index(node.first_output + i)]);
      }
      plan_.steps_.push_back(std::move(step));
    }
  }

 private:
  void place_inputs_and_constants() {
    std::vector<bool> read(trace_.values.size());
    for (ValueId id : trace_.outputs) read[root_[index(id)]] = true;
    for (const Node& node : trace_.nodes)
      for (ValueId id : node.inputs) read[root_[index(id)]] = true;
    for (size_t i = 0; i < trace_.inputs.size(); ++i) {
      if (!read[index(trace_.inputs[i])]) continue;
      Location& location = locations_[index(trace_.inputs[i])];
      location = {Location::Kind::input, i};
      if (trace_.values[index(trace_.inputs[i])].device > 0) continue;
      if (const TensorSpec& spec = trace_.values[index(trace_.inputs[i])]; spec.bytes() > kSlot)
        throw Error(ErrorKind::usage, 204, "one function computes on two devices")
            .got(fmt::format("an argument {} beside others on a CUDA device", spec.text()))
            .help("x.to(device) brings a tensor or a tree to a device; numbers go along by themselves");
      location = {Location::Kind::host, plan_.host_values_.size()};
      plan_.host_values_.resize(plan_.host_values_.size() + kSlot);
      plan_.host_inputs_.push_back(i);
    }
    for (const Node& node : trace_.nodes) {
      if (node.op->inputs != 0) continue;
      const TensorSpec& spec = trace_.values[index(node.first_output)];
      ensure(spec.bytes() <= kSlot, "a constant is one number");
      locations_[index(node.first_output)] = {Location::Kind::constant, plan_.constants_.size()};
      plan_.constants_.resize(plan_.constants_.size() + kSlot);
      const KernelOutput output{plan_.constants_.data() + plan_.constants_.size() - kSlot, &spec};
      node.op->kernel({node.attributes, {}, std::span(&output, 1)});
    }
  }

  void place_outputs() {
    for (size_t k = 0; k < trace_.outputs.size(); ++k) {
      Location& location = locations_[root_[index(trace_.outputs[k])]];
      if (location.kind == Location::Kind::none)
        location = {Location::Kind::output, k};
      else
        plan_.copies_.push_back({location, k, trace_.values[index(trace_.outputs[k])].bytes()});
    }
  }

  void place_arena() {
    std::vector<size_t> last(trace_.values.size());
    for (size_t n = 0; n < trace_.nodes.size(); ++n)
      for (ValueId id : trace_.nodes[n].inputs) last[root_[index(id)]] = n;
    std::vector<ArenaBlock> blocks;
    std::vector<Location*> booked;
    workspaces_.resize(trace_.nodes.size());
    const auto book = [&](Location& location, size_t bytes, size_t from, size_t to) {
      location.kind = Location::Kind::arena;
      blocks.push_back({bytes, from, std::max(from, to)});
      booked.push_back(&location);
    };
    for (size_t n = 0; n < trace_.nodes.size(); ++n) {
      const Node& node = trace_.nodes[n];
      if (!runs(node)) continue;
      for (int i = 0; i < node.output_count; ++i)
        if (Location& location = locations_[index(node.first_output + i)]; location.kind == Location::Kind::none)
          book(location, trace_.values[index(node.first_output + i)].bytes(), n, last[index(node.first_output + i)]);
      if (const int64_t bytes = workspace_bytes(node); bytes > 0)
        book(workspaces_[n], static_cast<size_t>(bytes), n, n);
    }
    plan_.arena_bytes_ = place_blocks(blocks, true);
    for (size_t i = 0; i < blocks.size(); ++i) booked[i]->at = blocks[i].offset;
  }

  int64_t workspace_bytes(const Node& node) const {
    if (!node.op->cuda_workspace) return 0;
    std::vector<TensorSpec> specs;
    for (ValueId id : node.inputs) specs.push_back(trace_.values[index(id)]);
    return node.op->cuda_workspace({*node.op, node.attributes, specs, node.place});
  }

  CudaPlan& plan_;
  const Trace& trace_;
  std::vector<size_t> root_;  // per value: the value whose bytes it has
  std::vector<Location> locations_, workspaces_;
};

CudaPlan::CudaPlan(const Trace& trace, DeviceId device) : trace_(trace), runtime_(cuda_device(device - 1).runtime()) {
  Layout(*this).add_steps();
  for (const Step& step : steps_)
    if (!step.node->op->cuda && !chain_body(trace, *step.node)) refuse(*step.node);
  compile_chains();
  memory_ = device_at(device).allocate(arena_bytes_ + constants_.size() + host_values_.size() + kSlot);
  if (!constants_.empty())
    runtime_.copy_from_host(at({Location::Kind::constant, 0}), constants_.data(), constants_.size());
}

CudaPlan::~CudaPlan() = default;

void CudaPlan::watch_sources(void (*given)(const std::string& source)) { watch = given; }

void CudaPlan::compile_chains() {
  std::string headers, kernels;
  std::vector<std::string> names;
  std::vector<std::pair<Step*, std::string>> wanted;
  std::set<std::string> included;
  for (Step& step : steps_) {
    if (step.node->op->cuda) continue;
    const Trace body = *chain_body(trace_, *step.node);
    const CudaChain chain = generate_chain(body);
    step.count = chain.count;
    wanted.emplace_back(&step, chain.name);
    if (included.insert(chain_headers(body)).second) headers += chain_headers(body);
    if (std::find(names.begin(), names.end(), chain.name) != names.end()) continue;
    names.push_back(chain.name);
    kernels += chain.source;
  }
  if (names.empty()) return;
  const std::string source = "#include \"retrace/device/cuda/kernel.h\"\n" + headers +
                             "\nusing namespace retrace;\nusing namespace retrace::cuda;\n\n" + kernels;
  if (watch) watch(source);
  const auto compiled = runtime_.compile(source, names);
  for (auto& [step, name] : wanted)
    step->chain = compiled[static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
}

void* CudaPlan::at(const Location& location) const {
  char* const memory = static_cast<char*>(memory_->data());
  switch (location.kind) {
    case Location::Kind::input: return const_cast<void*>(inputs_[location.at]);
    case Location::Kind::output: return outputs_[location.at];
    case Location::Kind::arena: return memory + location.at;
    case Location::Kind::constant: return memory + arena_bytes_ + location.at;
    case Location::Kind::host: return memory + arena_bytes_ + constants_.size() + location.at;
    case Location::Kind::none: break;
  }
  return nullptr;
}

std::vector<cuda::Launch> CudaPlan::build() const {
  cuda::Launches launches(runtime_);
  for (const Step& step : steps_) {
    if (step.chain) {
      if (step.count == 0) continue;
      std::vector<void*> words;
      for (const Location& input : step.inputs) words.push_back(at(input));
      for (const Location& output : step.outputs) words.push_back(at(output));
      words.push_back(reinterpret_cast<void*>(step.count));
      cuda::Launch launch{step.chain, cuda::blocks_for(step.count, kChainThreads), {kChainThreads}, 0, {}};
      const auto bytes = std::as_bytes(std::span(words));
      launch.arguments.assign(bytes.begin(), bytes.end());
      launches.add(std::move(launch));
      continue;
    }
    std::vector<KernelInput> in;
    std::vector<KernelOutput> out;
    for (size_t i = 0; i < step.inputs.size(); ++i) in.push_back({at(step.inputs[i]), step.input_specs[i]});
    for (size_t i = 0; i < step.outputs.size(); ++i) out.push_back({at(step.outputs[i]), step.output_specs[i]});
    step.node->op->cuda({step.node->attributes, in, out, at(step.workspace), launches});
  }
  return std::move(launches.all());
}

void CudaPlan::send_host_values(const void* const* inputs) {
  bool changed = false;
  for (size_t k = 0; k < host_inputs_.size(); ++k) {
    const void* value = inputs[host_inputs_[k]];
    const size_t bytes = trace_.values[index(trace_.inputs[host_inputs_[k]])].bytes();
    if (!value || bytes == 0 || std::memcmp(host_values_.data() + k * kSlot, value, bytes) == 0) continue;
    std::memcpy(host_values_.data() + k * kSlot, value, bytes);
    changed = true;
  }
  if (changed || (!graph_ && !host_values_.empty()))
    runtime_.copy_from_host(at({Location::Kind::host, 0}), host_values_.data(), host_values_.size());
}

// Brings the launches up to date with the addresses of this run.
void CudaPlan::refresh() {
  auto now = build();
  if (!graph_) {
    launches_ = std::move(now);
    graph_ = runtime_.make_graph(launches_);
    return;
  }
  ensure(now.size() == launches_.size(), "a plan has the same launches in every run");
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].arguments == launches_[i].arguments) continue;
    graph_->set_arguments(i, now[i].arguments);
    launches_[i].arguments = std::move(now[i].arguments);
  }
}

void CudaPlan::run(const void* const* inputs, void* const* outputs) {
  const std::lock_guard lock(mutex_);
  const bool same = graph_ && std::equal(inputs_.begin(), inputs_.end(), inputs) &&
                    std::equal(outputs_.begin(), outputs_.end(), outputs);
  inputs_.assign(inputs, inputs + trace_.inputs.size());
  outputs_.assign(outputs, outputs + trace_.outputs.size());
  send_host_values(inputs);
  if (!same) refresh();
  if (!launches_.empty()) graph_->run();
  for (const Copy& copy : copies_)
    if (copy.bytes) runtime_.copy(outputs[copy.output], at(copy.from), copy.bytes);
}

}  // namespace retrace

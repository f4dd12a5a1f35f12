#include "retrace/train/run_state.h"

namespace retrace {
namespace {

Tensor of_integer(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return Tensor::from({static_cast<int32_t>(bits & 0xffffffffU), static_cast<int32_t>(bits >> 32)}, {2});
}

int64_t integer_of(const Tensor& tensor) {
  const auto halves = tensor.to_vector<int32_t>();
  if (halves.size() != 2)
    throw Error(ErrorKind::usage, 426, "a counter of a run's state is no i32[2]").got(tensor.spec().text());
  const uint64_t low = static_cast<uint32_t>(halves[0]), high = static_cast<uint32_t>(halves[1]);
  return static_cast<int64_t>(high << 32 | low);
}

// Calls f(name, counter) for each counter of a state that may be constant.
template <class State, class F>
void for_each_counter(State& state, const F& f) {
  f("epochs", state.epochs);
  f("iterations", state.iterations);
  f("shuffles", state.position.shuffles);
  f("passes", state.position.passes);
  f("next", state.position.next);
  f("calls", state.calls);
  f("epoch_steps", state.epoch_steps);
  f("validation_due", state.validation_due);
  f("best_iteration", state.best_iteration);
  f("not_better", state.not_better);
}

// A network without running statistics has no state, and a solver may have none: an empty tree has no leaves.
Tree child_or_empty(const Tree& tree, const char* name) { return tree.contains(name) ? tree[name] : Tree(); }

}  // namespace

Tree changed_by_steps(const RunState& state) {
  Tree tree{{"parameters", state.now.parameters}, {"state", state.now.state}, {"solver", state.now.solver}};
  if (!state.average.empty()) tree["average"] = state.average;
  return tree;
}

Tree to_tree(const RunState& state) {
  Tree tree = changed_by_steps(state);
  tree["epoch_start"] = Tree{{"parameters", state.epoch_start.parameters}, {"state", state.epoch_start.state}};
  tree["loss_sum"] = Tensor::scalar(state.loss_sum);
  tree["best_value"] = Tensor::scalar(state.best_value);
  if (!state.best.parameters.empty())
    tree["best"] = Tree{{"parameters", state.best.parameters}, {"state", state.best.state}};
  for_each_counter(state, [&](const char* name, int64_t value) { tree["counters"][name] = of_integer(value); });
  return tree;
}

RunState run_state_from(const Tree& tree) {
  RunState state;
  state.now = {tree["parameters"], child_or_empty(tree, "state"), child_or_empty(tree, "solver")};
  const Tree& start = tree["epoch_start"];
  state.epoch_start = {start["parameters"], child_or_empty(start, "state")};
  state.average = child_or_empty(tree, "average");
  if (tree.contains("best")) state.best = {tree["best"]["parameters"], child_or_empty(tree["best"], "state")};
  state.loss_sum = tree["loss_sum"].tensor().item<double>();
  state.best_value = tree["best_value"].tensor().item<double>();
  const Tree& counters = tree["counters"];
  for_each_counter(state, [&](const char* name, int64_t& value) { value = integer_of(counters[name].tensor()); });
  return state;
}

void save_run_state(const std::filesystem::path& path, const RunState& state) {
  write_safetensors(path, to_safetensors(to_tree(state)));
}

RunState load_run_state(const std::filesystem::path& path, const RunState& like) {
  const SafeTensors file = read_safetensors(path);
  check_fingerprints(file, path.string());
  return run_state_from(from_safetensors(file, to_tree(like), path.string()));
}

}  // namespace retrace

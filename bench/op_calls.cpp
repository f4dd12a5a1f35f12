// Calls of our public ops, for bench/peers/op_agreement.py: build/bench/op_calls FOLDER [THREADS].
//
// FOLDER/calls.jsonl has a call a line: {"op": name, "inputs": [{"type": "f32", "shape": [2,3], "grad": true} or null],
// "options": {...}}; the bytes of the inputs stand one behind another in FOLDER/inputs.bin. A line of FOLDER/made.jsonl
// answers each: {"results": [...], "gradients": [...]} with type and shape (null: no gradient asked for), or {"error":
// text}; the bytes are in FOLDER/made.bin. Gradients are those of the sum of w * y over all float results; element i of
// result j has the weight w = ((37 i + 11 j) mod 19 - 9.5) / 8. With a
// number of threads an answer is its times (timing.h). Without arguments it prints the names that
// it knows.

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bench/op_calls/call.h"
#include "bench/op_calls/timing.h"

namespace retrace::bench {
namespace {

using nlohmann::json;

OpTable all_ops() {
  OpTable table;
  add_pointwise(table);
  add_arrays(table);
  add_layers(table);
  add_losses(table);
  add_volumes(table);
  return table;
}

Tensor weights_of(const Tensor& y, size_t j) {
  std::vector<double> all(static_cast<size_t>(y.shape().count()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = (static_cast<double>((37 * i + 11 * j) % 19) - 9.5) / 8;
  return cast(Tensor::from(all, y.shape()), y.type());
}

struct Made {
  std::vector<Tensor> results, gradients;  // undefined: none was asked for
};

// Results, and gradients of their weighted sum.
Made differentiated(const std::function<Results(const Call&)>& f, const std::vector<Tensor>& inputs,
                    const std::vector<bool>& wanted, const json& options) {
  Tree parameters;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (wanted[i]) parameters[entry(i)] = inputs[i];
  auto step = value_and_grad([&](const Tree& p) -> WithAux<Tree> {
    std::vector<Tensor> seen = inputs;
    for (size_t i = 0; i < seen.size(); ++i)
      if (wanted[i]) seen[i] = p[entry(i)];
    const Results results = f(Call(std::move(seen), options));
    Tree kept;
    Tensor loss;
    for (size_t j = 0; j < results.size(); ++j) {
      kept[entry(j)] = results[j];
      if (!is_float(results[j].type())) continue;
      const Tensor part = sum(multiply(results[j], weights_of(results[j], j)));
      loss = loss.defined() ? loss + part : part;
    }
    return {loss.defined() ? loss : Tensor::scalar(0.0f), kept};  // of integers alone
  });
  const auto found = step(parameters);
  Made made;
  for (const auto& [name, tensor] : leaves(found.aux)) made.results.push_back(tensor);
  for (size_t i = 0; i < inputs.size(); ++i)
    made.gradients.push_back(wanted[i] ? found.gradients[entry(i)].tensor() : Tensor());
  return made;
}

json written(const std::vector<Tensor>& tensors, std::ofstream& out) {
  json all = json::array();
  for (const Tensor& x : tensors) {
    if (!x.defined()) {
      all.push_back(nullptr);
      continue;
    }
    const auto bytes = static_cast<size_t>(x.shape().count()) * size_of(x.type());
    if (bytes > 0) out.write(reinterpret_cast<const char*>(x.data()), static_cast<std::streamsize>(bytes));
    all.push_back({{"type", name_of(x.type())}, {"shape", std::vector<int64_t>(x.shape().begin(), x.shape().end())}});
  }
  return all;
}

json answer(const OpTable& table, const json& call, bool times, std::ifstream& in, std::ofstream& out) {
  std::vector<Tensor> inputs;
  std::vector<bool> wanted;
  for (const auto& input : call["inputs"]) {
    inputs.emplace_back();
    wanted.push_back(!input.is_null() && input.value("grad", false));
    if (input.is_null()) continue;
    TensorSpec spec;
    parse_dtype(input["type"].get<std::string>(), spec.type);
    spec.shape = Shape(input["shape"].get<std::vector<int64_t>>());
    std::vector<char> bytes(static_cast<size_t>(spec.shape.count()) * size_of(spec.type) + 1);
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size() - 1));
    inputs.back() = Tensor::from_bytes(bytes.data(), spec);
  }
  try {
    const auto& f = table.at(call["op"]);
    if (times) return timed(f, inputs, wanted, call["options"]);
    const bool any = std::find(wanted.begin(), wanted.end(), true) != wanted.end();
    Made made = any ? differentiated(f, inputs, wanted, call["options"]) : Made{f(Call(inputs, call["options"])), {}};
    for (const Tensor& x : made.results) evaluate(x);
    return {{"results", written(made.results, out)}, {"gradients", written(made.gradients, out)}};
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

int run(const char* folder, int threads) {
  const OpTable table = all_ops();
  if (!folder) {
    for (const auto& [name, f] : table) std::puts(name.c_str());
    return 0;
  }
  const std::string base = std::string(folder) + "/";
  std::ifstream calls(base + "calls.jsonl"), in(base + "inputs.bin", std::ios::binary);
  std::ofstream made(base + "made.jsonl"), out(base + "made.bin", std::ios::binary);
  if (threads > 0)
    set_thread_count(threads);
  else
    set_plan_cache_enabled(false);
  for (std::string line; std::getline(calls, line);)
    made << answer(table, json::parse(line), threads > 0, in, out).dump() << '\n';
  made.flush(), out.flush();
  return made.good() && out.good() ? 0 : 1;
}

}  // namespace
}  // namespace retrace::bench

int main(int count, char** arguments) {
  return retrace::bench::run(count > 1 ? arguments[1] : nullptr, count > 2 ? std::atoi(arguments[2]) : 0);
}

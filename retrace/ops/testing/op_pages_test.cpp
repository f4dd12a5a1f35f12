// What the pages of ops (docs/ops.md, scripts/op_pages) say beside the text of the headers: examples that are run, and
// what the op table and the cases know. Where RETRACE_OP_FACTS names a file, the facts are written to it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "retrace/ops/op.h"
#include "retrace/ops/op_folders.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {

std::string shown(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor;
  return text.str();
}

std::string shown(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) text += (text.empty() ? "" : "\n") + shown(tensor);
  return text;
}

namespace {

// The folder of a test file: "softmax" of ".../retrace/ops/softmax/softmax_test.cpp".
std::string folder_of(std::string_view file) {
  const auto end = file.rfind('/');
  const auto begin = file.rfind('/', end - 1) + 1;
  return std::string(file.substr(begin, end - begin));
}

std::string how_made(const Op& op) {
  if (op.rule) return "one formula";
  if (op.view) return "a view";
  if (op.lower) return "other ops";
  return op.inputs == 0 ? "a number" : "a kernel";
}

std::string on_cuda(const Op& op) {
  if (op.rule || op.view || op.lower || op.inputs == 0) return "yes";
  return op.cuda ? "yes" : "by way of the host";
}

// A case's inputs with another type in the place of the first one's.
std::vector<Tensor> retyped(const OpCase& one, DType type) {
  std::vector<Tensor> inputs;
  for (const CaseInput& input : one.inputs)
    inputs.push_back(Tensor::full(1, input.shape, input.type == one.inputs[0].type ? type : input.type, input.labels));
  return inputs;
}

// The types that the op takes in the place of that of the first input.
std::vector<std::string> types_of(const OpCase& one) {
  std::vector<std::string> types;
  if (one.inputs.empty()) return types;
  for (const DType type :
       {DType::f32, DType::f64, DType::i32, DType::u8, DType::boolean, DType::bf16, DType::f16, DType::i64}) {
    RecordingScope scope;
    if (error_text([&] { one.build(retyped(one, type)); }).empty()) types.emplace_back(name_of(type));
  }
  return types;
}

// The largest bound of the cases.
void widen(nlohmann::json& facts, const Bound& bound) {
  facts["ulp"] = std::max(facts.value("ulp", 0.0), bound.ulp);
  facts["relative"] = std::max(facts.value("relative", 0.0), bound.relative);
}

nlohmann::json facts_of_ops() {
  std::map<std::string, nlohmann::json> ops;
  for (const Op& op : op_table().all())
    ops[std::string(op.name)] = {{"made", how_made(op)},
                                 {"gradient", op.gradient != nullptr || op.lower != nullptr},
                                 {"cuda", on_cuda(op)},
                                 {"cases", 0}};
  for (const auto& [folder, list] : case_lists())
    for (const OpCase& one : list()) {
      auto& facts = ops[one.op];
      facts["cases"] = facts["cases"].get<int>() + 1;
      if (!one.no_gradient.empty()) facts["no_gradient"] = one.no_gradient;
      if (one.expected.empty()) widen(facts, one.bound);
      if (!facts.contains("types")) facts["types"] = types_of(one);
    }
  return ops;
}

nlohmann::json facts_of_folders() {
  nlohmann::json folders;
  for (const OpFolder& folder : op_folders()) {
    OpTable table;
    folder.define(table);
    auto& facts = folders[std::string(folder.name)];
    facts["ops"] = nlohmann::json::array();
    facts["examples"] = nlohmann::json::array();
    for (const Op& op : table.all()) facts["ops"].push_back(std::string(op.name));
  }
  for (const OpExample& example : op_examples())
    folders[folder_of(example.file)]["examples"].push_back({{"text", example.text}, {"shows", example.show()}});
  return folders;
}

TEST(OpPages, EveryExampleRunsAndPrints) {
  for (const OpExample& example : op_examples()) EXPECT_NE(example.show(), "") << example.text;
}

TEST(OpPages, FactsAreComplete) {
  const nlohmann::json facts = {{"ops", facts_of_ops()}, {"folders", facts_of_folders()}};
  for (const auto& [name, folder] : facts["folders"].items())
    for (const auto& op : folder["ops"]) EXPECT_TRUE(facts["ops"].contains(op)) << name;
  if (const char* path = std::getenv("RETRACE_OP_FACTS")) std::ofstream(path) << facts.dump(1) << "\n";
}

}  // namespace
}  // namespace retrace

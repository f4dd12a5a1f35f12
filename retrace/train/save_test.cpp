#include "retrace/train/save.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/ops/operators.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/safetensors.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

class Save : public testing::Test {
 protected:
  std::string file() const { return (folder_ / "tree.safetensors").string(); }
  void write(const std::vector<std::string>& names, const std::string& type = "F32") const {
    SafeTensors content;
    for (const auto& name : names)
      content.tensors.push_back({name, type, {}, std::vector<std::byte>(size_t(safetensors_type_size(type)))});
    write_safetensors(file(), content);
  }
  std::string problem() const {
    try {
      load(file());
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Save, WhatWasSavedIsLoaded) {
  const Tree tree{
      {"a", Tensor::from({1.0f, 2.0f}, {2})},
      {"branch", Tree{{"b", Tensor::from({1.5, -0.0}, {1, 2})},
                      {"c", Tensor::from({1, 2, 3}, {3})},
                      {"deeper", Tree{{"d", Tensor::from({uint8_t{7}}, {1})}, {"e", Tensor::scalar(true)}}}}}};
  save(tree, file());
  const Tree read = load(file());
  EXPECT_EQ(leaves(read).size(), 5u);
  EXPECT_EQ(fingerprint(read), fingerprint(tree));
  EXPECT_EQ(read["branch"]["deeper"]["e"].tensor().type(), DType::boolean);
}

TEST_F(Save, KeepsTypesOfStorage) {
  const Tree tree{{"a", Tensor::full(1.0 / 3, {3}, DType::bf16)},
                  {"b", Tensor::full(1.0 / 3, {3}, DType::f16)},
                  {"c", Tensor::from_i64(std::vector<int64_t>{int64_t{1} << 40, -1}, {2})}};
  save(tree, file());
  const Tree read = load(file());
  EXPECT_EQ(fingerprint(read), fingerprint(tree));
  EXPECT_EQ(read["a"].tensor().spec().text(), "bf16[3]");
  EXPECT_EQ(read["b"].tensor().spec().text(), "f16[3]");
  EXPECT_EQ(read["c"].tensor().to_vector<int64_t>(), (std::vector<int64_t>{int64_t{1} << 40, -1}));
}

TEST_F(Save, PendingValuesAreComputed) {
  Tree tree;
  tree["sum"] = Tensor::from({1.0f, 2.0f}, {2}) + 1.0f;
  save(tree, file());
  EXPECT_EQ(load(file())["sum"].tensor().to_vector<float>(), (std::vector<float>{2, 3}));
}

TEST_F(Save, NamesMustBePathsOfOneTree) {
  for (const std::vector<std::string>& names : {std::vector<std::string>{"a", "a/b"}, {"a//b"}, {"/a"}, {"a/"}}) {
    write(names);
    EXPECT_NE(problem().find("no path of a tree"), std::string::npos) << names[0] << ": " << problem();
  }
  write({"a-b", "a/b", "a/c/d"});
  EXPECT_EQ(problem(), "");
}

TEST_F(Save, RefusesOtherTypesAndSingleTensors) {
  write({"x"}, "I16");
  EXPECT_NE(problem().find("\"x\" is I16[]"), std::string::npos) << problem();
  EXPECT_THROW(save(Tree(Tensor::scalar(1.0f)), file()), Error);
  EXPECT_THROW(load(file() + ".not"), Error);
}

TEST_F(Save, FilesOfOtherFrameworksAreNamed) {
  const Tree tree{{"x", Tensor::scalar(1.0f)}};
  const Place place{"x.cpp", 3};
  for (const char* const ending : {".pt", ".pth", ".h5", ".hdf5", ".keras", ".pkl", ".pickle", ".onnx", ".npy"})
    EXPECT_TRUE(says(error_of([&] { save(tree, "w" + std::string(ending)); }), "error[RT0532]")) << ending;
  EXPECT_EQ(
      error_of([&] { save(tree, "w.pt", place); }),
      "error[RT0532]: \"w.pt\" is named like a file of PyTorch\n  where:    x.cpp:3\n"
      "  expected: a name that ends in .safetensors, or in .npz for numpy\n"
      "  help:     save to \"w.safetensors\", which PyTorch reads: safetensors.torch.load_file(\"w.safetensors\")");
  const std::string path = file() + ".pt";
  write_file_whole(path, "PK\x03\x04 archive/data.pkl");
  EXPECT_EQ(error_of([&] { load(path, place); }),
            "error[RT0533]: \"" + path +
                "\" is a file of PyTorch, which is not read\n  where:    x.cpp:3\n"
                "  expected: a safetensors or NPZ file\n"
                "  help:     convert it in Python: import torch, safetensors.torch as s; w = torch.load(\"" +
                path + "\", map_location=\"cpu\"); s.save_file({k: v.contiguous() for k, v in w.items()}, \"" + file() +
                ".safetensors\")");
  save(tree, file());
  std::filesystem::rename(file(), path);  // as earlier versions wrote it
  EXPECT_EQ(fingerprint(load(path)), fingerprint(tree));
  EXPECT_TRUE(says(error_of([&] { load("not.there.pt"); }), "does not exist"));
}

}  // namespace
}  // namespace retrace

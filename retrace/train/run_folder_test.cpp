#include "retrace/train/run_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "retrace/nn/models.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/compare.h"
#include "retrace/train/weights.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

SafeTensor floats(const std::string& name, std::initializer_list<float> values) {
  SafeTensor tensor{name, "F32", {static_cast<int64_t>(values.size())}, std::vector<std::byte>(values.size() * 4)};
  std::memcpy(tensor.bytes.data(), std::data(values), tensor.bytes.size());
  return tensor;
}

class RunFolderTest : public testing::Test {
 protected:
  RunFolder create(const fs::path& out = {}, const Job& job = {}) {
    return RunFolder::create(job, current_versions("cpu"), out, root_ / "runs");
  }
  // A finished run with two epochs; `change` is added to a weight and to the fingerprints of epoch 2.
  fs::path finished(const std::string& name, uint64_t change, int epochs = 2) {
    RunFolder run = create(root_ / name);
    for (int epoch = 1; epoch <= epochs; ++epoch)
      run.record({epoch,
                  100u * static_cast<unsigned>(epoch) + (epoch == 2 ? change : 0),
                  {{"parameters/w", 7u + (epoch == 2 ? change : 0)}, {"state/m", 9}}});
    SafeTensors weights;
    weights.tensors = {floats("parameters/w", {1.0f + static_cast<float>(change) * 0x1p-23f, 2}),
                       floats("state/m", {0})};
    add_fingerprints(weights);
    run.write_weights(weights);
    return run.path();
  }
  std::string text(const fs::path& path) { return read_file(path, "file", 1'000'000); }
  TemporaryFolder root_;
};

TEST_F(RunFolderTest, NumbersRunsAndWritesWhatTheyAre) {
  Job job;
  job.name = "digits";
  EXPECT_EQ(create({}, job).path(), root_ / "runs" / "digits-1");
  fs::create_directory(root_ / "runs" / "digits-7");
  fs::create_directory(root_ / "runs" / "digits-x9");
  const RunFolder run = create({}, job);
  EXPECT_EQ(run.path(), root_ / "runs" / "digits-8");
  EXPECT_EQ(text(run.path() / "job.toml"), job_text(job));
  EXPECT_EQ(job_text(read_run_job(run.path())), job_text(job));
  const auto versions = nlohmann::json::parse(text(run.path() / "versions.json"));
  for (const char* key : {"version", "contract_version", "compiler", "cpu", "simd_targets", "simd_target", "threads",
                          "device", "devices", "absent", "libraries"})
    EXPECT_TRUE(versions.contains(key)) << key;
  EXPECT_EQ(versions["contract_version"], 1);
  EXPECT_EQ(versions["simd_targets"].back(), "scalar");
}

TEST_F(RunFolderTest, OneProcessOneFolder) {
  const fs::path out = root_ / "mine" / "here";
  {
    const RunFolder first = create(out);
    try {
      create(out);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("is used by another process"), std::string::npos) << error.what();
    }
  }
  try {
    create(out);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is not empty"), std::string::npos) << error.what();
  }
  fs::create_directory(root_ / "empty");
  EXPECT_NO_THROW(create(root_ / "empty"));
  std::ofstream(root_ / "file") << "x";
  EXPECT_THROW(create(root_ / "file"), Error);
}

// The text of the error of f, of that kind; "" if there is none.
template <class F>
std::string refusal(ErrorKind kind, const F& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  return "";
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(RunFolderTest, ARefusedFolderIsLeftAsItIs) {
  fs::create_directory(root_ / "foreign");
  std::ofstream(root_ / "foreign" / "thesis") << "x";
  EXPECT_TRUE(says(refusal(ErrorKind::usage, [&] { create(root_ / "foreign"); }), "is not empty"));
  EXPECT_FALSE(fs::exists(root_ / "foreign" / ".lock"));
  EXPECT_TRUE(says(refusal(ErrorKind::usage, [&] { check_new_run(root_ / "foreign" / "thesis"); }), "is no folder"));
  EXPECT_NO_THROW(check_new_run({}));
  EXPECT_NO_THROW(check_new_run(root_ / "absent"));
  EXPECT_FALSE(fs::exists(root_ / "absent"));
  const RunFolder mine = create(root_ / "mine");
  const std::string used = refusal(ErrorKind::usage, [&] { check_new_run(root_ / "mine"); });
  EXPECT_TRUE(says(used, "is used by another process\n  got:      process " + std::to_string(::getpid()) + " on "))
      << used;
  EXPECT_TRUE(used.ends_with("\n  help:     wait for it, or choose another folder with --out")) << used;
  const std::string resumed = refusal(ErrorKind::usage, [&] { RunFolder::resume(root_ / "mine", 0, 0); });
  EXPECT_TRUE(
      resumed.ends_with("\n  help:     wait until it has ended, or end it with SIGTERM: it leaves a checkpoint"))
      << resumed;
  EXPECT_EQ(refusal(ErrorKind::usage, [&] { check_resumable(root_ / "mine"); }), resumed);
}

// By the fingerprints of the file, and by those of the folder, as an earlier version left it.
TEST_F(RunFolderTest, DamagedWeightsAreNamed) {
  const auto network = models::digits(random_key(1));
  const SafeTensors whole = to_safetensors(network.parameters, network.state);
  const std::string name = whole.tensors[0].name;
  EpochFingerprints epoch{1, 5, {}};
  for (const auto& [path, tensor] : named_weights(network.parameters, network.state))
    epoch.tensors[path] = fingerprint_value(path, tensor);
  for (const bool old : {false, true}) {
    RunFolder run = create(root_ / (old ? "old" : "new"));
    run.record(epoch);
    const auto written = [&](const auto& change) {
      SafeTensors weights = whole;
      change(weights);
      if (old) weights.metadata.clear();
      run.write_weights(weights);
      return refusal(ErrorKind::bad_data, [&] { read_run_weights(run.path()); });
    };
    EXPECT_EQ(written([](SafeTensors&) {}), "");
    for (const int bit : {0, 9, 30}) {
      const std::string flipped = written([&](SafeTensors& weights) {
        weights.tensors[0].bytes[static_cast<size_t>(bit) / 8] ^= static_cast<std::byte>(1 << bit % 8);
      });
      EXPECT_TRUE(says(flipped, name + " has not the written fingerprint")) << flipped;
      EXPECT_TRUE(says(flipped, "weights.safetensors"));
      EXPECT_FALSE(says(flipped, whole.tensors[1].name));
    }
    EXPECT_TRUE(says(written([](SafeTensors& w) { w.tensors.erase(w.tensors.begin()); }), name + " is missing"));
    EXPECT_TRUE(
        says(written([](SafeTensors& w) { w.tensors.push_back(floats("head/w", {1})); }), "head/w has no fingerprint"));
    EXPECT_TRUE(says(written([](SafeTensors& w) { std::swap(w.tensors[0].name, w.tensors[1].name); }), name));
    EXPECT_TRUE(says(refusal(ErrorKind::bad_data, [&] { compare_runs(run.path(), run.path()); }), "damaged"));
  }
  SafeTensors text = whole;
  text.metadata["fingerprint " + name] = "zz";
  EXPECT_TRUE(says(refusal(ErrorKind::bad_data, [&] { check_fingerprints(text, "x"); }), "is no fingerprint"));
}

TEST_F(RunFolderTest, WeightsOfAnotherNetworkAndNonFiniteOnesAreNamed) {
  const auto network = models::digits(random_key(1));
  const NetworkWeights like{network.parameters, network.state};
  const SafeTensors whole = to_safetensors(network.parameters, network.state);
  const std::string name = whole.tensors[0].name;
  const auto with = [&](const auto& change) {
    SafeTensors weights = whole;
    change(weights);
    return refusal(ErrorKind::bad_data, [&] { from_safetensors(weights, like, "w.safetensors"); });
  };
  EXPECT_EQ(with([](SafeTensors&) {}), "");
  EXPECT_TRUE(
      says(with([](SafeTensors& w) { w.tensors.push_back(floats("head/w", {1})); }), "head/w is none of this network"));
  EXPECT_TRUE(says(with([](SafeTensors& w) { w.tensors.erase(w.tensors.begin()); }), name + " is missing"));
  EXPECT_TRUE(says(with([](SafeTensors& w) { w.tensors[0].shape.assign(9, 1); }), name + " is F32[1,1,1,1,1,1,1,1,1]"));
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    const auto put = [&](SafeTensors& w) { std::memcpy(w.tensors[0].bytes.data(), &value, 4); };
    EXPECT_TRUE(says(with(put), name + " holds a NaN or infinity"));
    SafeTensors weights = whole;
    put(weights);
    EXPECT_EQ(not_finite(weights), std::vector<std::string>{name});
    weights.metadata.clear();
    write_safetensors(root_ / "w.safetensors", weights);
    EXPECT_EQ(compare_runs(root_ / "w.safetensors", root_ / "w.safetensors").not_finite_b,
              std::vector<std::string>{name});
  }
}

TEST_F(RunFolderTest, DamagedJobsAndVersionsOfARunAreBadData) {
  const fs::path a = finished("a", 0), b = finished("b", 0);
  std::string deep;
  for (int i = 0; i < 15'000; ++i) deep += "a.";
  for (const std::string& damage : {std::string("seed = ["), deep + "a = 1"}) {
    std::ofstream(b / "job.toml", std::ios::trunc) << damage;
    EXPECT_TRUE(says(refusal(ErrorKind::bad_data, [&] { compare_runs(a, b); }), "job.toml:1:"));
    EXPECT_TRUE(says(refusal(ErrorKind::bad_data, [&] { read_run_job(b); }), "job.toml:1:"));
  }
  // Of another version: settings only explain.
  std::ofstream(b / "job.toml", std::ios::trunc) << "new_key = 1";
  EXPECT_TRUE(compare_runs(a, b).equal);
  EXPECT_TRUE(says(refusal(ErrorKind::bad_data, [&] { read_run_job(b); }), "new_key"));
  std::ofstream(b / "versions.json", std::ios::trunc) << "{\"version\":";
  EXPECT_TRUE(says(refusal(ErrorKind::bad_data, [&] { compare_runs(a, b); }), "versions.json"));
}

TEST_F(RunFolderTest, OutputsOverFilesOfARunAreRefused) {
  const fs::path run = finished("a", 0);
  std::ofstream(root_ / "in.gz") << "x";
  fs::create_symlink(run / "weights.safetensors", root_ / "soft");
  for (const fs::path& output : {run / "weights.safetensors", run / "job.toml", root_ / "soft", root_ / "in.gz"})
    EXPECT_TRUE(
        says(refusal(ErrorKind::usage, [&] { check_run_output(output, root_ / "in.gz"); }), "would be written over"))
        << output;
  EXPECT_NO_THROW(check_run_output(run / "out.csv", root_ / "in.gz"));
  EXPECT_NO_THROW(check_run_output(root_ / "job.toml", root_ / "in.gz"));
}

TEST_F(RunFolderTest, FingerprintsSurviveATornEnd) {
  const fs::path run = finished("a", 0);
  auto epochs = read_fingerprints(run);
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[1].epoch, 2);
  EXPECT_EQ(epochs[1].all, 200u);
  EXPECT_EQ(epochs[1].tensors.at("parameters/w"), 7u);
  const std::string whole = text(run / "fingerprints.txt");
  EXPECT_EQ(whole.substr(0, whole.find('\n')), "1 0000000000000007 parameters/w");
  const size_t first = whole.find("all\n") + 4;
  for (size_t length = 0; length <= whole.size(); ++length) {
    std::ofstream(run / "fingerprints.txt", std::ios::trunc) << whole.substr(0, length);
    EXPECT_EQ(read_fingerprints(run).size(), length == whole.size() ? 2u : length >= first ? 1u : 0u) << length;
  }
  std::ofstream(run / "fingerprints.txt", std::ios::trunc) << "1 zz parameters/w\n" << whole;
  try {
    read_fingerprints(run);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_data);
    EXPECT_NE(std::string(error.what()).find("fingerprints.txt:1"), std::string::npos) << error.what();
  }
}

TEST_F(RunFolderTest, MetricsAreAppendedAndTornLinesIgnored) {
  const fs::path path = root_ / "metrics.jsonl";
  MetricsLog(path).append("{\"a\":1}");
  std::ofstream(path, std::ios::app) << "{\"torn";
  EXPECT_EQ(read_log_lines(path), std::vector<std::string>{"{\"a\":1}"});
  MetricsLog log(path);
  log.append("{\"b\":2}");
  log.sync();
  EXPECT_EQ(read_log_lines(path), (std::vector<std::string>{"{\"a\":1}", "{\"torn", "{\"b\":2}"}));
  EXPECT_THROW(MetricsLog(root_ / "absent" / "x"), Error);
}

TEST_F(RunFolderTest, EqualRunsCompareEqual) {
  const RunComparison result = compare_runs(finished("a", 0), finished("b", 0));
  EXPECT_TRUE(result.equal);
  EXPECT_EQ(result.epochs_a, 2);
  EXPECT_TRUE(result.has_weights);
  EXPECT_TRUE(result.weights.empty());
  EXPECT_FALSE(result.first_epoch);
}

TEST_F(RunFolderTest, ComparisonNamesEpochTensorAndDistance) {
  const fs::path a = finished("a", 0), b = finished("b", 3);
  const RunComparison result = compare_runs(a, b);
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.first_epoch, 2);
  EXPECT_EQ(result.first_tensors, std::vector<std::string>{"parameters/w"});
  ASSERT_EQ(result.weights.size(), 1u);
  EXPECT_EQ(result.weights[0].name, "parameters/w");
  EXPECT_EQ(result.weights[0].distance, 3u);
  EXPECT_EQ(result.weights[0].count, 1u);
  EXPECT_EQ(result.weights[0].size, 2u);
  // Weights alone, from a file.
  const RunComparison files = compare_runs(a / "weights.safetensors", b);
  EXPECT_FALSE(files.equal);
  EXPECT_EQ(files.weights[0].distance, 3u);
  EXPECT_TRUE(compare_runs(a / "weights.safetensors", a).equal);
}

TEST_F(RunFolderTest, ShorterRunDiffersAndSettingsExplain) {
  Job longer;
  longer.training.max_epochs = 9;
  const fs::path a = finished("a", 0), b = finished("b", 0, 3);
  const RunComparison result = compare_runs(a, b);
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.first_epoch, 3);
  EXPECT_TRUE(result.first_tensors.empty());
  RunFolder c = create(root_ / "c", longer);
  c.record({1, 5, {{"parameters/w", 7}}});
  const auto settings = compare_runs(a, c.path()).settings;
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings[0].key, "training.max_epochs");
  EXPECT_EQ(settings[0].a, "30");
  EXPECT_EQ(settings[0].b, "9");
}

TEST_F(RunFolderTest, AnEpochThatWasStoppedIsNoWholeOne) {
  const auto run = [&](const char* name, int64_t stopped_after, uint64_t value) {
    RunFolder folder = create(root_ / name);
    folder.record({1, 5, {{"parameters/w", 7}}});
    folder.record({2, value, {{"parameters/w", value}}, stopped_after});
    return folder.path();
  };
  const fs::path whole = run("whole", 0, 6), ninth = run("ninth", 9, 6), again = run("again", 9, 6),
                 tenth = run("tenth", 10, 6), other = run("other", 9, 8);
  const auto epochs = read_fingerprints(ninth);
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].stopped_after, 0);
  EXPECT_EQ(epochs[1].stopped_after, 9);
  EXPECT_EQ(epochs[1].all, 6u);

  const RunComparison against_whole = compare_runs(whole, ninth);
  EXPECT_FALSE(against_whole.equal);
  EXPECT_FALSE(against_whole.stopped_a);
  ASSERT_TRUE(against_whole.stopped_b);
  EXPECT_EQ(against_whole.stopped_b->epoch, 2);
  EXPECT_EQ(against_whole.stopped_b->iteration, 9);
  EXPECT_EQ(against_whole.first_epoch, 2);
  EXPECT_TRUE(against_whole.first_tensors.empty());

  EXPECT_FALSE(compare_runs(ninth, tenth).equal);
  EXPECT_EQ(compare_runs(ninth, other).first_tensors, std::vector<std::string>{"parameters/w"});
  const RunComparison alike = compare_runs(ninth, again);
  EXPECT_TRUE(alike.equal);
  EXPECT_EQ(alike.stopped_a->iteration, 9);
}

TEST_F(RunFolderTest, ComparisonRefusesWhatIsNoRun) {
  const fs::path a = finished("a", 0);
  const auto kind = [&](const fs::path& other) {
    try {
      compare_runs(a, other);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind(root_ / "aa"), ErrorKind::missing);
  EXPECT_EQ(kind(root_), ErrorKind::missing);
  EXPECT_EQ(kind(create(root_ / "begun").path()), ErrorKind::missing);
  std::ofstream(root_ / "junk") << "junk";
  EXPECT_EQ(kind(root_ / "junk"), ErrorKind::bad_data);
}

TEST(CompareTensors, CountsUnitsInTheLastPlace) {
  const auto distance = [](SafeTensor x, SafeTensor y) {
    SafeTensors a, b;
    a.tensors = {std::move(x)}, b.tensors = {std::move(y)};
    const auto found = compare_tensors(a, b);
    return found.empty() ? TensorDifference{} : found[0];
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(distance(floats("x", {1}), floats("x", {1})).count, 0u);
  EXPECT_EQ(distance(floats("x", {1}), floats("x", {std::nextafter(1.0f, 0.0f)})).distance, 1u);
  EXPECT_EQ(distance(floats("x", {0.0f}), floats("x", {-0.0f})).distance, 1u);
  EXPECT_EQ(distance(floats("x", {0x1p-149f}), floats("x", {-0x1p-149f})).distance, 3u);
  EXPECT_EQ(distance(floats("x", {infinity}), floats("x", {std::numeric_limits<float>::max()})).distance, 1u);
  EXPECT_EQ(distance(floats("x", {nan}), floats("x", {-nan})).count, 0u);
  EXPECT_EQ(distance(floats("x", {nan}), floats("x", {1})).problem, "NaN against a number");
  EXPECT_EQ(distance(floats("x", {1}), floats("x", {1, 2})).problem, "other shape or type");
  EXPECT_EQ(distance(floats("x", {1}), floats("y", {1})).problem, "only in the first run");
  const auto integers = [](int8_t value) { return SafeTensor{"x", "I8", {1}, {static_cast<std::byte>(value)}}; };
  EXPECT_EQ(distance(integers(-128), integers(127)).distance, 255u);
}

}  // namespace
}  // namespace retrace

#include "retrace/train/run_writer.h"

#include <gtest/gtest.h>

#include "retrace/train/checkpoint_files.h"
#include "retrace/train/weights.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

class RunWriterTest : public testing::Test {
 protected:
  RunWriter writer() { return RunWriter(RunFolder::create(Job{}, current_versions("cpu"), root_ / "run")); }
  static SafeTensors weights(float value) {
    Tree parameters;
    parameters["w"] = Tensor::full(value, {1});
    return to_safetensors(parameters, Tree());
  }
  static EpochFingerprints prints(int epoch) { return {epoch, 7, {{"parameters/w", 7}}}; }
  TemporaryFolder root_;
};

// The newest weights, and every epoch and event in order, are there after flush().
TEST_F(RunWriterTest, WritesEverything) {
  RunWriter run = writer();
  constexpr int kEpochs = 1500;  // more than may wait
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    run.event("{\"epoch\":" + std::to_string(epoch) + "}");
    run.epoch(prints(epoch), weights(static_cast<float>(epoch)));
  }
  run.flush();
  const auto epochs = read_fingerprints(root_ / "run");
  ASSERT_EQ(epochs.size(), size_t{kEpochs});
  for (int epoch = 1; epoch <= kEpochs; ++epoch) EXPECT_EQ(epochs[static_cast<size_t>(epoch - 1)], prints(epoch));
  EXPECT_EQ(read_log_lines(root_ / "run/metrics.jsonl").back(), "{\"epoch\":1500}");
  EXPECT_EQ(read_safetensors(root_ / "run/weights.safetensors").tensors[0].bytes, weights(kEpochs).tensors[0].bytes);
}

// An error is told by the next call that looks for one, and what is needed with it.
TEST_F(RunWriterTest, TellsErrorsOfWriting) {
  RunWriter run = writer();
  EXPECT_NO_THROW(run.check());
  fs::remove_all(root_ / "run");
  run.epoch(prints(1), weights(1));
  try {
    run.flush();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
    EXPECT_NE(std::string(error.what()).find("4 bytes for the weights of epoch 1"), std::string::npos) << error.what();
  }
  EXPECT_THROW(run.check(), Error);
}

// Whoever gives up keeps a run with weights, or with something to go on from, and removes one without: its own files
// alone.
TEST_F(RunWriterTest, GivesUpWhatHasNoWeights) {
  {
    RunWriter run = writer();
    run.epoch(prints(1), weights(1));
    run.give_up();
    EXPECT_TRUE(fs::exists(root_ / "run/weights.safetensors"));
  }
  fs::remove_all(root_ / "run");
  {
    RunWriter run = writer();
    run.checkpoint({.iterations = 3, .snapshot = true, .state = {{"w", Tensor::scalar(1.0f)}}, .owner = {}});
    run.settle();
    run.give_up();
    EXPECT_EQ(states_of(root_ / "run"), std::vector{snapshot_path(root_ / "run", 3)});
  }
  fs::remove_all(root_ / "run");
  {
    RunWriter run = writer();
    run.event("{}");
    write_file_whole(root_ / "run/notes.txt", "mine");
    run.give_up();
  }
  ASSERT_TRUE(fs::exists(root_ / "run/notes.txt"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "run"), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace retrace

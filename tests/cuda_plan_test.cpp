// Plans on a CUDA device, emulated where no other is asked for: chains side by side in one kernel, and launches that
// stay as they are from run to run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "retrace/plan/compile.h"
#include "retrace/plan/cuda/cuda_plan.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/record.h"
#include "retrace/train/job_data.h"
#include "retrace/train/training_step.h"
#include "tests/small_emulation.h"

namespace retrace {
namespace {

std::vector<std::string>& sources() {
  static std::vector<std::string> all;
  return all;
}

int count_of(const std::string& what, const std::string& text) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class CudaPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
    sources().clear();
    CudaPlan::watch_sources([](const std::string& source) { sources().push_back(source); });
  }
  void TearDown() override { CudaPlan::watch_sources(nullptr); }

  // What f makes of tensors on both devices: the same bits. Leaves the plan on the CUDA device as the last one.
  template <class F>
  void expect_same_bits(F f, const std::vector<Tensor>& arguments) {
    std::vector<Tensor> there;
    for (const Tensor& argument : arguments) there.push_back(argument.to(*gpus()[0]));
    plan_cache().clear();
    const std::vector<Tensor> here_made = f(arguments);
    evaluate();
    const std::vector<Tensor> there_made = f(there);
    evaluate();
    const auto plan = last_plan();
    for (size_t i = 0; i < here_made.size(); ++i) EXPECT_EQ(fingerprint(here_made[i]), fingerprint(there_made[i])) << i;
    set_last_plan(plan);
  }
};

Tensor numbers(const Shape& shape, int which) {
  return uniform(shape, random_key(5).split(fmt::format("numbers {}", which)));
}

TEST_F(CudaPlanTest, IndependentChainsAreOneLaunch) {
  // Sizes of one block, of several, of none, and a second body.
  std::vector<Tensor> arguments;
  for (const int64_t size : {3, 700, 256, 1, 0, 513}) arguments.push_back(numbers({size}, static_cast<int>(size)));
  const auto f = [](const std::vector<Tensor>& x) {
    std::vector<Tensor> made;
    for (size_t i = 0; i < x.size(); ++i) made.push_back(i % 3 == 2 ? sqrt(x[i]) + 1.0f : x[i] * x[i] + x[i]);
    return made;
  };
  expect_same_bits(f, arguments);
  EXPECT_EQ(last_plan()->kernel_calls(), 1u);
  ASSERT_EQ(sources().size(), 1u);
  EXPECT_EQ(count_of("RT_DEVICE", sources()[0]), 2) << sources()[0];
  const std::string name = last_plan()->kernel_call_name(0);
  expect_same_bits(f, arguments);
  EXPECT_EQ(last_plan()->kernel_call_name(0), name) << "names come from the content";
}

TEST_F(CudaPlanTest, WhatReadsAChainIsLaunchedLater) {
  const auto f = [](const std::vector<Tensor>& x) {
    const Tensor a = x[0] + 1.0f;                // 4 elements
    const Tensor b = x[1] * reshape(a, {4, 1});  // 4 x 300, reads a
    const Tensor c = x[1] - 2.0f;
    return std::vector{a, b, c};
  };
  expect_same_bits(f, {numbers({4}, 0), numbers({4, 300}, 1)});
  EXPECT_EQ(last_plan()->kernel_calls(), 2u);
}

TEST_F(CudaPlanTest, ChainsWaitForEachOther) {
  const auto f = [](const std::vector<Tensor>& x) {
    const Tensor total = sum(x[0]);                        // call 0: needs no chain
    const Tensor early = total + 1.0f;                     // waits until
    const Tensor product = matmul(x[0], x[1] * 2.0f);      // this needs a chain: call 1 is both, call 2 the product
    const Tensor late = reshape(early, {1, 1}) - product;  // reads a chain through a view: call 3, with
    const Tensor last = x[1] - 3.0f;                       // this
    return std::vector{total, early, product, late, last};
  };
  expect_same_bits(f, {numbers({4, 4}, 0), numbers({4, 4}, 1)});
  EXPECT_EQ(last_plan()->kernel_calls(), 4u);
}

// What counts steps is computed first, although it stands last: its chain goes with another one.
TEST_F(CudaPlanTest, NumbersOfInputsComeFirst) {
  const auto f = [](const std::vector<Tensor>& x) {
    const Tensor shifted = x[0] + 1.0f, squares = matmul(shifted, shifted);
    const Tensor factor = cast(x[1] + Tensor::scalar(int32_t{1}), DType::f32) * 0.5f;
    return std::vector{squares, factor, squares * factor};
  };
  expect_same_bits(f, {numbers({4, 4}, 0), Tensor::scalar(int32_t{6})});
  // The shift and the factor; the product with its multiple.
  EXPECT_EQ(last_plan()->kernel_calls(), 2u);
}

// One chain holds f32, i32, u8 and bool, with the conversions of the CPU between them.
TEST_F(CudaPlanTest, ChainsConvertTypes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto f = [](const std::vector<Tensor>& x) {
    const Tensor whole = cast(x[0], DType::i32), sum = whole + x[1], bytes = cast(x[0] * 0.5f, DType::u8);
    const Tensor low = cast(sum, DType::u8), wrapped = low + bytes;
    const Tensor chosen = where(greater(x[1], whole), x[0], cast(sum, DType::f32));
    const Tensor again = cast(greater(x[0], chosen), DType::i32) * sum;
    return std::vector{whole,
                       sum,
                       bytes,
                       low,
                       wrapped,
                       chosen,
                       again,
                       cast(wrapped, DType::f32) - x[0],
                       cast(wrapped, DType::i32) + cast(bytes, DType::i32)};
  };
  expect_same_bits(
      f, {Tensor::from<float>({1.9f, -1.9f, 300.0f, 3e9f, -3e9f, std::nanf(""), kInfinity, -kInfinity, -0.0f, 0x1p-140f,
                               511.5f, 16777219.0f},
                              {12}),
          Tensor::from<int32_t>({7, -7, 2147483647, 1, -1, 16777217, 255, 256, 0, -2147483647, 3, 5}, {12})});
  EXPECT_EQ(last_plan()->kernel_calls(), 1u) << last_plan()->text();
}

// A thread takes four elements of a large chain, if each four lie side by side in all of its arrays.
TEST_F(CudaPlanTest, LargeChainsTakeFourElementsAtATime) {
  const auto f = [](const std::vector<Tensor>& x) {
    const Tensor shifted = (x[0] - x[1]) * x[2];
    return std::vector{relu(shifted), shifted * x[3] + x[0]};
  };
  for (const auto& [channels, fours] : {std::pair{32, 3}, {1024, 3}, {33, 0}, {2, 0}}) {
    const int64_t rows = (1 << 20) / channels + 3;
    sources().clear();
    expect_same_bits(
        f, {numbers({rows, channels}, 0), numbers({channels}, 1), numbers({1}, 2), numbers({1, channels}, 3)});
    EXPECT_EQ(last_plan()->kernel_calls(), 1u) << last_plan()->text();
    EXPECT_EQ(count_of("load4(", sources().back()), fours) << channels;
  }
}

TEST_F(CudaPlanTest, LargeChainsOfArraysThatAreNotAlignedTakeOneElement) {
  Device& cuda = *gpus()[0];
  constexpr size_t kCount = 1 << 20;
  RecordingScope scope;
  const Tensor input = scope.recording().add_input({DType::f32, {1 << 20}, {}, {}, cuda.id()});
  const std::vector<Tensor> results = {input * input + input};
  const auto plan = make_plan(scope.recording().take_trace(results));
  EXPECT_EQ(count_of("load4(", sources().back()), 1);
  const auto memory = cuda.allocate((2 * kCount + 16) * sizeof(float));
  std::vector<float> values(kCount + 8);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  for (const size_t from : {0, 1, 4, 2}) {
    float* const in = static_cast<float*>(memory->data()) + from;
    float* const out = static_cast<float*>(memory->data()) + kCount + 8;
    cuda.copy_from_host(*memory, values.data(), values.size() * sizeof(float));
    const void* inputs = in;
    void* outputs = out;
    plan->run(&inputs, &outputs);
    std::vector<float> all(2 * kCount + 16);
    cuda.copy_to_host(all.data(), *memory, all.size() * sizeof(float));
    size_t wrong = 0;
    for (size_t i = 0; i < kCount; ++i)
      wrong += all[kCount + 8 + i] != values[from + i] * values[from + i] + values[from + i];
    EXPECT_EQ(wrong, 0u) << from;
  }
}

// Sums, and what is made of them, take such a chain along.
TEST_F(CudaPlanTest, SumsTakeConversionsAlong) {
  std::vector<int32_t> counts(64 * 32);
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<int32_t>(i * 2654435761u);
  const auto f = [](const std::vector<Tensor>& x) {
    const Tensor scaled = cast(x[1] + Tensor::scalar(int32_t{3}), DType::f32) * x[0], total = sum(scaled, {0});
    const Tensor whole = cast(total, DType::i32);
    return std::vector{total, sum(x[2] * cast(whole, DType::f32), {1})};
  };
  expect_same_bits(f, {numbers({64, 32}, 0), Tensor::from(counts, {64, 32}), numbers({4, 32}, 1)});
  EXPECT_EQ(last_plan()->kernel_calls(), 2u) << last_plan()->text();
}

TEST_F(CudaPlanTest, ArgumentsOfAKernelHaveALimit) {
  constexpr int kChains = 300;  // each of three addresses, a number of elements and a first block
  std::vector<Tensor> arguments;
  for (int i = 0; i < kChains; ++i) arguments.push_back(numbers({1 + i % 7}, i));
  const auto f = [](const std::vector<Tensor>& x) {
    std::vector<Tensor> made;
    for (const Tensor& one : x) made.push_back(one * one);
    return made;
  };
  expect_same_bits(f, arguments);
  EXPECT_EQ(last_plan()->kernel_calls(), 3u) << "111 of them fit into 4000 bytes";
}

// Whatever has tensors moves by a text, and reads the same there and back.
TEST_F(CudaPlanTest, EverythingMovesByTheNameOfADevice) {
  const Tensor x = numbers({3, 4}, 0);
  const Tree tree{{"a", x}, {"b", Tree{{"c", numbers({2}, 1)}}}};
  for (const char* name : {"cuda", "gpu", "cuda:0"}) {
    EXPECT_EQ(x.to(name).device().name(), "cuda:0");
    EXPECT_EQ(fingerprint(tree.to(std::string(name)).to("cpu")), fingerprint(tree));
  }
  const AdamState adam = adam_update(tree, tree, {}).state.to("cuda");
  for (const Tensor& tensor : leaf_tensors(to_tree(adam))) EXPECT_EQ(tensor.device().name(), "cuda:0");
  EXPECT_EQ(adam.to("cpu").step.item<int32_t>(), 1);
  EXPECT_EQ(sgdm_update(tree, tree, {}).state.to("cuda").velocity["a"].tensor().device().name(), "cuda:0");
  EXPECT_TRUE(AdamState().to("cuda").mean.empty());
  const nn::Network network = models::peaks(random_key(1)), there = network.to("cuda");
  EXPECT_EQ(there.parameters["linear_1"]["weights"].tensor().device().name(), "cuda:0");
  EXPECT_EQ(fingerprint(there.to("cpu").parameters), fingerprint(network.parameters));
}

// A whole step of the demo's network: state that is moved in stays where it is, so that a replay changes nothing but
// where the loss goes.
TEST_F(CudaPlanTest, AStepWithDonatedStateKeepsItsLaunches) {
  Device& cuda = *gpus()[0];
  const Job job = read_job("tests/golden/1/digits.toml");
  const nn::Network network = models::digits(random_key(1));
  const Tensor x = Tensor::full(0.5, {2, 28, 28, 1}, DType::f32, "BSSC").to(cuda);
  const Tree targets =
      Tree{{"class", Tensor::zeros({2}, DType::i32, "B")}, {"angle", Tensor::zeros({2, 1}, DType::f32, "BC")}}.to(cuda);
  const auto step = accelerate(training_step(job.training, job.seed, network));
  TrainingState state = initial_training_state(network, job.training).to(cuda);
  evaluate();
  const auto addresses = [&] {
    std::vector<const void*> all;
    for (const Tree* tree : {&state.parameters, &state.solver["mean"], &state.solver["mean_square"], &state.state})
      for (const Tensor& tensor : leaf_tensors(*tree)) all.push_back(tensor.value()->buffer->data());
    return all;
  };
  const auto once = [&] {
    auto made = step(std::move(state), x, targets, 0.001f);
    state = std::move(made.after);
    return made.loss;
  };
  for (int i = 0; i < 3; ++i) once();
  const auto plan = last_plan();
  const auto before = addresses();
  const size_t changed = plan->changed_launches();
  for (int i = 0; i < 4; ++i) once();
  EXPECT_EQ(plan->changed_launches(), changed) << "a loss that nobody holds lies where the one before it lay";
  std::vector<Tensor> losses;
  for (int i = 0; i < 4; ++i) losses.push_back(once());
  EXPECT_EQ(last_plan(), plan);
  EXPECT_EQ(addresses(), before);
  EXPECT_EQ(plan->changed_launches() - changed, 3u) << "the launch that makes a loss which is kept: all but the first";
}

TEST_F(CudaPlanTest, OnlyWhatReadsAnotherAddressIsChanged) {
  Device& cuda = *gpus()[0];
  const auto f = accelerate([](const Tensor& a, const Tensor& b) {
    const Tensor first = matmul(a, a), second = matmul(b, b);
    return std::pair(sum(first), sum(second));
  });
  const Tensor a = numbers({8, 8}, 0).to(cuda), b = numbers({8, 8}, 1).to(cuda), c = numbers({8, 8}, 2).to(cuda);
  std::vector<std::pair<Tensor, Tensor>> kept;  // so that results lie elsewhere in every call
  const auto changed_by = [&](const Tensor& x, const Tensor& y) {
    const size_t before = last_plan()->changed_launches();
    kept.push_back(f(x, y));
    return last_plan()->changed_launches() - before;
  };
  kept.push_back(f(a, b));
  ASSERT_EQ(last_plan()->kernel_calls(), 4u);
  kept.push_back(f(a, b));
  EXPECT_EQ(changed_by(a, b), 2u) << "both results";
  EXPECT_EQ(changed_by(a, c), 3u) << "and one product";
  EXPECT_EQ(kept.back().second.item<float>(), f(c, c).first.item<float>());
}

TEST_F(CudaPlanTest, EachLaunchIsTimed) {
  Device& cuda = *gpus()[0];
  const auto f = accelerate([](const Tensor& x) { return sum(matmul(x, x) + 1.0f); });
  const Tensor x = numbers({64, 64}, 0).to(cuda);
  const float expected = f(x).item<float>();
  const size_t launches = last_plan()->kernel_calls();
  std::vector<double> seconds;
  Plan::time_kernel_calls(&seconds);
  const float first = f(x).item<float>();
  const std::vector<double> once = seconds;
  const float second = f(x).item<float>();
  Plan::time_kernel_calls(nullptr);
  f(x).item<float>();
  EXPECT_EQ(first, expected);
  EXPECT_EQ(second, expected);
  ASSERT_EQ(once.size(), launches);
  ASSERT_EQ(seconds.size(), launches);
  for (size_t i = 0; i < launches; ++i) {
    EXPECT_GT(once[i], 0) << last_plan()->kernel_call_name(i);
    EXPECT_GT(seconds[i], once[i]) << "added up";
  }
}

// Plans of a thread share the memory of their intermediates: a larger one moves it, and smaller ones follow.
TEST_F(CudaPlanTest, PlansOfAThreadShareAnArena) {
  Device& cuda = *gpus()[0];
  const auto f = accelerate([](const Tensor& x) { return sum(matmul(matmul(x, x), x)); });
  std::vector<Tensor> arguments;
  std::vector<float> expected;
  for (int size : {16, 48, 32, 64}) {
    arguments.push_back(numbers({size, size}, size).to(cuda));
    expected.push_back(f(arguments.back()).item<float>());
  }
  const auto plan = last_plan();
  EXPECT_GE(plan->arena_bytes(), 2u * 64 * 64 * sizeof(float));
  for (int turn = 0; turn < 3; ++turn) {
    for (size_t i = 0; i < arguments.size(); ++i) EXPECT_EQ(f(arguments[i]).item<float>(), expected[i]) << turn;
    const size_t changed = plan->changed_launches();
    f(arguments.back()).item<float>();
    EXPECT_LE(plan->changed_launches() - changed, 1u) << "the arena stays where it is: only the result moves";
  }
  // Another thread has one of its own.
  std::thread([&] {
    const auto g = accelerate([](const Tensor& x) { return sum(matmul(matmul(x, x), x)); });
    for (int turn = 0; turn < 2; ++turn)
      for (size_t i = 0; i < arguments.size(); ++i) EXPECT_EQ(g(arguments[i]).item<float>(), expected[i]);
  }).join();
  EXPECT_EQ(f(arguments[0]).item<float>(), expected[0]);
}

// An op may take another kernel where its arguments are not aligned: the launches are made anew.
TEST_F(CudaPlanTest, AnotherAlignmentMayNeedOtherKernels) {
  Device& cuda = *gpus()[0];
  RecordingScope scope;
  const Tensor input = scope.recording().add_input({DType::f32, {2, 8}, {}, {}, cuda.id()});
  const std::vector<Tensor> results = {concatenate({input, input}, 1)};
  const auto plan = make_plan(scope.recording().take_trace(results));
  const auto memory = cuda.allocate(64 * sizeof(float));
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  cuda.copy_from_host(*memory, values.data(), 64 * sizeof(float));
  for (const size_t from : {0, 1, 4, 3}) {
    const void* in = static_cast<float*>(memory->data()) + from;
    void* out = static_cast<float*>(memory->data()) + 32;
    plan->run(&in, &out);
    std::vector<float> made(64);
    cuda.copy_to_host(made.data(), *memory, 64 * sizeof(float));
    for (size_t i = 0; i < 32; ++i) EXPECT_EQ(made[32 + i], values[from + i / 16 * 8 + i % 8]) << from << ", " << i;
  }
}

// add has a kernel, but none for doubles: one form of text, whether or not the op is pointwise.
TEST_F(CudaPlanTest, WhatHasNoKernelForDoublesSaysSo) {
  Device& cuda = *gpus()[0];
  const Tensor x = Tensor::zeros({4, 4}, DType::f64).to(cuda);
  const auto text = [](const auto& f) -> std::string {
    try {
      f().template to_vector<double>();
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const Place place{"model.cpp", 7};
  const std::string rest =
      " has no CUDA kernel for f64\n"
      "  where:    model.cpp:7\n"
      "  help:     compute this part on the CPU: x.to(\"cpu\"), or use f32";
  EXPECT_EQ(text([&] { return add(x, x, place); }), "error[RT0620]: add" + rest);
  EXPECT_EQ(text([&] { return sum(x, {}, {}, place); }), "error[RT0620]: sum" + rest);
  EXPECT_EQ(text([&] { return matmul(x, x, {}, place); }), "error[RT0620]: matmul" + rest);
}

TEST_F(CudaPlanTest, WhyTellsOfEachCall) {
  const Tensor x = numbers({64, 8}, 1).to(*gpus()[0]), w = numbers({8, 4}, 2).to(*gpus()[0]);
  plan_cache().clear();
  const Tensor y = relu(matmul(x, w)), total = sum(y);
  evaluate();
  const std::string why = last_plan()->why();
  const auto says = [&](const char* part) { EXPECT_NE(why.find(part), std::string::npos) << part << "\n" << why; };
  says("\ncall 0\n    matmul                 f32[64,4]");
  EXPECT_LT(why.find("\n    relu                   f32[64,4]"), why.find("\ncall 1\n")) << why;
  says(" for the caller, call 1\n");
  says("\ncall 1\n    sum                    f32[]");
  says(" of call 0 (matmul): what reads it is not pointwise\n");
}

}  // namespace
}  // namespace retrace

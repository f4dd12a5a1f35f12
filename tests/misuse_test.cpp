// Mistakes that a program can make: each is an Error with the line that made it, and a remedy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "retrace/base/sanitizers.h"
#include "retrace/retrace.h"
#include "retrace/trace/record.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

std::string here(int line) { return fmt::format("misuse_test.cpp:{}", line); }
Tensor one() { return Tensor::from<float>({1}, {1}); }

// -- numbers that do not fit --------------------------------------------------------------------------------------

TEST(Misuse, NumbersThatAnIntegerTensorDoesNotHave) {
  const double large = 1e30, nan = std::nan("");
  const auto refused = [](const std::string& error, const char* number, const char* type) {
    EXPECT_TRUE(says(error, fmt::format("error[RT0108]: the number {} does not fit the type {}\n", number, type)));
    EXPECT_TRUE(says(error, "misuse_test.cpp"));
  };
  refused(error_of([&] { Tensor::full(nan, {1}, DType::i32); }), "nan", "i32");
  refused(error_of([&] { Tensor::full(large, {1}, DType::i32); }), "1e+30", "i32");
  refused(error_of([&] { Tensor::full(-1, {1}, DType::u8); }), "-1", "u8");
  refused(error_of([&] { Tensor::full(256, {1}, DType::u8); }), "256", "u8");
  refused(error_of([&] { Tensor::full(2.5, {1}, DType::i32); }), "2.5", "i32");
  refused(error_of([&] { Tensor::full(2, {1}, DType::boolean); }), "2", "bool");
  refused(error_of([&] { Tensor::from<int64_t>({1, 3'000'000'000}, {2}); }), "3000000000", "i32");
  refused(error_of([&] { Tensor::scalar(int64_t{1} << 40); }), "1099511627776", "i32");
  const int line = __LINE__ + 1;
  const std::string whole = error_of([] { Tensor::full(-1, {1}, DType::u8); });
  EXPECT_EQ(whole, "error[RT0108]: the number -1 does not fit the type u8\n  where:    " + here(line) +
                       "\n  expected: whole numbers from 0 to 255");
  EXPECT_EQ(Tensor::full(-2147483648.0, {1}, DType::i32).item<int32_t>(), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Tensor::full(255, {1}, DType::u8).item<uint8_t>(), 255);
  EXPECT_EQ(Tensor::full(1e30, {1}).item<float>(), 1e30f);
}

TEST(Misuse, NumbersBesideAnIntegerTensor) {
  const Tensor i = Tensor::from<int32_t>({1, 2}, {2}), image = Tensor::from<uint8_t>({10, 255}, {2});
  const int line = __LINE__ + 1;
  const std::string large = error_of([&] { i + (int64_t{1} << 31); });
  EXPECT_TRUE(says(large, "the number 2147483648 does not fit the type i32\n  where:    " + here(line)));
  EXPECT_TRUE(says(error_of([&] { image + 256; }), "the number 256 does not fit the type u8"));
  EXPECT_TRUE(says(error_of([&] { image - (-1); }), "the number -1 does not fit the type u8"));
  for (const std::string& error : {error_of([&] { i + 1e30; }), error_of([&] { i * 0.5; }),
                                   error_of([&] { image / 255.0; }), error_of([&] { 2.0f * i; })}) {
    EXPECT_TRUE(says(error, "error[RT0109]: a float is used with a tensor of type "));
    EXPECT_TRUE(says(error, "misuse_test.cpp"));
    EXPECT_TRUE(says(error, "cast(x, DType::f32)"));
  }
  // The remedy, and whole numbers.
  EXPECT_EQ((cast(image, DType::f32) / 255.0).to_vector<float>(), (Floats{10 / 255.0f, 1}));
  EXPECT_EQ((i * 3).to_vector<int32_t>(), (std::vector<int32_t>{3, 6}));
  // At all three speeds alike.
  const auto half = accelerate([](const Tensor& x, const Operand& by) { return x * by; });
  EXPECT_TRUE(says(error_of([&] { half(i, 0.5f); }), "RT0109"));
  EXPECT_EQ(half(i, 2).to_vector<int32_t>(), (std::vector<int32_t>{2, 4}));
}

TEST(Misuse, Int64GoesInAndOut) {
  const Tensor labels = Tensor::from(std::vector<int64_t>{3, -4, 5}, {3}, "B");
  EXPECT_EQ(labels.spec().text(), "i32[3] \"B\"");
  EXPECT_EQ(labels.to_vector<int64_t>(), (std::vector<int64_t>{3, -4, 5}));
  EXPECT_EQ(Tensor::from<uint8_t>({200, 1}, {2}).to_vector<int64_t>(), (std::vector<int64_t>{200, 1}));
  EXPECT_EQ(Tensor::from<bool>({true, false}, {2}).to_vector<int64_t>(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(Tensor::from(std::vector<bool>{true, false}, {2}).type(), DType::boolean);
  EXPECT_EQ(Tensor::scalar(int64_t{7}).item<int64_t>(), 7);
  EXPECT_TRUE(
      says(error_of([] { one().to_vector<int64_t>(); }), "values of type int64 are asked of a tensor of type f32"));
}

// -- tensors that hold nothing ------------------------------------------------------------------------------------

TEST(Misuse, AMovedTensorSaysSo) {
  Tensor x = one();
  const Tensor y = std::move(x);
  EXPECT_FALSE(x.defined());
  const int line = __LINE__ + 1;
  const std::string asked = error_of([&] { x.shape(); });
  const std::string added = error_of([&] { x + y; });
  EXPECT_EQ(asked, "error[RT0129]: a tensor is used whose value was moved away\n  where:    " + here(line) +
                       "\n  help:     pass a copy in place of std::move(x): copies share their value");
  EXPECT_TRUE(says(added, "moved away\n  where:    " + here(line + 1)));
  x = y;
  EXPECT_EQ(x.item<float>(), 1);
  Tensor never;
  const Tensor nothing = std::move(never);
  EXPECT_TRUE(says(error_of([&] { never.item<float>(); }), "RT0104"));
}

TEST(Misuse, EveryOpTellsTheLineOfAnUndefinedTensor) {
  const Tensor none;
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"abs", [&] { abs(none); }},
      {"add", [&] { add(one(), none); }},
      {"argmax", [&] { argmax(none); }},
      {"average_pool2d", [&] { average_pool2d(none, 2); }},
      {"batch_norm", [&] { batch_norm(none, one(), one()); }},
      {"broadcast", [&] { broadcast(none, {2}); }},
      {"cast", [&] { cast(none, DType::f64); }},
      {"clipped_relu", [&] { clipped_relu(none, 1.0f); }},
      {"concatenate", [&] { concatenate(std::vector<Tensor>{one(), none}, 0); }},
      {"conv2d x", [&] { conv2d(none, one()); }},
      {"conv2d weights", [&] { conv2d(Tensor::zeros({1, 4, 4, 1}), none); }},
      {"cross_entropy", [&] { cross_entropy(none, one()); }},
      {"cross_entropy t", [&] { cross_entropy(one(), none); }},
      {"exp", [&] { exp(none); }},
      {"flatten", [&] { flatten(none); }},
      {"gather_rows", [&] { gather_rows(none, one()); }},
      {"global_average_pool2d", [&] { global_average_pool2d(none); }},
      {"half_mean_squared_error", [&] { half_mean_squared_error(none, one()); }},
      {"less", [&] { less(one(), none); }},
      {"linear", [&] { linear(none, one()); }},
      {"linear weights", [&] { linear(one(), none); }},
      {"linear bias", [&] { linear(Tensor::zeros({1, 1}), Tensor::zeros({1, 1}), none); }},
      {"log", [&] { log(none); }},
      {"matmul", [&] { matmul(none, one()); }},
      {"matmul b", [&] { matmul(Tensor::zeros({1, 1}), none); }},
      {"max", [&] { max(none); }},
      {"max_pool2d", [&] { max_pool2d(none, 2); }},
      {"mean", [&] { mean(none); }},
      {"mean_squared_error", [&] { mean_squared_error(none, one()); }},
      {"moments", [&] { moments(none); }},
      {"negate", [&] { negate(none); }},
      {"minus", [&] { -none; }},
      {"one_hot", [&] { one_hot(none, 3); }},
      {"one_hot_decode", [&] { one_hot_decode(none); }},
      {"operator", [&] { 1.0f + none; }},
      {"pad", [&] { pad(none, {2}); }},
      {"relu", [&] { relu(none); }},
      {"reshape", [&] { reshape(none, {1}); }},
      {"scatter_rows", [&] { scatter_rows(none, one(), 1); }},
      {"slice", [&] { slice(none, {.begin = {0}, .end = {1}}); }},
      {"softmax", [&] { softmax(none); }},
      {"softmax_cross_entropy", [&] { softmax_cross_entropy(none, one()); }},
      {"stop_gradient", [&] { stop_gradient(none); }},
      {"sum", [&] { sum(none); }},
      {"transpose", [&] { transpose(none); }},
      {"transposed_conv2d", [&] { transposed_conv2d(none, one()); }},
      {"variance", [&] { variance(none); }},
      {"where", [&] { where(none, one(), one()); }},
      {"gradients", [&] { gradients(one(), std::vector<Tensor>{none}); }},
      {"to", [&] { none.to(cpu_device()); }},
      {"labels", [&] { none.labels(); }},
      {"text_of", [&] { text_of(none); }},
      {"fingerprint", [&] { none.data(); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string error = error_of(call);
    EXPECT_TRUE(says(error, "error[RT0104]: ")) << name;
    EXPECT_TRUE(says(error, "misuse_test.cpp")) << name;
  }
}

// -- the line of the mistake ---------------------------------------------------------------------------------------

TEST(Misuse, TensorsAreMadeAtTheUsersLine) {
  const auto at_line = [](const std::string& error, int code, int line) {
    EXPECT_TRUE(says(error, fmt::format("error[RT{:04}]", code)));
    EXPECT_TRUE(says(error, "where:    " + here(line)));
  };
  const int64_t huge = int64_t{1} << 39;
  at_line(error_of([] { Tensor::zeros({1, 1}, DType::f32, "B"); }), 112, __LINE__);
  at_line(error_of([] { Tensor::full(1, {2, -1}); }), 102, __LINE__);
  at_line(error_of([&] { Tensor::zeros({huge, huge}); }), 107, __LINE__);
  at_line(error_of([] { Tensor::zeros({1}, DType::f32, "X"); }), 110, __LINE__);
  at_line(error_of([] { Tensor::from<float>({1}, {1, 1}, "BB"); }), 111, __LINE__);
  at_line(error_of([] { Tensor::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}); }), 101, __LINE__);
  at_line(error_of([] { one().relabelled("Q"); }), 110, __LINE__);
  at_line(error_of([&] { reshape(one(), {huge, huge}); }), 107, __LINE__);
  at_line(error_of([&] { broadcast(one(), {huge, huge}); }), 107, __LINE__);
  at_line(error_of([&] { broadcast(one(), {huge, 1}) + broadcast(one(), {1, huge}); }), 107, __LINE__);
  at_line(error_of([] { one().to_vector<int32_t>(); }), 105, __LINE__);
  at_line(error_of([] { Shape().back(); }), 127, __LINE__);
  at_line(error_of([] { sum(one(), "X"); }), 110, __LINE__);
  at_line(error_of([] { sum(one(), "C"); }), 115, __LINE__);
  at_line(error_of([] { mean(one(), {0, 0}); }), 137, __LINE__);
  at_line(error_of([] { softmax(Tensor::zeros({2, 2}), {0, 1}); }), 114, __LINE__);
  at_line(error_of([] { one().to("tpu"); }), 602, __LINE__);
  at_line(error_of([] { Tree(one()).to("cuda:x"); }), 602, __LINE__);
  at_line(error_of([] { Pool::local(0); }), 617, __LINE__);
  at_line(error_of([] { Pool::local(1, {.timeout = -1}); }), 619, __LINE__);
  at_line(error_of([] { learn_rate(-0.1); }), 187, __LINE__);
  at_line(error_of([] { update_statistics({}, {}, {.mean_decay = -0.1}); }), 145, __LINE__);
  at_line(error_of([] { datasets::make_digits(Split::train, {.count = -1}); }), 309, __LINE__);
  at_line(error_of([] { datasets::peaks(Split::train, 1); }), 319, __LINE__);
  at_line(error_of([] { nn::linear(3).forward(one(), {}, {}, Phase::inference); }), 193, __LINE__);
  at_line(error_of([] { nn::linear(3).initial(random_key(1)); }), 191, __LINE__);
  at_line(error_of([] { value_and_grad([](const Tensor& x) { return x; }, {.shards = 0})(one()); }), 221, __LINE__);
  at_line(error_of([] { value_and_grad([](const Tensor& x) { return x; }, {.shards = 2})(one()); }), 224, __LINE__);
}

TEST(Misuse, ShapesInAnErrorAreThoseThatWereGiven) {
  const Tensor a = Tensor::from<float>({1, 2, 3}, {3}, "C"), b = Tensor::zeros({2, 4}, DType::f32, "BC");
  EXPECT_TRUE(says(error_of([&] { a + b; }), "got:      f32[3] \"C\" and f32[2,4] \"BC\""));
}

TEST(Misuse, MemoryThatThereIsNot) {
#if RT_SANITIZED
  GTEST_SKIP() << "sanitizers end a process that asks for so much";
#endif
  const Shape large{int64_t{1} << 40};
  const int line = __LINE__ + 1;
  const std::string error = error_of([&] { Tensor::zeros(large); });
  EXPECT_TRUE(
      says(error, "error[RT0128]: there is not enough memory for 4398046511104 bytes\n  where:    " + here(line)));
  EXPECT_TRUE(says(error, "got:      f32[1099511627776]"));
  const Tensor stretched = broadcast(one(), large);
  EXPECT_TRUE(says(error_of([&] { evaluate(stretched); }), "there is not enough memory for 4398046511104 bytes"));
  try {
    Tensor::zeros(large);
  } catch (const Error& failure) {
    EXPECT_EQ(exit_code(failure.kind()), 69);
  }
  EXPECT_EQ((one() + one()).item<float>(), 2);  // the thread goes on
}

// -- functions ------------------------------------------------------------------------------------------------------

TEST(Misuse, AParameterWithoutAGradientIsNamed) {
  const auto step = value_and_grad([](const Tree& p) { return sum(p["net"]["w"].tensor()); });
  const Tree parameters{{"net", Tree{{"table", Tensor::from<int32_t>({1}, {1})}, {"w", one()}}}};
  const std::string error = error_of([&] { step(parameters); });
  EXPECT_TRUE(says(error, "error[RT0232]: the parameter \"net/table\" is no float tensor: it has no gradient"));
  EXPECT_TRUE(says(error, "where:    " + here(__LINE__ - 4)));
  EXPECT_TRUE(says(
      error_of([] { value_and_grad([](const Tensor& i) { return sum(cast(i, DType::f32)); })(Tensor::scalar(1)); }),
      "the parameter is no float tensor"));
}

TEST(Misuse, RecursionWithoutAnEnd) {
  std::function<Tensor(const Tensor&, int)> again;
  auto f = accelerate([&](const Tensor& x, int depth) -> Tensor { return again(x, depth + 1); });
  again = f;
  const std::string error = error_of([&] { f(one(), 0); });
  EXPECT_TRUE(says(error, "error[RT0207]: 256 recorded functions are called inside one another"));
  EXPECT_TRUE(says(error, "where:    " + here(__LINE__ - 4)));
  auto plain = f;
  plain.set_enabled(false);
  again = plain;
  EXPECT_TRUE(says(error_of([&] { plain(one(), 0); }), "RT0207"));
  std::function<Tensor(const Tensor&)> deeper;
  const auto g = [&](const Tensor& x) { return deeper(x); };
  deeper = [&](const Tensor& x) { return value_and_grad(g)(x).value; };
  EXPECT_TRUE(says(error_of([&] { deeper(one()); }), "RT0207"));
  // An end within the bound is fine, and so is what comes after an error.
  again = [&](const Tensor& x, int depth) { return depth > 100 ? x : f(x, depth); };
  plain.set_enabled(true);
  f.clear_cache();
  EXPECT_EQ(f(one(), 0).item<float>(), 1);
}

TEST(Misuse, ANumberInTheDefinitionOfAnOp) {
  static const Op& twice =
      *new Op{.name = "misuse_twice",
              .infer = [](const InferCall& call) { return std::vector<TensorSpec>{call.inputs[0]}; },
              .lower = [](const LowerCall& call) { return std::vector<Tensor>{call.inputs[0] * 2.0f}; }};
  const Tensor y = record_one(twice, {}, {one()}, Place::here());
  const std::string error = error_of([&] { y.item<float>(); });
  EXPECT_TRUE(says(error, "error[RT0208]: the definition of misuse_twice makes a tensor from numbers"));
  EXPECT_TRUE(says(error, "where:    " + here(__LINE__ - 3)));
  static const Op& good =
      *new Op{.name = "misuse_good",
              .infer = [](const InferCall& call) { return std::vector<TensorSpec>{call.inputs[0]}; },
              .lower = [](const LowerCall& call) { return std::vector<Tensor>{call.inputs[0] * 2}; }};
  EXPECT_EQ(record_one(good, {}, {one()}, Place::here()).item<float>(), 2);
}

TEST(Misuse, TreesWithAnotherNumberOfLeaves) {
  const Tree tree{{"a", one()}, {"b", one()}};
  const int line = __LINE__ + 1;
  const std::string error = error_of([&] { with_leaves(tree, std::vector<Tensor>{one()}); });
  EXPECT_TRUE(says(error, "error[RT0126]: with_leaves: 1 tensors for a tree with 2 leaves\n  where:    " + here(line)));
}

TEST(Misuse, RatesThatAreNoRates) {
  const Tree p{{"w", one()}};
  for (const double rate : {-0.1, std::nan(""), static_cast<double>(INFINITY)}) {
    const int line = __LINE__ + 1;
    const std::string adam = error_of([&] { adam_update(p, p, {}, {.learn_rate = rate}); });
    EXPECT_TRUE(
        says(adam, fmt::format("error[RT0182]: adam_update: learn_rate is {}\n  where:    {}", rate, here(line))));
    EXPECT_TRUE(says(error_of([&] { sgdm_update(p, p, {}, {.learn_rate = rate}); }), "sgdm_update: learn_rate is"));
    EXPECT_TRUE(says(error_of([&] { clip_gradients(p, rate); }), "clip_gradients: threshold is"));
    EXPECT_TRUE(says(error_of([&] { l2_regularization(p, p, rate); }), "l2_regularization: factor is"));
  }
  EXPECT_TRUE(says(error_of([&] { adam_update(p, p, {}, {.epsilon = INFINITY}); }), "epsilon is inf"));
  EXPECT_EQ(sgdm_update(p, p, {}, {.learn_rate = 0.0f}).parameters["w"].tensor().item<float>(), 1);
}

TEST(Misuse, StridesNearTheEndOfTheNumbers) {
  const Tensor x = Tensor::zeros({1, 2, 2, 1}), w = Tensor::zeros({2, 2, 1, 1});
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(says(error_of([&] { transposed_conv2d(x, w, {.stride = most}); }), "RT0158"));
  EXPECT_TRUE(
      says(error_of([&] { transposed_conv2d(x, w, {.cropping = Padding{most, most, most, most}}); }), "RT0158"));
}

// -- devices ----------------------------------------------------------------------------------------------------------

TEST(Misuse, Devices) {
  EXPECT_TRUE(says(error_of([] { device_at(100); }), "error[RT0601]: device number 100 is not available"));
  const int line = __LINE__ + 1;
  const std::string negative = error_of([] { device_at(-1); });
  EXPECT_TRUE(says(negative, "where:    " + here(line)));
  EXPECT_TRUE(says(error_of([] { find_device("auto", -5); }), "error[RT0608]: a device is asked for worker -5"));
  const std::string unknown = error_of([] { find_device("cpv"); });
  EXPECT_TRUE(says(unknown, "where:    " + here(__LINE__ - 1)));
  for (const char* name : {"gpu", "gpu:1", "gpu:0,2"}) EXPECT_TRUE(is_device_name(name)) << name;
  for (const char* name : {"gpus", "gpu1", "gpu:", "gpu:x", "GPU"}) EXPECT_FALSE(is_device_name(name)) << name;
  if (can_use_gpu()) {
    EXPECT_EQ(find_device("gpu").name(), find_device("cuda").name());
    EXPECT_EQ(find_device("gpu:0").name(), "cuda:0");
  } else {
    const std::string error = error_of([] { find_device("gpu"); });
    EXPECT_TRUE(says(error, "error[RT0601]: device cuda is not available"));
    EXPECT_FALSE(says(error, "--device"));
  }
}

// -- sources of data --------------------------------------------------------------------------------------------------

struct ShortSource : DataSource {
  int64_t from = 0;  // the first observation with a variable less
  bool undefined = false, surplus = false;
  int64_t size() const override { return 6; }
  int variables() const override { return 2; }
  Observation get(int64_t index, int64_t) const override {
    if (index < from) return {one(), one()};
    if (undefined) return {one(), Tensor()};
    return surplus ? Observation{one(), one(), one()} : Observation{one()};
  }
};

TEST(Misuse, SourcesThatGiveOtherTensors) {
  for (const int64_t from : {0, 1, 5})
    for (const int kind : {0, 1, 2}) {
      const auto source = std::make_shared<ShortSource>();
      source->from = from, source->undefined = kind == 1, source->surplus = kind == 2;
      const Datastore store(source);
      const std::string name = "ShortSource";
      const auto refused = [&](const std::string& error) {
        EXPECT_TRUE(says(error, "error[RT0317]: the source "));
        EXPECT_TRUE(says(error, "ShortSource"));
        EXPECT_TRUE(says(error, kind == 1 ? "variable 1" : kind == 2 ? "returned 3 tensors" : "returned 1 tensors"));
        EXPECT_TRUE(says(error, "misuse_test.cpp")) << error;
      };
      const auto drain = [](const Datastore& of) {
        MiniBatchQueue queue(of, {.mini_batch_size = 2});
        while (queue.has_data()) queue.next();
      };
      const auto drain_function = [](const Datastore& of) {
        MiniBatchQueue queue(
            of, {.mini_batch_size = 2, .mini_batch_function = [](const std::vector<std::vector<Tensor>>& lists) {
                   return std::vector<Tensor>{lists[0][0], lists[1][0]};
                 }});
        while (queue.has_data()) queue.next();
      };
      refused(error_of([&] { store.read_all(); }));
      refused(error_of([&] { store.get(5); }));
      refused(error_of([&] { Datastore(store).read(6); }));
      refused(error_of([&] { drain(store); }));
      refused(error_of([&] { drain_function(store); }));
      refused(error_of([&] { drain(store.subset({5, 0, 1})); }));
      refused(error_of([&] { drain(store.shuffle(1)); }));
      refused(error_of([&] { drain(store.partition(1, 0)); }));
      refused(error_of([&] { drain(combine({store, store})); }));
      refused(error_of([&] { drain(combine({store, store}, CombineOrder::sequential)); }));
      refused(error_of([&] { drain(transform(store, [](const Observation& o, TransformContext&) { return o; })); }));
    }
}

struct BadGather : ShortSource {
  int wrong = 0;
  Observation get(int64_t, int64_t) const override { return {one(), one()}; }
  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t, int) const override {
    const auto rows = static_cast<int64_t>(indices.size());
    if (wrong == 0) return {Tensor::zeros({rows, 1})};
    if (wrong == 1) return {Tensor::zeros({rows, 1}), Tensor::zeros({rows + 1, 1})};
    return {Tensor::zeros({rows, 1}), Tensor::scalar(1.0f)};
  }
};

TEST(Misuse, SourcesThatGatherOtherTensors) {
  for (const int wrong : {0, 1, 2}) {
    const auto source = std::make_shared<BadGather>();
    source->wrong = wrong;
    const std::string error = error_of([&] { MiniBatchQueue(Datastore(source)).next(); });
    EXPECT_TRUE(says(error, "error[RT0317]: the source ")) << wrong;
    EXPECT_TRUE(says(error, "BadGather")) << wrong;
    EXPECT_TRUE(says(error, "where:    " + here(__LINE__ - 3))) << wrong;
  }
}

TEST(Misuse, StoresWithoutSourceAndWithoutEnd) {
  const int line = __LINE__ + 1;
  const std::string none = error_of([] { Datastore{nullptr}; });
  EXPECT_TRUE(says(none, "error[RT0317]: a datastore is made without a source\n  where:    " + here(line)));
  Datastore store = array_store({Tensor::zeros({2, 1})});
  const std::string error = error_of([&] {
    for (int i = 0; i < 20'000; ++i)
      store = transform(store, [](const Observation& o, TransformContext&) { return o; });
  });
  EXPECT_TRUE(says(error, "more than 1000 stores lie on each other"));
  EXPECT_EQ(store.read_all().size(), 2u);  // as deep as it may be
  EXPECT_TRUE(says(error_of([&] {
                     for (int i = 0; i < 2000; ++i) store = store.subset({0, 1});
                   }),
                   "RT0317"));
}

TEST(Misuse, ObservationsThatCannotBeStacked) {
  struct Growing : ShortSource {
    Observation get(int64_t index, int64_t) const override { return {one(), Tensor::zeros({1 + index / 3})}; }
  };
  MiniBatchQueue queue(Datastore(std::make_shared<Growing>()), {.mini_batch_size = 6});
  const std::string error = error_of([&] { queue.next(); });
  EXPECT_TRUE(says(error, "got:      variable 1: f32[1] and f32[2]"));
  EXPECT_TRUE(says(error, "where:    " + here(__LINE__ - 2)));
}

}  // namespace
}  // namespace retrace

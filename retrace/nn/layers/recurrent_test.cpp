// lstm and gru as layers.
#include <gtest/gtest.h>

#include "retrace/nn/analyze.h"
#include "retrace/nn/layers/gru.h"
#include "retrace/nn/layers/lstm.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/gru/gru.h"
#include "retrace/ops/lstm/lstm.h"
#include "retrace/ops/slice/slice.h"
#include "tests/error_testing.h"

namespace retrace::nn {
namespace {

const Shape kSample{4, 3};

Tensor sequence() {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i) values.push_back(static_cast<float>(i * 7 % 11) / 4 - 1);
  return Tensor::from<float>(values, {2, 4, 3});
}

TEST(Recurrent, TheLayerIsTheOp) {
  const Tensor x = sequence();
  const auto layer = lstm(5);
  const auto [p, state] = layer.initial(kSample, random_key(1));
  const Tree& own = p["lstm_1"];
  EXPECT_EQ(own["bias"].tensor().to_vector<float>(),
            (std::vector<float>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  const Tensor y = layer.forward(x, p, state, Phase::train).y.tensor();
  EXPECT_EQ(y.shape(), (Shape{2, 4, 5}));
  const Tensor expected =
      retrace::lstm(x, {own["weights"].tensor(), own["recurrent_weights"].tensor(), own["bias"].tensor()}).y;
  EXPECT_EQ(y.to_vector<float>(), expected.to_vector<float>());
  const auto last = lstm(5, {.last = true});
  EXPECT_EQ(last.forward(x, p, state, Phase::train).y.tensor().to_vector<float>(), select(y, 1, -1).to_vector<float>());
}

// The second direction is that of the reversed sequence, with parameters of its own.
TEST(Recurrent, GoesBothWays) {
  const Tensor x = sequence();
  const auto layer = gru(2, {.bidirectional = true});
  const auto [p, state] = layer.initial(kSample, random_key(1));
  const Tensor y = layer.forward(x, p, state, Phase::train).y.tensor();
  ASSERT_EQ(y.shape(), (Shape{2, 4, 4}));
  const auto direction = [&](const char* name, const Tensor& of) {
    const Tree& own = p["gru_1"][name];
    return retrace::gru(of, {own["weights"].tensor(), own["recurrent_weights"].tensor(), own["bias"].tensor(),
                             own["recurrent_bias"].tensor()})
        .y;
  };
  std::vector<Tensor> turned;
  for (int t = 3; t >= 0; --t) turned.push_back(select(x, 1, t));
  const Tensor back = direction("backward", stack(turned, 1));
  EXPECT_EQ(slice(y, 2, {0, 2}).to_vector<float>(), direction("forward", x).to_vector<float>());
  for (int t = 0; t < 4; ++t)
    EXPECT_EQ(slice(select(y, 1, t), 1, {2, 4}).to_vector<float>(), select(back, 1, 3 - t).to_vector<float>());
  const auto last = gru(2, {.last = true, .bidirectional = true});
  const Tensor end = last.forward(x, p, state, Phase::train).y.tensor();
  EXPECT_EQ(slice(end, 1, {2, 4}).to_vector<float>(), select(back, 1, 3).to_vector<float>());
}

TEST(Recurrent, RefusesWhatIsNoSequence) {
  EXPECT_TRUE(says(error_of([] { lstm(5).initial({3}, random_key(1)); }), "RT0243]: lstm: x is no sequence"));
}

}  // namespace
}  // namespace retrace::nn

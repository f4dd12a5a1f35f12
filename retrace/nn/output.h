#pragma once
// What a network makes, and what it is trained towards.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/tensor/tree.h"

namespace retrace::nn {

// What an output means, and with it what its target looks like.
enum class OutputKind {
  class_scores,     // [n,classes], probabilities; the target is the number of the class: i32 or u8, [n] "B"
  position_scores,  // [n,length,classes], probabilities at each position; the targets are i32 or u8, [n,length] "BT"
  image,            // [n,height,width,channels]; the target has the same shape, "BSSC"
  pixel_scores,     // [n,height,width,classes], probabilities at each pixel; the targets are i32 or u8,
                    // [n,height,width,1] "BSSC", -1 where a pixel does not count
  values,           // [n,features]; the target has the same shape, "BC"
  series_scores,    // as position_scores, of series of different lengths: behind their ends targets are -1
  series_values,    // [n,length,features] of such series; the target has the same shape, "BTC", NaN behind their ends
  token_scores,     // [n,length,1 + tokens], logits at each position, of the blank first; the target is a sequence of
                    // numbers of tokens from 1 on, i32 [n,most tokens] "BT", -1 behind its end. Positions of padding
                    // have kNoScore for all but the blank
};

// "class scores", "scores at each position", "an image", "values", ...
std::string_view text_of(OutputKind kind);

// The labels of a mini-batch of targets: "B", "BT", "BSSC", "BC", "BTC".
std::string_view target_labels(OutputKind kind);

// The shape of targets of an output of that shape, with the batch or without.
Shape target_shape(OutputKind kind, const Shape& output);

// Whether the numbers are probabilities of classes along the last axis (logits, of token_scores), and targets are
// numbers of classes.
bool is_scores(OutputKind kind);

// Whether targets may have padding (pixels that do not count, too), which counts in no loss and no metric.
bool has_padding(OutputKind kind);

// The logit of what cannot be.
constexpr double kNoScore = -1e30;

// One output of a network.
struct NetworkOutput {
  std::string name;  // entry of the network's y and of its targets
  OutputKind kind = OutputKind::class_scores;
  std::string loss = "cross-entropy";  // of retrace/nn/losses
  double weight = 1;                   // factor of this loss in the network's
  std::string metric = "accuracy";     // of retrace/train/metrics; "": none, where train_network() trains it
  std::string from = {};               // with NetworkOptions::layers: the layer that makes it; default: the last one
  double label_smoothing = 0;          // cross-entropy: this share of each target is spread over all classes, 0 to 1
  std::optional<int64_t> ignore_index = {};  // cross-entropy: positions with this class number do not count
  // Cross-entropy: what a sample or position of each class counts, 0 or more; the loss is the sum of weight times loss
  // over the sum of the weights. Empty: all count alike.
  std::vector<double> class_weights = {};
};

// Throws Error(usage) unless the output has no class_weights, or one for each of so many classes.
void check_class_weights(const NetworkOutput& output, int64_t classes);

// The loss of an output where nobody names one: cross-entropy of scores (ctc of tokens), mean-squared-error of others.
std::string_view standard_loss(OutputKind kind);

// The metric of an output where nobody names one: accuracy of scores (token-error-rate of tokens), rmse of others.
std::string_view standard_metric(OutputKind kind);

}  // namespace retrace::nn

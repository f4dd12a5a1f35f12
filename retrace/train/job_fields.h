#pragma once
// The one list of a job's fields: name, place in the struct, rule. Whatever treats fields is a visitor
// with `void operator()(const char* name, Value& value, const FieldRule& rule)`.

#include <string>
#include <type_traits>
#include <vector>

#include "retrace/train/job.h"

namespace retrace {

struct FieldRule {
  std::vector<std::string> choices = {};  // texts that are allowed; empty: see check_job
  double low = 0, high = 0;               // numbers: low <= value <= high, if low < high
  bool above_low = false;                 // low < value instead
  bool applies = true;                    // has a meaning, given the other fields of its section
  const char* only_with = "";             // what gives it one
  bool changes_bits = true;               // or at least what the workers do together, so that they must agree
};

constexpr double kMaxCount = 1'000'000'000;

template <class Options, class Visitor>
  requires std::is_same_v<std::remove_const_t<Options>, NetworkOptions>
void visit_fields(Options& o, Visitor&& visit) {
  visit("name", o.name, {.choices = {"digits", "peaks", "autoencoder", "cifar10"}});
  visit("width", o.width, {.low = 1, .high = 4096});
  visit("heads", o.heads,
        {.choices = {"class", "angle"}, .applies = o.name == "digits", .only_with = "network.name = \"digits\""});
}

template <class Options, class Visitor>
  requires std::is_same_v<std::remove_const_t<Options>, DataOptions>
void visit_fields(Options& o, Visitor&& visit) {
  visit("source", o.source, {.choices = {"digits", "mnist", "peaks", "cifar10-synthetic"}});
  visit("path", o.path,
        {.applies = o.source == "mnist", .only_with = "data.source = \"mnist\"", .changes_bits = false});
  visit("train_samples", o.train_samples, {.low = 0, .high = kMaxCount});
  visit("test_samples", o.test_samples, {.low = 0, .high = kMaxCount});
}

template <class Options, class Visitor>
  requires std::is_same_v<std::remove_const_t<Options>, TrainingOptions>
void visit_fields(Options& o, Visitor&& visit) {
  const bool adam = o.solver == "adam", piecewise = o.schedule == "piecewise";
  const char* const with_adam = "training.solver = \"adam\"";
  const char* const with_piecewise = "training.schedule = \"piecewise\"";
  visit("solver", o.solver, {.choices = {"adam", "sgdm"}});
  visit("max_epochs", o.max_epochs, {.low = 1, .high = kMaxCount});
  visit("mini_batch_size", o.mini_batch_size, {.low = 1, .high = kMaxCount});
  visit("shards", o.shards, {.low = 1, .high = 4096});
  visit("initial_learn_rate", o.initial_learn_rate, {.low = 0, .high = 1e6, .above_low = true});
  visit("schedule", o.schedule, {.choices = {"none", "linear", "piecewise"}});
  visit("drop_factor", o.drop_factor,
        {.low = 0, .high = 1, .above_low = true, .applies = piecewise, .only_with = with_piecewise});
  visit("drop_period", o.drop_period, {.low = 1, .high = kMaxCount, .applies = piecewise, .only_with = with_piecewise});
  visit("l2_regularization", o.l2_regularization, {.low = 0, .high = 1e6});
  visit("momentum", o.momentum, {.low = 0, .high = 1, .applies = !adam, .only_with = "training.solver = \"sgdm\""});
  visit("gradient_decay_factor", o.gradient_decay_factor,
        {.low = 0, .high = 0.999999, .applies = adam, .only_with = with_adam});
  visit("squared_gradient_decay_factor", o.squared_gradient_decay_factor,
        {.low = 0, .high = 0.999999, .applies = adam, .only_with = with_adam});
  visit("epsilon", o.epsilon, {.low = 0, .high = 1, .above_low = true, .applies = adam, .only_with = with_adam});
  visit("shuffle", o.shuffle, {.choices = {"never", "once", "every-epoch"}});
  visit("partial_mini_batch", o.partial_mini_batch, {.choices = {"keep", "discard"}});
  visit("acceleration", o.acceleration, {.choices = {"plain", "default", "accelerated"}, .changes_bits = false});
  visit("validation", o.validation, FieldRule{});
  visit("timeout", o.timeout, {.low = 0, .high = 1e6, .above_low = true, .changes_bits = false});
}

// Every field of a job: visit(section, name, value, rule), with section "" for the top level.
template <class AnyJob, class Visitor>
  requires std::is_same_v<std::remove_const_t<AnyJob>, Job>
void visit_job(AnyJob& job, Visitor&& visit) {
  const auto in = [&](const char* section) {
    return
        [&visit, section](const char* name, auto& value, const FieldRule& rule) { visit(section, name, value, rule); };
  };
  const auto top = in("");
  top("name", job.name, FieldRule{.changes_bits = false});
  top("seed", job.seed, FieldRule{.low = 0, .high = 9007199254740991.0});
  top("device", job.device, FieldRule{.changes_bits = false});
  top("threads", job.threads, FieldRule{.low = 0, .high = 256, .changes_bits = false});
  visit_fields(job.network, in("network"));
  visit_fields(job.data, in("data"));
  visit_fields(job.training, in("training"));
}

}  // namespace retrace

#include "retrace/monitor/monitor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "retrace/monitor/json_lines.h"
#include "retrace/monitor/small_curve.h"
#include "retrace/monitor/terminal.h"

namespace retrace {
namespace {

std::vector<Event> run_of_two_epochs() {
  std::vector<Event> events;
  events.push_back(RunStarted{"digits", "cpu", "runs/digits-1", 1, 2, 2, 3, 84075});
  for (int epoch = 1; epoch <= 2; ++epoch) {
    for (int step = 1; step <= 3; ++step)
      events.push_back(StepDone{epoch, (epoch - 1) * 3 + step, 1.0 / step, 0.001, epoch * 3.0 + step});
    events.push_back(EpochDone{epoch, epoch * 3, 0.5, epoch * 3.0 + 3});
    events.push_back(ValidationDone{epoch, epoch * 3, 0.25, epoch * 3.0 + 4, {{"accuracy", 0.9}}});
  }
  events.push_back(RunFinished{2, 6, 0.5, 10, {{"accuracy", 0.9}}, "max epochs completed", "00000000000000ff"});
  return events;
}

std::string shown(TerminalOptions options) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  {
    Terminal terminal(stream, options);
    for (const auto& event : run_of_two_epochs()) terminal.receive(event);
  }
  std::fclose(stream);
  std::string out(text, size);
  std::free(text);
  return out;
}

TEST(Terminal, LogHasALineAnEpoch) {
  EXPECT_EQ(shown({.rewrite = false}),
            "digits: 84075 parameters, 2 epochs of 3 iterations on cpu with 2 threads, in runs/digits-1\n"
            "epoch 1/2  step 3/6  loss 0.5000  validation 0.2500  accuracy 0.9000  7.0 s  0.67 steps/s  4.5 s left\n"
            "epoch 2/2  step 6/6  loss 0.5000  validation 0.2500  accuracy 0.9000  10.0 s  0.83 steps/s\n"
            "max epochs completed after 6 iterations, 10.0 s\n");
}

// What went before does not count, nor does the first step, which makes the plan.
TEST(Terminal, RateAndTimeLeftAfterAResume) {
  std::string out;
  Terminal terminal([&](const std::string& text, bool) { out += text; }, {.rewrite = false});
  terminal.receive(RunStarted{"digits", "cpu", "runs/digits-1", 1, 2, 10, 100, 84075, 250});
  terminal.receive(StepDone{3, 251, 1, 0.001, 5000});
  for (int step = 252; step <= 300; ++step) terminal.receive(StepDone{3, step, 1, 0.001, 5000 + (step - 251) * 0.5});
  terminal.receive(EpochDone{3, 300, 0.5, 5024.5});
  terminal.receive(StepDone{4, 301, 1, 0.001, 5025});
  EXPECT_NE(out.find("epoch 3/10  step 300/1000  loss 0.5000  1:23:44  2.00 steps/s  5:50 left\n"), std::string::npos)
      << out;
}

// Samples stand in the line where they are told; steps where there is room, and less on narrow terminals.
TEST(Terminal, RateOfSamples) {
  const auto line_of = [](TerminalOptions options, bool validated) {
    std::string last;
    Terminal terminal([&](const std::string& text, bool) { last = text; }, options);
    terminal.receive(RunStarted{"cifar10", "cpu", "", 1, 2, 50, 391, 677610, 0, 50000});
    terminal.receive(StepDone{1, 1, 2.3, 0.1, 1});
    if (validated) terminal.receive(ValidationDone{1, 391, 1.25, 90, {{"accuracy", 0.5}}});
    terminal.receive(StepDone{1, 101, 1.5, 0.1, 21});
    terminal.receive(EpochDone{1, 101, 1.5, 21});
    terminal.receive(StepDone{1, 102, 1.5, 0.1, 21.2});
    return last.substr(last[0] == '\r' ? 1 : 0, last.find_last_not_of(" \n") + (last[0] == '\r' ? 0 : 1));
  };
  EXPECT_EQ(line_of({.rewrite = false}, false),
            "epoch 1/50  step 101/19550  loss 1.5000  21.0 s  639 samples/s  1:04:49 left");
  const TerminalOptions wide{.rewrite = true, .columns = 120, .interval = 0};
  EXPECT_EQ(line_of(wide, false),
            "epoch 1/50  step 102/19550  loss 1.5000  21.2 s  5.00 steps/s  639 samples/s  1:04:49 left");
  const TerminalOptions usual{.rewrite = true, .columns = 80, .interval = 0};
  EXPECT_EQ(line_of(usual, false), "epoch 1/50  step 102/19550  loss 1.5000  21.2 s  639 samples/s  1:04:49 left");
  EXPECT_EQ(line_of(usual, true), "epoch 1/50  step 102/19550  loss 1.5000  accuracy 0.5000  1:04:49 left");
}

TEST(Terminal, PicturesStandWhereThereIsRoom) {
  const auto line_of = [](int columns, bool unicode) {
    std::string last;
    Terminal terminal([&](const std::string& text, bool) { last = text; },
                      {.rewrite = true, .columns = columns, .interval = 0, .unicode = unicode});
    terminal.receive(RunStarted{"x", "cpu", "", 1, 2, 1, 10, 5, 0, 100});
    for (int i = 1; i <= 5; ++i) terminal.receive(StepDone{1, i, 6.0 - i, 0.1, 1.0 * i});
    const size_t end = last.find_last_not_of(' ');
    return last.substr(1, end);
  };
  EXPECT_EQ(line_of(120, true),
            "█████░░░░░  epoch 1/1  step 5/10  loss 1.0000  █▇▅▃▁  5.0 s  1.00 steps/s  10.0 samples/s  5.0 s left");
  EXPECT_EQ(line_of(90, true),
            "epoch 1/1  step 5/10  loss 1.0000  █▇▅▃▁  5.0 s  1.00 steps/s  10.0 samples/s  5.0 s left");
  EXPECT_EQ(line_of(120, false), "epoch 1/1  step 5/10  loss 1.0000  5.0 s  1.00 steps/s  10.0 samples/s  5.0 s left");
  EXPECT_EQ(line_of(72, true), "epoch 1/1  step 5/10  loss 1.0000  █▇▅▃▁  10.0 samples/s  5.0 s left");
}

TEST(SmallCurve, HasTwentyPlacesAtMost) {
  SmallCurve curve;
  for (int i = 0; i < 10'000; ++i) curve.add(i == 5 ? std::nan("") : i);
  EXPECT_GE(text_columns(curve.text()), 10u);
  EXPECT_LE(text_columns(curve.text()), 20u);
  EXPECT_TRUE(curve.text().starts_with("▁"));
  EXPECT_TRUE(curve.text().ends_with("█"));
  SmallCurve one;
  one.add(1);
  EXPECT_EQ(one.text(), "");
  one.add(std::nan(""));
  one.add(1);
  EXPECT_EQ(one.text(), "▁ ▁");
  EXPECT_EQ(progress_bar(0, 3) + progress_bar(1, 2) + progress_bar(0.5, 1), "░░░██▌");
}

TEST(Terminal, LargeAndSmallNumbersStayShortAndNanHasNoSign) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  {
    Terminal terminal(stream, {.rewrite = false});
    terminal.receive(RunStarted{"x", "cpu", "runs/x-1", 1, 1, 1, 1, 1});
    terminal.receive(EpochDone{1, 1, 181791030088196178995847364608.0, 1, true});
    terminal.receive(ValidationDone{1, 1, 0.00001234, 1, {{"rmse", -std::nan("")}}});
    terminal.receive(RunFinished{1, 1, 0, 1, {}, "max epochs completed", ""});
  }
  std::fclose(stream);
  const std::string out(text, size);
  std::free(text);
  EXPECT_NE(out.find("loss 1.818e+29  validation 1.234e-05  rmse nan"), std::string::npos) << out;
}

TEST(Terminal, TerminalLineIsRewrittenAndCut) {
  const std::string out = shown({.rewrite = true, .columns = 40, .interval = 0});
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\r'), 8);
  for (size_t at = out.find('\r'); at != std::string::npos; at = out.find('\r', at + 1))
    EXPECT_LE(std::min(out.find('\r', at + 1), out.find('\n', at + 1)) - at - 1, 39u);
  // Within the interval only the first step is shown, and each epoch's line.
  const std::string slow = shown({.rewrite = true, .columns = 200, .interval = 3600});
  EXPECT_EQ(std::count(slow.begin(), slow.end(), '\r'), 3);
}

TEST(Terminal, DeadStreamIsIgnored) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (!full) GTEST_SKIP() << "no /dev/full";
  {
    Terminal terminal(full, {});
    for (const auto& event : run_of_two_epochs()) EXPECT_NO_THROW(terminal.receive(event));
  }
  std::fclose(full);
  EXPECT_FALSE(terminal_options(stderr, true).rewrite);
}

TEST(Terminal, Durations) {
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(100), "1:40");
  EXPECT_EQ(duration_text(7384), "2:03:04");
  EXPECT_EQ(duration_text(std::nan("")), "?");
}

TEST(JsonLines, EveryEventIsOneObject) {
  std::vector<std::string> lines;
  JsonLines sink([&](std::string_view line) { lines.emplace_back(line); });
  for (const auto& event : run_of_two_epochs()) sink.receive(event);
  ASSERT_EQ(lines.size(), 12u);
  for (const auto& line : lines) {
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_TRUE(nlohmann::json::parse(line).is_object()) << line;
  }
  const auto step = nlohmann::json::parse(lines[3]);
  EXPECT_EQ(step["event"], "step");
  EXPECT_EQ(step["iteration"], 3);
  EXPECT_EQ(step["loss"].get<double>(), 1.0 / 3);
  const auto started = nlohmann::json::parse(lines.front()), finished = nlohmann::json::parse(lines.back());
  EXPECT_EQ(started["schema"], kEventSchema);
  EXPECT_EQ(finished["metrics"]["accuracy"], 0.9);
  EXPECT_EQ(finished["validation_loss"], 0.5);
  EXPECT_FALSE(finished.contains("loss")) << "the loss is that of the training";
}

TEST(JsonLines, SaysWhetherAnEpochIsWhole) {
  EXPECT_EQ(event_json(EpochDone{2, 8, 0.5, 1.5}),
            "{\"event\":\"epoch\",\"epoch\":2,\"iteration\":8,\"loss\":0.5,\"complete\":true,\"seconds\":1.5}");
  EXPECT_EQ(event_json(EpochDone{2, 7, 0.5, 1.5, false}),
            "{\"event\":\"epoch\",\"epoch\":2,\"iteration\":7,\"loss\":0.5,\"complete\":false,\"seconds\":1.5}");
}

TEST(JsonLines, HasNullForWhatJsonCannotSay) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(event_json(StepDone{1, 2, std::nan(""), infinity, -infinity}),
            "{\"event\":\"step\",\"epoch\":1,\"iteration\":2,\"loss\":null,\"learn_rate\":null,\"seconds\":null}");
}

TEST(Monitors, HandsEventsToAllInOrder) {
  std::string calls;
  JsonLines a([&](std::string_view) { calls += 'a'; }), b([&](std::string_view) { calls += 'b'; });
  Monitors all({&a});
  all.add(b);
  all.receive(StepDone{});
  all.receive(EpochDone{});
  EXPECT_EQ(calls, "abab");
  Monitors().receive(StepDone{});
}

}  // namespace
}  // namespace retrace

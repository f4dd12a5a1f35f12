// Curves of runs and event files, read a piece at a time.
#include "retrace/report/series.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "retrace/base/crc32c.h"
#include "retrace/base/file.h"
#include "retrace/monitor/event_file.h"
#include "retrace/monitor/event_record.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/report/event_series.h"
#include "retrace/report/run_series.h"
#include "retrace/report/run_standing.h"
#include "retrace/report/series_cache.h"
#include "retrace/report/series_points.h"
#include "retrace/train/step_log.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

constexpr double kAll = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

void append(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::app | std::ios::binary);
  stream << text;
}

std::vector<double> values_of(SeriesSource& source, const std::string& name) {
  std::vector<double> values;
  for (const auto& bucket : source.read(name, -kAll, kAll, 1'000'000)) values.push_back(bucket.first);
  return values;
}

std::string names_of(SeriesSource& source) {
  std::string names;
  for (const auto& one : source.list()) names += fmt::format("{}:{} ", one.name, one.points);
  return names;
}

using Pairs = std::vector<std::pair<double, double>>;

// The same from all points at once.
std::vector<SeriesBucket> plain_buckets(const Pairs& points, double from, double to, size_t most) {
  Pairs inside;
  for (const auto& point : points)
    if (point.first >= from && point.first <= to) inside.push_back(point);
  std::vector<SeriesBucket> buckets;
  const size_t parts = std::min(most, inside.size());
  for (size_t k = 0; k < parts; ++k) {
    const size_t begin = k * inside.size() / parts, end = (k + 1) * inside.size() / parts;
    SeriesBucket one{inside[begin].first, inside[end - 1].first, kNan, kNan, kNan, kNan, kNan, end - begin};
    double sum = 0;
    int finite = 0;
    for (size_t i = begin; i < end; ++i) {
      const double y = inside[i].second;
      if (!std::isfinite(y)) continue;
      one.minimum = finite ? std::min(one.minimum, y) : y, one.maximum = finite ? std::max(one.maximum, y) : y;
      sum += y, ++finite;
    }
    if (finite) one.mean = sum / finite;
    if (std::isfinite(inside[begin].second)) one.first = inside[begin].second;
    if (std::isfinite(inside[end - 1].second)) one.last = inside[end - 1].second;
    buckets.push_back(one);
  }
  return buckets;
}

void expect_equal(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    EXPECT_EQ(std::isnan(a), std::isnan(b));
  else
    EXPECT_EQ(a, b);
}

void expect_equal(const std::vector<SeriesBucket>& a, const std::vector<SeriesBucket>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].points, b[i].points);
    for (const auto member : {&SeriesBucket::x_first, &SeriesBucket::x_last, &SeriesBucket::minimum,
                              &SeriesBucket::maximum, &SeriesBucket::first, &SeriesBucket::last})
      expect_equal(a[i].*member, b[i].*member);
    if (std::isfinite(b[i].mean))
      EXPECT_NEAR(a[i].mean, b[i].mean, 1e-12 * (1 + std::abs(b[i].mean)));
    else
      expect_equal(a[i].mean, b[i].mean);
  }
}

// What can be read of a step written as a line.
std::string step_text(int64_t iteration, double loss, double rate = 0.001) {
  return step_line(
             {.iteration = iteration, .epoch = 1, .samples = 17, .loss = loss, .learn_rate = rate, .tensors = {}}) +
         "\n";
}

TEST(SeriesPoints, BucketsAreThoseOfAllPoints) {
  std::mt19937_64 random(1);
  for (const size_t count : {0u, 1u, 5u, 1023u, 1024u, 1025u, 5000u}) {
    for (const int kind : {0, 1, 2}) {  // evenly spaced; not; equal values and backwards
      SeriesPoints series;
      Pairs points;
      double x = 0;
      for (size_t i = 0; i < count; ++i) {
        x += kind == 1 ? static_cast<double>(random() % 3) : 1;
        double y = kind == 2 ? 0.5 : static_cast<double>(random() % 1000) / 7;
        if (kind == 1 && random() % 10 == 0) y = kNan;
        if (kind == 1 && random() % 50 == 0) y = kAll;
        points.emplace_back(kind == 2 ? static_cast<double>(count) - x : x, y);
        series.add(points.back().first, y);
      }
      std::stable_sort(points.begin(), points.end(), [](auto& a, auto& b) { return a.first < b.first; });
      for (const size_t most : {0u, 1u, 2u, 7u, 100u, 4000u, 10000u}) {
        expect_equal(series.read(-kAll, kAll, most), plain_buckets(points, -kAll, kAll, most));
        for (int i = 0; i < 4; ++i) {
          const double from = static_cast<double>(random() % (count + 2)), to = static_cast<double>(random() % 6000);
          expect_equal(series.read(from, to, most), plain_buckets(points, from, to, most));
        }
      }
      const double cut = static_cast<double>(count) / 2;
      series.cut(cut);
      std::erase_if(points, [&](const auto& point) { return point.first >= cut; });
      expect_equal(series.read(-kAll, kAll, 33), plain_buckets(points, -kAll, kAll, 33));
      EXPECT_EQ(series.info("a").points, points.size());
    }
  }
}

TEST(SeriesPoints, EvenlySpacedOnesTakeEightBytes) {
  SeriesPoints loss, rate;
  for (int i = 0; i < 100'000; ++i) loss.add(i, 1.0 / (i + 1)), rate.add(i, 0.001);
  EXPECT_LT(loss.bytes(), 850'000u);
  EXPECT_LT(rate.bytes(), 40'000u);
  SeriesPoints odd;
  odd.add(kNan, 1), odd.add(kAll, 1), odd.add(3, 1);
  EXPECT_EQ(odd.info("odd").points, 1u);
}

TEST(RunSeries, HasStepsEpochsAndValidations) {
  const TemporaryFolder root;
  EXPECT_TRUE(says(error_of([&] { run_series(root / "none"); }), "none"));
  EXPECT_TRUE(says(error_of([&] { run_series(root.path()); }), "is no run folder"));
  append(root / "metrics.jsonl", event_json(RunStarted{"points", "cpu", ""}) + "\n");
  const auto run = run_series(root.path());
  EXPECT_EQ(names_of(*run), "");
  EXPECT_TRUE(run->refresh());
  EXPECT_FALSE(run->refresh()) << "nothing has come";
  append(root / "steps.jsonl", step_text(1, 2.5) + step_text(2, kNan) + "garbage\n" +
                                   "{\"loss\": 0.5, \"iteration\": 3, \"learn_rate\": 1e-5}\n{\"iteration\":4,");
  append(root / "metrics.jsonl",
         event_json(EpochDone{1, 3, 1.5, 0.1}) + "\n" +
             event_json(ValidationDone{1, 3, 1.25, 0.2, {{"accuracy", 0.75}}, {{"confusion_matrix", {{1, 0}}}}}) +
             "\n");
  EXPECT_TRUE(run->refresh());
  EXPECT_EQ(names_of(*run), "loss:3 learn_rate:3 epoch_loss:1 validation_loss:1 validation/accuracy:1 ");
  const auto loss = run->read("loss", 1, 3, 10);
  ASSERT_EQ(loss.size(), 3u);
  EXPECT_EQ(loss[0].mean, 2.5);
  EXPECT_TRUE(std::isnan(loss[1].minimum));
  EXPECT_EQ(run->read("learn_rate", 3, 3, 10)[0].first, 1e-5);
  EXPECT_EQ(run->read("validation/accuracy", 0, 9, 10)[0].first, 0.75);
  EXPECT_TRUE(run->read("none", 0, 9, 10).empty());
  append(root / "steps.jsonl", "\"epoch\":1,\"samples\":\"0123456789abcdef\",\"loss\":7,\"learn_rate\":1}\n");
  EXPECT_TRUE(run->refresh());
  EXPECT_EQ(run->read("loss", 4, 4, 1)[0].first, 7) << "a torn line that was completed";
}

TEST(RunSeries, NoticesAResumeThatCutsFilesBack) {
  const TemporaryFolder root;
  append(root / "metrics.jsonl", "");
  const auto run = run_series(root.path());
  for (int i = 1; i <= 100; ++i) append(root / "steps.jsonl", step_text(i, i));
  EXPECT_TRUE(run->refresh());
  cut_step_log(root.path(), 40);
  EXPECT_TRUE(run->refresh());
  EXPECT_EQ(values_of(*run, "loss").size(), 40u);
  // Cut back and grown again to more than there was, between two looks.
  cut_step_log(root.path(), 10);
  for (int i = 11; i <= 90; ++i) append(root / "steps.jsonl", step_text(i, -i));
  EXPECT_TRUE(run->refresh());
  const auto values = values_of(*run, "loss");
  ASSERT_EQ(values.size(), 90u);
  EXPECT_EQ(values[9], 10);
  EXPECT_EQ(values[89], -90);
  write_file_whole(root / "steps.jsonl", step_text(1, 5));
  EXPECT_TRUE(run->refresh());
  EXPECT_EQ(values_of(*run, "loss"), std::vector<double>{5});
  fs::remove(root / "steps.jsonl");
  EXPECT_FALSE(run->refresh());
  EXPECT_EQ(values_of(*run, "loss"), std::vector<double>{5}) << "a file that is gone leaves what was read";
}

TEST(RunSeries, ReadsEveryPrefixOfItsFiles) {
  const TemporaryFolder root;
  append(root / "metrics.jsonl", "");
  std::string all;
  for (int i = 1; i <= 12; ++i) all += step_text(i, i);
  const auto run = run_series(root.path());
  for (size_t size = 0; size < all.size(); ++size) {
    append(root / "steps.jsonl", all.substr(size, 1));
    run->refresh();
    const auto lines = std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size) + 1, '\n');
    ASSERT_EQ(values_of(*run, "loss").size(), static_cast<size_t>(lines)) << size;
  }
}

TEST(RunStanding, IsReadFromTheEnd) {
  const TemporaryFolder root;
  const fs::path file = root / "metrics.jsonl";
  RunStarted start{.job = "points", .device = "cpu", .run_dir = "runs/points-1"};
  start.workers = 2, start.threads = 3, start.epochs = 9, start.iterations_per_epoch = 10, start.parameters = 77;
  append(file, event_json(start) + "\n");
  auto standing = read_run_standing(root.path());
  EXPECT_EQ(standing.job, "points");
  EXPECT_EQ(standing.parameters, 77);
  EXPECT_TRUE(std::isnan(standing.loss));
  for (int epoch = 1; epoch <= 500; ++epoch) {
    append(file, event_json(EpochDone{epoch, epoch * 10, 1.0 / epoch, epoch * 0.5}) + "\n");
    append(file, event_json(ValidationDone{epoch, epoch * 10, 2.0 / epoch, epoch * 0.5, {{"accuracy", 0.5}}}) + "\n");
  }
  append(file, "{\"event\":\"epo");
  standing = read_run_standing(root.path());
  EXPECT_EQ(standing.job, "points");
  EXPECT_EQ(standing.epoch, 500);
  EXPECT_EQ(standing.iteration, 5000);
  EXPECT_EQ(standing.loss, 1.0 / 500);
  EXPECT_EQ(standing.validation_loss, 2.0 / 500);
  EXPECT_FALSE(standing.finished);
  start.iteration = 5000, start.workers = 1, start.device = "cuda";
  append(file, "\n" + event_json(start) + "\n");
  EXPECT_EQ(read_run_standing(root.path()).device, "cuda") << "of the last start";
  append(file,
         event_json(RunFinished{500, 5000, 0.25, 12, {{"accuracy", 0.875}}, "max epochs completed", "0123"}) + "\n");
  standing = read_run_standing(root.path());
  EXPECT_TRUE(standing.finished);
  EXPECT_EQ(standing.fingerprint, "0123");
  EXPECT_EQ(standing.validation_loss, 0.25);
  EXPECT_EQ(standing.loss, 1.0 / 500);
  EXPECT_EQ(standing.metrics, (MetricValues{{"accuracy", 0.875}}));
  EXPECT_EQ(standing.stop_reason, "max epochs completed");
}

EventRecord scalar(int64_t step, double value, const std::string& tag = "loss") {
  EventRecord made;
  made.step = step, made.scalars = {{tag, value}};
  return made;
}

TEST(EventRecord, ReadsWhatItWrites) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
  EventRecord record = scalar(1'000'000'007, 0.1);
  record.wall_time = 1.5e9, record.begins = true, record.file_version = "brain.Event:2";
  record.scalars.emplace_back("a/b", -2);
  const std::string bytes = encode_event(record);
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string_view part(bytes.data(), size);
    const auto frame = take_event(part);
    EXPECT_FALSE(frame.record || frame.damaged) << size;
  }
  std::string_view all = bytes;
  const auto read = take_event(all).record;
  ASSERT_TRUE(read);
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(read->step, record.step);
  EXPECT_EQ(read->wall_time, 1.5e9);
  EXPECT_TRUE(read->begins);
  EXPECT_EQ(read->file_version, "brain.Event:2");
  EXPECT_EQ(read->scalars[0].second, 0.1f);
  EXPECT_EQ(read->scalars[1].first, "a/b");
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string flipped = bytes;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    std::string_view rest = flipped;
    EXPECT_FALSE(take_event(rest).record) << "bit " << i;
  }
}

TEST(EventSeries, ReadsFilesAsTheyGrow) {
  const TemporaryFolder root;
  EXPECT_FALSE(holds_events(root.path()));
  const fs::path file = root / "events.out.tfevents.1700000000.host.1.0";
  const std::string first = encode_event(scalar(1, 3)), second = encode_event(scalar(2, 2));
  append(file, first + second.substr(0, 9));
  EXPECT_TRUE(holds_events(root.path()));
  const auto series = event_series(root.path());
  EXPECT_TRUE(series->refresh());
  EXPECT_EQ(names_of(*series), "loss:1 ");
  EXPECT_FALSE(series->refresh());
  append(file, second.substr(9));
  EXPECT_TRUE(series->refresh());
  EXPECT_EQ(values_of(*series, "loss"), (std::vector<double>{3, 2}));
  // A session that goes on at step 2, in a file of its own.
  EventRecord begin = scalar(2, 0);
  begin.begins = true, begin.scalars.clear();
  append(root / "events.out.tfevents.1700000009.host.1.0",
         encode_event(begin) + encode_event(scalar(2, 7)) + encode_event(scalar(3, 8, "other")));
  EXPECT_TRUE(series->refresh());
  EXPECT_EQ(values_of(*series, "loss"), (std::vector<double>{3, 7}));
  EXPECT_EQ(names_of(*series), "loss:2 other:1 ");
  EXPECT_EQ(series->trouble(), "");
  std::string bad = encode_event(scalar(4, 9));
  bad[20] = static_cast<char>(bad[20] ^ 1);
  append(file, bad + encode_event(scalar(5, 9)));
  series->refresh();
  EXPECT_TRUE(says(series->trouble(), "is damaged"));
  EXPECT_EQ(names_of(*series), "loss:2 other:1 ");
  write_file_whole(file, first);
  EXPECT_TRUE(series->refresh());
  EXPECT_EQ(values_of(*series, "loss"), (std::vector<double>{3, 7})) << "a file that was written anew";
  EXPECT_EQ(series->trouble(), "");
}

TEST(EventFile, IsReadBackAsTheRunIs) {
  const TemporaryFolder root;
  const auto tell = [&](int64_t begin, int64_t end, double loss) {
    EventFile file(root / "new/events");
    RunStarted start{"points", "cpu", ""};
    start.iteration = begin;
    file.receive(start);
    for (int64_t i = begin + 1; i <= end; ++i) file.receive(StepDone{1, i, loss, 0.25, 0.1});
    file.receive(EpochDone{1, end, loss, 0.2});
    file.receive(ValidationDone{1, end, 1.25, 0.2, {{"accuracy", 0.75}}, {{"confusion_matrix", {{1, 0}}}}});
    file.receive(RunFinished{1, end, 1.25, 0.2, {{"accuracy", 0.75}}, "max epochs completed", "0123"});
  };
  tell(0, 20, 2);
  const auto series = event_series(root / "new/events");
  EXPECT_TRUE(series->refresh());
  EXPECT_EQ(names_of(*series), "loss:20 learn_rate:20 epoch_loss:1 validation_loss:1 validation/accuracy:1 ");
  tell(8, 12, 4);
  EXPECT_TRUE(series->refresh());
  EXPECT_EQ(names_of(*series), "loss:12 learn_rate:12 epoch_loss:1 validation_loss:1 validation/accuracy:1 ")
      << "what goes on after iteration 8 takes the place of what came after it";
  EXPECT_EQ(series->read("loss", 8, 9, 9).front().first, 2);
  EXPECT_EQ(series->read("loss", 8, 9, 9).back().first, 4);
  EXPECT_EQ(series->read("validation/accuracy", 0, 99, 9)[0].first, 0.75);
  write_file_whole(root / "file", "");
  EXPECT_TRUE(says(error_of([&] { EventFile(root / "file/events"); }), "file/events"));
}

TEST(SeriesCache, ClosesWhatWasNotAskedForTheLongest) {
  const TemporaryFolder root;
  for (const char* name : {"a", "b", "c"}) {
    fs::create_directories(root / name);
    append(root / name / "metrics.jsonl", "");
    std::string text;
    for (int i = 1; i <= 3000; ++i) text += step_text(i, i + name[0] * 0.25);
    append(root / name / "steps.jsonl", text);
  }
  fs::create_directories(root / "events");
  append(root / "events" / "events.out.tfevents.1.host", encode_event(scalar(1, 3)));
  SeriesCache cache(150'000);
  EXPECT_EQ(values_of(cache.at(root / "a"), "loss").size(), 3000u);
  EXPECT_EQ(values_of(cache.at(root / "b"), "loss").size(), 3000u);
  EXPECT_EQ(cache.open(), 2u);
  cache.at(root / "a");
  EXPECT_EQ(values_of(cache.at(root / "c"), "loss")[2999], 3000 + 'c' * 0.25);
  EXPECT_LE(cache.bytes(), 150'000u);
  EXPECT_EQ(cache.open(), 2u) << "b was closed";
  append(root / "a" / "steps.jsonl", step_text(3001, 0));
  EXPECT_EQ(values_of(cache.at(root / "a"), "loss").size(), 3001u);
  EXPECT_EQ(values_of(cache.at(root / "b"), "loss").size(), 3000u);
  EXPECT_EQ(values_of(cache.at(root / "events"), "loss").size(), 1u);
  EXPECT_TRUE(says(error_of([&] { cache.at(root.path()); }), "is no run folder"));
  EXPECT_EQ(values_of(cache.at(root / "c"), "loss").size(), 3000u) << "after an error";
}

}  // namespace
}  // namespace retrace

// The page and the plots of a run.
#include "retrace/report/report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "retrace/base/file.h"
#include "retrace/data/image_file.h"
#include "retrace/data/png_encoder.h"
#include "retrace/report/page.h"
#include "retrace/report/plot.h"
#include "retrace/report/run_charts.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

std::string text_of(const fs::path& file) { return read_file(file, "file", 10'000'000); }

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Whether every tag that is opened is closed, in turn; what is not closed, as text.
std::string unbalanced(const std::string& html) {
  const std::regex tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator one(html.begin(), html.end(), tag), end; one != end; ++one) {
    const std::string name = (*one)[2];
    if ((*one)[3] == "/" || name == "meta" || name == "input" || name == "img" || name == "br") continue;
    if ((*one)[1] != "/")
      open.push_back(name);
    else if (open.empty() || open.back() != name)
      return "</" + name + "> at " + html.substr(static_cast<size_t>(one->position()), 60);
    else
      open.pop_back();
  }
  return open.empty() ? "" : open.back();
}

// Points in two classes whose names would be tags.
fs::path trained(const fs::path& root, const std::string& settings = "") {
  fs::create_directories(root / "data");
  for (const int first : {0, 1}) {
    std::string text = "x,kind\n";
    for (int i = first; i < 24; i += 2) text += fmt::format("{},{}\n", i - 11.5, i < 12 ? "<script>" : "a & b");
    write_file_whole(root / "data" / (first ? "test.csv" : "train.csv"), text);
  }
  const Job job = parse_job(
      "seed = 1\ndevice = \"cpu\"\n"
      "[network]\nlayers = [{type = \"linear\", features = 2}, {type = \"softmax\"}]\n"
      "[data]\nsource = \"csv\"\nfeatures = 1\npath = \"" +
          (root / "data").string() +
          "\"\n[training]\nmax_epochs = 12\nmini_batch_size = 4\ninitial_learn_rate = 0.1\n" + settings,
      "points.toml");
  train_job(job, {.out = root / "run <i>"});
  return root / "run <i>";
}

TEST(Report, IsOnePageThatNeedsNothingElse) {
  const TemporaryFolder root;
  const auto run = trained(root);
  const std::string fingerprints = text_of(run / "fingerprints.txt"), metrics = text_of(run / "metrics.jsonl");
  EXPECT_EQ(write_report(run), run / "report.html");
  const std::string html = text_of(run / "report.html");
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_EQ(count(html, "<script"), 0u);
  EXPECT_EQ(count(html, "<link"), 0u);
  EXPECT_EQ(count(html, "http"), count(html, "xmlns=\"http://www.w3.org/2000/svg\""))
      << "no address but the name of SVG";
  EXPECT_TRUE(says(html, "/run &lt;i&gt;</title>"));
  EXPECT_EQ(count(html, "<i>"), 0u);
  EXPECT_TRUE(says(html, "<th>status</th><td>max epochs completed</td>"));
  // Loss with and without logarithms, accuracy, learn rate.
  EXPECT_EQ(count(html, "<svg"), 4u);
  EXPECT_TRUE(says(html, "Measured when this page was made"));
  EXPECT_TRUE(says(html, "<th>&lt;script&gt;</th><th>a &amp; b</th></tr>"));
  EXPECT_TRUE(says(html, "<td style=\"background:rgba(37,99,235,1.000);color:#fff\">6</td>"));
  EXPECT_TRUE(says(html, "<th>predicted class</th>"));
  EXPECT_TRUE(says(html, "<td>0</td><td>-10.5</td><td>&lt;script&gt;</td><td>&lt;script&gt; (1.000)</td></tr>"));
  EXPECT_TRUE(says(html, "<th>contract_version</th><td>1</td>"));
  EXPECT_TRUE(says(html, "source = &quot;csv&quot;\n"));
  const size_t last = fingerprints.rfind(" all");
  EXPECT_TRUE(says(html, "After the last epoch: " + fingerprints.substr(last - 16, 16)));
  EXPECT_EQ(text_of(run / "metrics.jsonl"), metrics);
  EXPECT_TRUE(says(error_of([&] { write_report(run, run / "job.toml"); }), "job.toml"));
  EXPECT_NO_THROW(write_report(run, root / "other.html", {.measure = false}));
}

TEST(Report, WithoutTheDataHasWhatIsStored) {
  const TemporaryFolder root;
  const auto run = trained(root, "metrics = [\"accuracy\", \"confusion-matrix\"]\n");
  fs::remove_all(root / "data");
  const std::string html = report_html(run);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_TRUE(says(html, "Measured by the last validation."));
  EXPECT_TRUE(says(html, "<th>&lt;script&gt;</th><td style="));
  EXPECT_EQ(count(html, "<p>Not measured: "), 2u) << "the classes and the samples";
  EXPECT_TRUE(says(html, "data folder &quot;" + (root / "data").string() + "&quot; does not exist"));
  const std::string fast = report_html(run, {.measure = false});
  EXPECT_TRUE(says(fast, "Measured by the last validation."));
  EXPECT_EQ(count(fast, "Not measured"), 0u);
  EXPECT_EQ(count(fast, "Samples of the test set"), 0u);
}

TEST(Report, OfARunThatWasBrokenOffOrIsDamaged) {
  const TemporaryFolder root;
  const auto run = trained(root);
  std::string lines = text_of(run / "metrics.jsonl");
  lines = lines.substr(0, lines.rfind("\n{") + 1);  // without the last event
  write_file_whole(run / "metrics.jsonl", lines + "garbage\n{\"event\":\"later\"}\n{\"event\":\"epo");
  const std::string html = report_html(run, {.measure = false});
  EXPECT_TRUE(says(html, "goes on, or was broken off: the last event is of iteration 36"));
  EXPECT_TRUE(says(html, "2 lines could not be read")) << "a torn last line is no damage";
  EXPECT_TRUE(says(error_of([&] { report_html(root / "nowhere"); }), "nowhere\" does not exist"));
}

TEST(Report, HasPicturesOfImages) {
  const TemporaryFolder root;
  Job job;
  job.network.width = 4;
  job.data.train_samples = 64, job.data.test_samples = 30;
  job.training.max_epochs = 1, job.training.mini_batch_size = 16;
  job.device = "cpu";
  train_job(job, {.out = root / "digits"});
  const std::string html = report_html(root / "digits");
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_GE(count(html, "<img src=\"data:image/png;base64,iVBOR"), 24u);
  EXPECT_TRUE(says(html, "<br>class: <b>0</b>, predicted "));
  EXPECT_TRUE(says(html, "<br>angle: <b>"));
}

TEST(Report, PicturesAreReadBackAsTheyWere) {
  const TemporaryFolder root;
  for (const int channels : {1, 3}) {
    std::vector<uint8_t> values;
    for (int i = 0; i < 5 * 7 * channels; ++i) values.push_back(static_cast<uint8_t>(i * 37));
    const Tensor read = parse_image(encode_png(values, 5, 7, channels), "picture");
    EXPECT_EQ(read.shape(), (Shape{5, 7, channels}));
    EXPECT_EQ(read.to_vector<uint8_t>(), values);
  }
  EXPECT_EQ(error_of([] { encode_png({1, 2, 3}, 1, 2, 1); }),
            "error[RT0676]: values and sizes of a picture do not belong together\n"
            "  got:      3 values, 1 x 2 x 1\n"
            "  expected: as many values as height x width x channels, with 1 or 3 channels");
  // The test vectors of RFC 4648.
  EXPECT_EQ(data_address("f"), "data:image/png;base64,Zg==");
  EXPECT_EQ(data_address("fo"), "data:image/png;base64,Zm8=");
  EXPECT_EQ(data_address("foobar"), "data:image/png;base64,Zm9vYmFy");
}

TEST(RunCharts, ShowWhatTheRunTold) {
  const TemporaryFolder root;
  const auto run = trained(root, "schedule = \"piecewise\"\ndrop_period = 6\ndrop_factor = 0.5\n");
  const RunLog log = read_run_log(run);
  EXPECT_EQ(chart_names(log), (std::vector<std::string>{"loss", "accuracy", "learn_rate"}));
  const LineChart loss = run_chart(log, run, "loss");
  ASSERT_EQ(loss.curves.size(), 3u);
  EXPECT_EQ(loss.curves[0].points.size(), 36u) << "of every step";
  double sum = 0;
  for (int step = 3; step < 6; ++step) sum += loss.curves[0].points[static_cast<size_t>(step)].second;
  EXPECT_DOUBLE_EQ(sum / 3, log.epochs[1].loss) << "the mean of the second epoch";
  EXPECT_EQ(loss.curves[2].style, CurveStyle::dashed);
  EXPECT_EQ(loss.curves[2].points[11].second, log.validations[11].loss);
  const LineChart rate = run_chart(log, run, "learn_rate");
  ASSERT_EQ(rate.curves[0].points.size(), 36u);
  EXPECT_EQ(rate.curves[0].points[17], (std::pair<double, double>(18, 0.1f)));
  EXPECT_EQ(rate.curves[0].points[18], (std::pair<double, double>(19, 0.05f)));
  EXPECT_EQ(error_of([&] { plot_svg(run, {"loss", "acuracy"}); }),
            "error[RT0675]: the run has no metric \"acuracy\"\n"
            "  where:    " +
                (run / "metrics.jsonl").string() +
                "\n"
                "  expected: loss, accuracy, learn_rate\n"
                "  help:     did you mean \"accuracy\"?");
  EXPECT_EQ(unbalanced(plot_svg(run, {"loss", "accuracy"}, true)), "");
  // A run of an earlier version.
  fs::remove(run / "steps.jsonl");
  const RunLog old = read_run_log(run);
  EXPECT_EQ(chart_names(old), (std::vector<std::string>{"loss", "accuracy"}));
  EXPECT_EQ(run_chart(old, run, "loss").curves[0].points[1], (std::pair<double, double>(6, log.epochs[1].loss)));
}

TEST(RunCharts, SmoothedIsAnExponentialMeanWithoutABias) {
  // Of constants it is the constant; n = 3 gives shares of a half: 1, (1/4 + 1) / (3/4), ...
  const auto made = smoothed({{1, 1}, {2, 2}, {3, std::numeric_limits<double>::quiet_NaN()}, {4, 4}});
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0], (std::pair<double, double>(1, 1)));
  EXPECT_DOUBLE_EQ(made[1].second, 1.25 / 0.75);
  EXPECT_DOUBLE_EQ(made[2].second, (0.125 + 0.5 + 2) / 0.875);
  EXPECT_EQ(made[2].first, 4);
}

}  // namespace
}  // namespace retrace

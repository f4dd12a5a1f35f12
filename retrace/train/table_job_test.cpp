// Jobs on CSV and NPY files, and predictions of such files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "retrace/base/file.h"
#include "retrace/data/npy_testing.h"
#include "retrace/data/zip.h"
#include "retrace/train/job_data.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// Points on a grid; the class says on which side of a line they lie, the value is 2 x - y.
std::string points(int first, bool header = true) {
  std::string text = header ? "x,y,side,height\n" : "";
  for (int i = first; i < 64; i += 2) {
    const double x = i / 8 / 8.0, y = i % 8 / 8.0;
    text += fmt::format("{},{},{},{}\n", x, y, x > y ? "below" : "above", 2 * x - y);
  }
  return text;
}

const std::string kHead =
    "seed = 1\ndevice = \"cpu\"\n[training]\nmax_epochs = 30\nmini_batch_size = 8\n"
    "initial_learn_rate = 0.03\nshuffle = \"every-epoch\"\n";

Job class_job(const TemporaryFolder& folder, const std::string& data) {
  return parse_job(kHead +
                       "[network]\nlayers = [{type = \"linear\", features = 8}, {type = \"relu\"}, "
                       "{type = \"linear\", features = 2}, {type = \"softmax\"}]\n[data]\npath = \"" +
                       folder.path().string() + "\"\n" + data,
                   "points.toml");
}

Job value_job(const TemporaryFolder& folder, const std::string& data) {
  return parse_job(kHead + "[network]\nlayers = [{type = \"linear\", features = 1}]\n[data]\npath = \"" +
                       folder.path().string() + "\"\n" + data,
                   "points.toml", {parse_override("training.max_epochs=200")});
}

void write_points(const TemporaryFolder& folder, bool header = true) {
  write_file_whole(folder / "train.csv", points(0, header));
  write_file_whole(folder / "test.csv", points(1, header));
}

const std::string kClasses =
    "source = \"csv\"\nfeatures = 2\ntarget_columns = [\"side\"]\nignored_columns = [\"height\"]\n";
const std::string kValues =
    "source = \"csv\"\ntask = \"regression\"\nfeatures = 2\ntarget_columns = [\"height\"]\nignored_columns = "
    "[\"side\"]\n";

double metric_of(const TrainJobResult& result) { return result.metrics.at(0).second; }

TEST(TableJob, LearnsAClassFromCsv) {
  const TemporaryFolder folder;
  write_points(folder);
  Job job = class_job(folder, kClasses);
  EXPECT_EQ(job.network.outputs.at(0).name, "class");
  job.threads = 1;
  const auto one = train_job(job, {.write_run = false});
  EXPECT_GT(metric_of(one), 0.8);
  job.threads = 2;
  EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, one.fingerprint);
}

TEST(TableJob, PredictsCsvWithAndWithoutTargets) {
  const TemporaryFolder folder;
  write_points(folder);
  const auto run = folder / "run";
  train_job(class_job(folder, kClasses), {.out = run});
  const auto predicted = [&](const std::string& text) {
    write_file_whole(folder / "new.csv", text);
    return predict_run(run, folder / "new.csv").csv;
  };
  const std::string with_names = predict_run(run, folder / "test.csv").csv;
  EXPECT_TRUE(says(with_names, "index,class,class_name,score_above,score_below\n0,"));
  std::string features = "x,y\n", bare, labelled;
  std::istringstream lines(points(1, false));
  for (std::string line; std::getline(lines, line);) {
    const std::string two = line.substr(0, line.find(',', line.find(',') + 1));
    features += two + "\n", bare += two + "\n", labelled += line.substr(0, line.rfind(',')) + "\n";
  }
  EXPECT_EQ(predicted(features), with_names) << "without the target";
  EXPECT_EQ(predicted(bare), with_names) << "without names";
  // The job names its target, and no column has a name: the first line is no name, either.
  EXPECT_TRUE(says(error_of([&] { predicted(labelled); }), "error[RT0358]: the CSV file has 3 columns"));
  EXPECT_TRUE(says(error_of([&] { predicted("a,b,c,d\n1,2,3,4\n"); }), "no column for the features x, y"));
  EXPECT_EQ(error_of([&] { predict_run(run, folder / "picture.png"); }),
            "error[RT0460]: predict cannot read \"" + (folder / "picture.png").string() +
                "\" for network \"layers\", whose samples are [2]\n  expected: a CSV, NPY or NPZ file");
}

// The columns of a table in another order, with one more.
std::string turned(const std::string& text) {
  std::string made;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    made += fmt::format("{},{},{},{},{}\n", cells[3], cells[1], cells[2], cells[0], made.empty() ? "extra" : "9");
  }
  return made;
}

TEST(TableJob, FindsColumnsByTheirNames) {
  const TemporaryFolder folder, other;
  write_points(folder);
  const auto run = folder / "run";
  const auto trained = train_job(class_job(folder, kClasses), {.out = run});
  EXPECT_EQ(read_file(run / "table.json", "table", 1000),
            "{\"features\":[\"x\",\"y\"],\"targets\":[\"side\"],\"classes\":[\"above\",\"below\"]}\n");
  const std::string predicted = predict_run(run, folder / "test.csv").csv;
  // A run is tested without its training set, whatever the order of the columns is.
  write_file_whole(other / "test.csv", turned(points(1)));
  const auto tested = test_run(run, {.overrides = {{"data.path", other.path().string(), "--data"}}});
  EXPECT_EQ(tested.loss, trained.loss);
  EXPECT_EQ(tested.metrics, trained.metrics);
  EXPECT_EQ(predict_run(run, other / "test.csv").csv, predicted);
  write_file_whole(folder / "test.csv", turned(points(1)));
  EXPECT_EQ(train_job(class_job(folder, kClasses), {.write_run = false}).loss, trained.loss);
  // A file that is damaged says so; without it, the training set is read.
  std::filesystem::remove(run / "manifest.json");
  write_file_whole(run / "table.json", "{\"features\":[1]}");
  EXPECT_EQ(
      error_of([&] { test_run(run); }),
      "error[RT0736]: \"" + (run / "table.json").string() +
          "\" is damaged\n"
          "  expected: {\"features\":[\"NAME\",...],\"targets\":[\"NAME\",...],\"classes\":[\"NAME\",...]}\n"
          "  help:     take it from a copy of the run, or remove it: columns then count in their order, and tests "
          "read the training set");
  std::filesystem::remove(run / "table.json");
  EXPECT_EQ(test_run(run).loss, trained.loss);
  std::filesystem::remove(folder / "train.csv");
  EXPECT_TRUE(says(error_of([&] { test_run(run); }), "train.csv\" does not exist"));
}

// Values are in the order of the training set, and columns without names count in theirs.
TEST(TableJob, FindsTargetsByTheirNames) {
  const TemporaryFolder folder;
  write_file_whole(folder / "train.csv", "p,x,q\n1,2,3\n2,4,6\n");
  write_file_whole(folder / "test.csv", "x,q,p\n2,3,1\n");
  const std::string head = "[network]\nlayers = [{type = \"linear\", features = 2}]\n[data]\npath = \"" +
                           folder.path().string() + "\"\nsource = \"csv\"\ntask = \"regression\"\nfeatures = 1\n";
  const auto targets = [&](const std::string& data) {
    const Job job = parse_job(head + data, "points.toml");
    return load_job_data(job, make_job_network(job)).test.get(0)[1].to_vector<float>();
  };
  EXPECT_EQ(targets("target_columns = [\"q\", \"p\"]\n"), (std::vector<float>{1, 3}));
  write_file_whole(folder / "train.csv", "1,2,3\n2,4,6\n");
  write_file_whole(folder / "test.csv", "7,8,9\n");
  EXPECT_EQ(targets("header = false\ntarget_columns = [\"1\", \"3\"]\n"), (std::vector<float>{7, 9}));
}

// Bytes that this process has read.
int64_t bytes_read() {
  int64_t bytes = 0;
  std::string name;
  std::ifstream("/proc/self/io") >> name >> bytes;
  return bytes;
}

TEST(TableJob, ReadsEachFileOnce) {
  const TemporaryFolder folder;
  std::string text = "x,y,side,height\n";
  for (int i = 0; i < 40'000; ++i) text += fmt::format("0.{:09},{},{},1\n", i, i, i % 2 ? "above" : "below");
  write_file_whole(folder / "train.csv", text);
  write_file_whole(folder / "test.csv", text);
  Job job = class_job(folder, kClasses);
  job.training.max_epochs = 1, job.training.mini_batch_size = 10'000;
  const auto size = static_cast<int64_t>(text.size()), before = bytes_read();
  if (before == 0) GTEST_SKIP() << "this system counts no bytes";
  train_job(job, {.write_run = false});
  EXPECT_LT(bytes_read() - before, 2 * size + size / 2);
  job.data.test_share = 0.5;
  const auto middle = bytes_read();
  train_job(job, {.write_run = false});
  EXPECT_LT(bytes_read() - middle, size + size / 2) << "a file that is cut, too";
}

TEST(TableJob, LearnsValuesFromCsvAndNpyAlike) {
  const TemporaryFolder folder;
  write_points(folder);
  const auto run = folder / "run";
  const auto from_csv = train_job(value_job(folder, kValues), {.out = run});
  EXPECT_LT(metric_of(from_csv), 0.05);
  for (const int first : {0, 1}) {
    std::vector<float> inputs, targets;
    for (int i = first; i < 64; i += 2) {
      inputs.push_back(static_cast<float>(i / 8) / 8), inputs.push_back(static_cast<float>(i % 8) / 8);
      targets.push_back(2 * inputs.end()[-2] - inputs.back());
    }
    const std::string split = first ? "test" : "train";
    write_file_whole(folder / (split + "_inputs.npy"), npy_of("<f4", "(32, 2)", inputs));
    write_file_whole(folder / (split + "_targets.npy"), npy_of("<f4", "(32,)", targets));
  }
  const Job job = value_job(folder, "source = \"npy\"\ntask = \"regression\"\nfeatures = 2\n");
  EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, from_csv.fingerprint);
  EXPECT_EQ(predict_run(run, folder / "test_inputs.npy").csv, predict_run(run, folder / "test.csv").csv);
  EXPECT_TRUE(
      says(error_of([&] { predict_run(run, folder / "test_targets.npy"); }), "does not hold inputs of a network"));
  const auto description = describe_job_data(job, make_job_network(job));
  EXPECT_EQ(description.train.samples, 32);
}

TEST(TableJob, LearnsFromImagesInNpy) {
  const TemporaryFolder folder;
  std::vector<uint8_t> pixels(12 * 4 * 4 * 1);
  std::vector<int64_t> classes;
  for (size_t n = 0; n < 12; ++n) {
    classes.push_back(static_cast<int64_t>(n % 2));
    for (size_t i = 0; i < 16; ++i) pixels[16 * n + i] = static_cast<uint8_t>((i < 8) == (n % 2 == 0) ? 200 + n : n);
  }
  for (const std::string split : {"train", "test"}) {
    write_file_whole(folder / (split + "_inputs.npy"), npy_of("|u1", "(12, 4, 4, 1)", pixels));
    write_file_whole(folder / (split + "_targets.npy"), npy_of("<i8", "(12,)", classes));
  }
  const std::string sizes = "source = \"npy\"\nimage_height = 4\nimage_width = 4\nimage_channels = 1\n";
  const auto run = folder / "run";
  const auto result = train_job(class_job(folder, sizes), {.out = run});
  EXPECT_EQ(metric_of(result), 1.0);
  EXPECT_EQ(predict_run(run, folder / "test_inputs.npy").rows, 12);
  EXPECT_EQ(error_of([&] { predict_run(run, folder / "test.csv"); }),
            "error[RT0460]: predict cannot read \"" + (folder / "test.csv").string() +
                "\" for network \"layers\", whose samples are [4,4,1]\n"
                "  expected: an IDX, NPY or NPZ file, or files or a folder of images");
}

// People: whether they come depends on the kind of ticket, a text; some ages are not known.
std::string people(int first) {
  std::string text = "name,ticket,age,comes\n";
  for (int i = first; i < 96; i += 2) {
    const char* const ticket = i % 3 == 0 ? "gold" : i % 3 == 1 ? "silver" : "none";
    text += fmt::format("p{},{},{},{}\n", i, ticket, i % 7 == 0 ? "" : fmt::format("{}", 20 + i % 40),
                        i % 3 < 2 ? "yes" : "no");
  }
  return text;
}

TEST(TableJob, LearnsFromCategoriesAndEmptyCells) {
  const TemporaryFolder folder;
  write_file_whole(folder / "train.csv", people(0));
  write_file_whole(folder / "test.csv", people(1));
  const std::string data =
      "source = \"csv\"\nfeatures = 4\ncategorical_columns = [\"ticket\"]\nignored_columns = [\"name\"]\n";
  const auto run = folder / "run";
  EXPECT_TRUE(says(error_of([&] { train_job(class_job(folder, data), {.write_run = false}); }), "error[RT0351]"));
  Job job = class_job(folder, data + "empty_cells = \"mean\"\n");
  job.threads = 2;
  const auto trained = train_job(job, {.out = run});
  EXPECT_GT(metric_of(trained), 0.95);
  const std::string table = read_file(run / "table.json", "table", 1 << 20);
  EXPECT_TRUE(says(table, "\"categories\":[[\"gold\",\"none\",\"silver\"],[]],\"means\":[\"0\",\"")) << table;
  // By what the run keeps: other columns, another order, an age that is not known, no other set.
  std::filesystem::remove(folder / "train.csv");
  EXPECT_EQ(test_run(run, {}).metrics, trained.metrics);
  write_file_whole(folder / "new.csv", "age,extra,ticket\n,1,gold\n30,1,none\n");
  const std::string csv = predict_run(run, folder / "new.csv").csv;
  EXPECT_TRUE(says(csv, "\n0,1,yes,")) << csv;
  EXPECT_TRUE(says(csv, "\n1,0,no,")) << csv;
  write_file_whole(folder / "new.csv", "age,ticket\n1,gold\n1,golden\n");
  EXPECT_TRUE(says(error_of([&] { predict_run(run, folder / "new.csv"); }), "has no category \"golden\""));
}

// One file, of which a part tests: each sample is in one of both, whatever the seed is.
TEST(TableJob, PutsAShareOfOneFileAsideForTests) {
  const TemporaryFolder folder;
  write_points(folder);
  const std::string table = (folder / "train.csv").string();
  Job job = class_job(folder, kClasses + "test_share = 0.25\n");
  job.data.path = table;
  const auto load = [&] { return load_job_data(job, make_job_network(job)); };
  const JobData data = load();
  EXPECT_EQ(data.train.size(), 24);
  EXPECT_EQ(data.test.size(), 8);
  const auto points_of = [](const Datastore& store) {
    std::set<std::vector<float>> points;
    for (int64_t i = 0; i < store.size(); ++i) points.insert(store.get(i)[0].to_vector<float>());
    return points;
  };
  auto all = points_of(data.train);
  const auto tested = points_of(data.test);
  all.insert(tested.begin(), tested.end());
  EXPECT_EQ(all.size(), 32u);
  job.seed = 7;
  EXPECT_EQ(points_of(load().test), tested);
  job.data.path = folder.path().string();
  EXPECT_EQ(points_of(load().test), tested) << "of the folder, whose test.csv is not used";
  job.data.test_samples = 3;
  EXPECT_EQ(load().test.size(), 3);
  job.data.test_samples = 9;
  EXPECT_TRUE(says(error_of([&] { load(); }), "data.test_samples is larger than the set"));
  job.data.test_samples = 0;
  // A run is tested on the part, and on other data as a whole.
  const auto run = folder / "run";
  const auto trained = train_job(job, {.out = run});
  EXPECT_GT(metric_of(trained), 0.8);
  const auto again = test_run(run);
  EXPECT_EQ(again.samples, 8);
  EXPECT_EQ(again.loss, trained.loss);
  EXPECT_EQ(test_run(run, {.overrides = {{"data.path", folder.path().string(), "--data"}}}).samples, 32);
  EXPECT_EQ(test_run(run, {.overrides = {{"data.path", table, "--data"}}}).samples, 32) << "one file";
  write_file_whole(folder / "train.csv", "x,y,side,height\n1,2,below,0\n");
  EXPECT_TRUE(says(error_of([&] { load(); }), "a share for tests (data.test_share) needs two samples at least"));
}

// The share has each class, its means are those of what trains, and no cell is read otherwise by test and predict.
TEST(TableJob, ReadsDelimitersAndWordsByItsKeys) {
  const TemporaryFolder folder;
  std::string text = "x;y;side\n";
  for (int i = 0; i < 64; ++i)
    text += fmt::format("{};{};{}\n", i % 9 ? fmt::format("{}", i / 8) : "NA", i % 7 ? fmt::format("{}", i % 8) : "?",
                        i % 16 == 5 ? "rare" : "common");
  write_file_whole(folder / "table.csv", text);
  Job job = class_job(folder,
                      "source = \"csv\"\nfeatures = 2\ntest_share = 0.25\ndelimiter = \";\"\nmissing = [\"NA\", "
                      "\"?\"]\nempty_cells = \"mean\"\n");
  job.data.path = (folder / "table.csv").string();
  const JobData data = load_job_data(job, make_job_network(job));
  int rare = 0;
  for (int64_t i = 0; i < data.test.size(); ++i) rare += data.test.get(i)[1].item<int32_t>() == 1;
  EXPECT_EQ(data.test.size(), 16);
  EXPECT_EQ(rare, 1);
  const JobDescription described = describe_job_data(job, make_job_network(job));
  EXPECT_EQ(described.train.samples, 48);
  EXPECT_EQ(described.test.samples, 16);
  const auto run = folder / "run";
  const auto trained = train_job(job, {.out = run});
  EXPECT_EQ(test_run(run).loss, trained.loss);
  const std::string named = predict_run(run, folder / "table.csv").csv;
  write_file_whole(folder / "order.csv", "y;extra;x\n?;1;0\n1;NA;0\n");
  EXPECT_TRUE(says(predict_run(run, folder / "order.csv").csv, "\n1,0,common,"));
  EXPECT_TRUE(says(named, "\n63,0,common,"));
}

TEST(TableJob, MistakesNameKeysAndPlaces) {
  const TemporaryFolder folder;
  write_points(folder);
  const auto refusal = [&](const std::string& data) {
    return error_of([&] { train_job(class_job(folder, data), {.write_run = false}); });
  };
  EXPECT_EQ(error_of([&] { class_job(folder, "source = \"csv\"\n"); }),
            "error[RT0459]: a network of layers needs the size of a sample\n  where:    points.toml:12:1\n"
            "  got:      [0]\n  help:     set data.features");
  EXPECT_TRUE(says(error_of([&] { class_job(folder, "source = \"npy\"\n"); }),
                   "help:     set data.features, or data.image_height, data.image_width and data.image_channels"));
  EXPECT_TRUE(
      says(refusal("source = \"csv\"\nfeatures = 3\ntarget_columns = [\"side\"]\nignored_columns = [\"height\"]\n"),
           "error[RT0423]: the training set has samples that network \"layers\" does not read"));
  EXPECT_TRUE(says(refusal("source = \"csv\"\nfeatures = 2\ntarget_columns = [\"sid\"]\n"), "did you mean \"side\"?"));
  EXPECT_TRUE(
      says(refusal("source = \"csv\"\nfeatures = 2\ntarget_columns = [\"side\"]\n"), "got:      samples of [3]"));
  write_file_whole(folder / "test.csv", "x,y,side,height\n1,2,below,0\n1,oops,beside,0\n");
  EXPECT_TRUE(says(refusal(kClasses),
                   "error[RT0352]: \"oops\" is no number\n  where:    " + (folder / "test.csv").string() + ":3:3"));
  write_file_whole(folder / "test.csv", "x,y,side,height\n1,2,beside,0\n");
  EXPECT_TRUE(says(refusal(kClasses), "error[RT0360]: \"beside\" is no known class"));
  std::filesystem::remove(folder / "test.csv");
  EXPECT_TRUE(says(refusal(kClasses), "test.csv\" does not exist"));
  EXPECT_TRUE(says(refusal(kClasses), "help:     without a test set data.test_share = 0.2 puts"));
  write_file_whole(folder / "train.csv", "x;y;side\n1;2;below\n");
  EXPECT_TRUE(says(refusal("source = \"csv\"\nfeatures = 2\n"), "help:     say what separates the cells: delimiter"));
  EXPECT_TRUE(
      says(error_of([&] {
             parse_job(
                 "[network]\nlayers = [{type = \"embedding\", vocabulary = 9, features = 4}, {type = \"linear\", "
                 "features = 9, flatten = false}]\n[data]\nsource = \"text\"\npath = \"here\"\ntest_share = 0.1\n",
                 "text.toml");
           }),
           "error[RT0479]: data source \"text\" puts a part aside by itself"));
}

// A run that learned weekdays finds them in new tables, whatever the order of their columns; NPZ files do what NPY do.
TEST(TableJob, DatesAndNpzFilesArePredicted) {
  const TemporaryFolder folder;
  std::string text = "day,x,side\n";
  for (int i = 0; i < 28; ++i) text += fmt::format("2024-04-{:02},{},{}\n", i + 1, i % 2, i % 7 < 5 ? "work" : "rest");
  write_file_whole(folder / "train.csv", text), write_file_whole(folder / "test.csv", text);
  const auto run = folder / "run";
  const auto result =
      train_job(class_job(folder,
                          "source = \"csv\"\nfeatures = 9\ndate_columns = [\"day\"]\ndate_origin = \"2024-04-01\"\n"
                          "date_parts = [\"weekday\"]\n"),
                {.out = run});
  EXPECT_EQ(metric_of(result), 1);
  write_file_whole(folder / "new.csv", "x,day\n0,2024-05-04\n0,6.5.2024\n");  // a Saturday and a Monday
  const std::string predicted = predict_run(run, folder / "new.csv").csv;
  EXPECT_TRUE(says(predicted, "\n0,0,rest,")) << predicted;
  EXPECT_TRUE(says(predicted, "\n1,1,work,")) << predicted;

  const std::string x = npy_of<float>("<f4", "(4, 2)", {0, 0, 0, 1, 1, 0, 1, 1});
  const std::string y = npy_of<int64_t>("<i8", "(4,)", {0, 0, 1, 1});
  write_file_whole(folder / "a.npz",
                   zip_of({{"x_train.npy", x}, {"y_train.npy", y}, {"x_test.npy", x}, {"y_test.npy", y}}));
  write_file_whole(folder / "x.npy", x);
  Job arrays = class_job(folder, "source = \"npy\"\nfeatures = 2\n");
  arrays.data.path = (folder / "a.npz").string();
  const auto other = folder / "other";
  train_job(arrays, {.out = other});
  const std::string wanted = predict_run(other, folder / "x.npy").csv;
  EXPECT_EQ(predict_run(other, folder / "a.npz").csv, wanted);
  EXPECT_EQ(predict_run(other, folder / "a.npz/x_train.npy").csv, wanted);
  EXPECT_EQ(test_run(other, {.overrides = {{"data.path", (folder / "a.npz").string(), ""}}}).samples, 4);
  write_file_whole(folder / "b.npz", zip_of({{"one.npy", x}, {"two.npy", x}}));
  EXPECT_TRUE(says(error_of([&] { predict_run(other, folder / "b.npz"); }), "b.npz/one.npy"));
}

}  // namespace
}  // namespace retrace

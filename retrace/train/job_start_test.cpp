// A job that is made from a look at data trains on them as it is.
#include "retrace/train/job_start.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "retrace/base/file.h"
#include "retrace/base/warning.h"
#include "retrace/data/image_testing.h"
#include "retrace/data/npy_testing.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/zip.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

JobStart start_on(const fs::path& folder, const std::string& network = "") {
  return start_job({.data = folder.string(), .network = network});
}

TrainJobResult trained(const JobStart& start, const std::vector<std::string>& settings = {}) {
  std::vector<JobOverride> overrides{parse_override("device=cpu")};
  for (const auto& setting : settings) overrides.push_back(parse_override(setting));
  return train_job(parse_job(start.text, "job.toml", overrides), {.write_run = false});
}

// The text with every key that a comment proposes.
std::string with_proposals(const std::string& text) {
  return std::regex_replace(text, std::regex("# ([a-z_]+ = )"), "$1");
}

// Rows of two features and a target; `target` is that of the place of a point.
template <class Target>
void write_csv(const fs::path& folder, const std::string& names, Target target) {
  for (const int first : {0, 1}) {
    std::string text = names;
    for (int i = first; i < 80; i += 2) text += fmt::format("{},{},{}\n", i % 9 * 100, i % 7 - 3, target(i % 9));
    write_file_whole(folder / (first ? "test.csv" : "train.csv"), text);
  }
}

TEST(JobStart, OfAFolderWithOneTableOfAnyName) {
  const TemporaryFolder folder;
  std::string text = "size,price\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{}\n", i % 9 + 0.5, i % 9 * 2);
  write_file_whole(folder.path() / "sales 2024.csv", text);
  const JobStart start = start_on(folder.path());
  EXPECT_TRUE(says(start.text, "sales 2024.csv\"")) << start.text;
  EXPECT_EQ(start.samples + start.test_samples, 60);
  write_file_whole(folder.path() / "more.csv", text);
  const std::string error = error_of([&] { start_on(folder.path()); });
  EXPECT_TRUE(says(error, "  got:      2 files .csv\n")) << error;
  EXPECT_TRUE(says(error, "give one of them to --data")) << error;
}

// Files that no source reads are named, with what makes others of them.
TEST(JobStart, SaysWhatMakesDataOfOtherFiles) {
  const std::pair<const char*, const char*> kinds[] = {{"a/1.wav", "sounds are read as series"},
                                                       {"b/2.BMP", "images are read from JPEG and PNG"},
                                                       {"data.mat", "arrays are read from train_inputs.npy"},
                                                       {"c.parquet", "tables are read from CSV files"}};
  for (const auto& [name, help] : kinds) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / name;
    fs::create_directories(file.parent_path());
    write_file_whole(file, "?");
    const std::string error = error_of([&] { start_on(folder.path()); });
    EXPECT_TRUE(says(error, "  got:      1 file .")) << error;
    EXPECT_TRUE(says(error, help)) << error;
    const std::string of_file = error_of([&] { start_on(file); });
    EXPECT_TRUE(says(of_file, help)) << of_file;
  }
}

// Texts with few values are categories, those that are all different names; empty cells are means.
TEST(JobStart, OfTablesWithTextsAndEmptyCells) {
  const TemporaryFolder folder;
  for (const char* const name : {"train.csv", "test.csv"}) {
    std::string text = "name,city,age,kind\n";
    for (int i = 0; i < 60; ++i)
      text += fmt::format("person {},{},{},{}\n", i, i % 2 ? "Rome" : "Oslo", i % 9 ? fmt::format("{}", i % 30) : "",
                          i % 2 ? "a" : "b");
    write_file_whole(folder / name, text);
  }
  const JobStart start = start_on(folder.path());
  EXPECT_TRUE(says(start.text, "\nfeatures = 3  #")) << start.text;
  EXPECT_TRUE(says(start.text, "\ncategorical_columns = [\"city\"]  #"));
  EXPECT_TRUE(says(start.text, "\nempty_cells = \"mean\"  #"));
  EXPECT_TRUE(says(start.text, "\nignored_columns = [\"name\"]  #"));
  EXPECT_GT(train_job(parse_job(start.text, "job.toml"), {.write_run = false}).metrics.at(0).second, 0.9);
}

// Semicolons, words for empty cells, numbers of the records, and a target that is not the last column.
TEST(JobStart, OfTablesAsOtherProgramsWriteThem) {
  const TemporaryFolder folder;
  const std::string file = (folder / "t.csv").string();
  std::string text = "id;Species;age;note;code;none\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{};{};{};{};{};-\n", 1000 + 7 * i, i % 3 ? "a" : "b", i % 9 ? fmt::format("{}", i % 30) : "NA",
                        i % 5 ? fmt::format("{}", i) : "many", i % 4 ? "q" : "NA");
  write_file_whole(file, text);
  const JobStart start = start_job({.data = file});
  for (const char* const line :
       {"\nfeatures = 3  #", "\ndelimiter = \";\"  #", "\nmissing = [\"NA\"]  #", "\nempty_cells = \"mean\"  #",
        "\ntarget_columns = [\"Species\"]  # what is learned, by its name; retrace init --target NAME takes another "
        "column\n",
        "\ncategorical_columns = [\"code\"]  #",
        "\nignored_columns = [\"id\", \"note\", \"none\"]  # id: numbers the records; note: not all are numbers, such "
        "as "
        "\"many\"; none: has no value\n"})
    EXPECT_TRUE(says(start.text, line));
  EXPECT_EQ(start.test_samples, 12);
  EXPECT_EQ(trained(start, {"training.max_epochs=1"}).iterations, 2);
  const JobStart other = start_job({.data = file, .target = "age"});
  EXPECT_TRUE(says(other.text, "\ntask = \"regression\"  # what is learned: a class or values\nfeatures = 3  #"));
  EXPECT_TRUE(says(other.text, "\nempty_cells = \"drop\"  # records with an empty cell, also of the target"));
  EXPECT_EQ(trained(other, {"training.max_epochs=1"}).iterations, 1);
  EXPECT_EQ(error_of([&] { start_job({.data = file, .target = "agee"}); }),
            "error[RT0355]: the CSV file has no column \"agee\"\n  where:    " + file +
                "\n  expected: id, Species, age, note, code, none\n  help:     did you mean \"age\"?");
  EXPECT_EQ(
      error_of([&] { start_job({.data = "digits", .target = "age"}); }),
      "error[RT0498]: data that the source \"digits\" reads have no target to choose\n  got:      target \"age\"\n"
      "  help:     leave it out: the columns of a table alone can be named (CSV)");
  write_file_whole(file, "x,city\n1,K\xf6ln\n");
  EXPECT_EQ(
      error_of([&] { start_job({.data = file}); }),
      "error[RT0499]: the CSV file is no UTF-8\n  where:    " + file +
          ":2\n  got:      the byte 0xf6\n  help:     convert the file: iconv -f LATIN1 -t UTF-8, or -f UTF-16, or "
          "what it is written in");
}

TEST(JobStart, OfTablesWithDecimalCommas) {
  const TemporaryFolder folder;
  const std::string file = (folder / "t.csv").string();
  std::string text = "x;code;y\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{};{};{},5\n", i % 7, i % 10, i % 2 ? "a,b" : "c", 100 + i);
  write_file_whole(file, text);
  const JobStart start = start_job({.data = file});
  for (const char* const line : {"\ntask = \"regression\"  #", "\ndecimal = \",\"  #", "\ndelimiter = \";\"  #",
                                 "\ncategorical_columns = [\"code\"]  #"})
    EXPECT_TRUE(says(start.text, line));
  EXPECT_EQ(trained(start, {"training.max_epochs=1"}).iterations, 1);
  const auto refusal = [&](const char* table) {
    write_file_whole(file, table);
    return error_of([&] { start_job({.data = file}); });
  };
  EXPECT_EQ(
      refusal("x;z;y\n1 500;1.5;a\n2;2.5;b\n"),
      "error[RT0534]: numbers of the column \"x\" have separators of thousands\n  where:    " + file +
          ":2:1\n  got:      \"1 500\"\n  expected: numbers like 1234.5\n"
          "  help:     write the table again without them; with pandas: pandas.read_csv(FILE, sep=\";\", thousands=\" "
          "\").to_csv(FILE, index=False)");
  EXPECT_EQ(refusal("x;z;y\n1,5;1.5;a\n2,5;2.5;b\n"),
            "error[RT0497]: numbers of the column \"x\" have commas\n  where:    " + file +
                ":2:1\n  expected: points or commas before decimals, and not both in one table\n  help:     write the "
                "table again with points, and without separators of thousands; with pandas: "
                "pandas.read_csv(FILE, thousands=\",\").to_csv(FILE, index=False)");
  EXPECT_TRUE(says(refusal("x,y\n\"1,000\",a\n\"2,000\",b\n"), "where cells are separated by commas"));
}

// Numbers of the records have no name of an id, and the first column alone is looked at; few records may go up.
TEST(JobStart, OfTablesWithNumbersOfTheRecords) {
  const TemporaryFolder folder;
  const std::string file = (folder / "t.csv").string();
  const auto text_of = [&](int records, const std::string& names) {
    std::string text = names;
    for (int i = 0; i < records; ++i) text += fmt::format("{},{},{},{}\n", i, i, i % 5, i % 2 ? "a" : "b");
    write_file_whole(file, text);
    return start_job({.data = file}).text;
  };
  EXPECT_TRUE(says(text_of(40, "n,x,y,z\n"), "\nignored_columns = [\"n\"]  # n: numbers the records\n"));
  EXPECT_TRUE(says(text_of(10, ",x,y,z\n"), "\nignored_columns = [\"1\"]  # 1: numbers the records\n"));
  EXPECT_TRUE(says(text_of(40, ""), "\nignored_columns = [\"1\"]  # 1: numbers the records\n"));
  EXPECT_FALSE(says(text_of(10, "n,x,y,z\n"), "ignored_columns"));
  EXPECT_TRUE(says(text_of(10, "n,passengerId,w,z\n"), "\nignored_columns = [\"passengerId\"]"));
  EXPECT_TRUE(says(text_of(10, "a,x,y,z\n"), "\ntarget_columns = [\"z\"]")) << "of coordinates y is none";
  EXPECT_TRUE(says(text_of(10, "a,b,y,z\n"), "\ntarget_columns = [\"y\"]"));
  EXPECT_TRUE(says(text_of(10, "a,class,target,z\n"), "\ntarget_columns = [\"target\"]"));
  EXPECT_TRUE(says(text_of(10, "a,b,target,Class\n"), "\ntarget_columns = [\"target\"]"));
}

TEST(JobStart, OfClassesInCsvHasThisTextAndLearns) {
  const TemporaryFolder folder;
  write_csv(folder.path(), "width,\"a, b\",kind\n", [](int x) { return x < 3 ? "low" : x < 6 ? "mid" : "high"; });
  const JobStart start = start_on(folder.path());
  EXPECT_EQ(start.source, "csv");
  EXPECT_EQ(start.samples, 40);
  EXPECT_EQ(start.test_samples, 40);
  EXPECT_EQ(start.sample, (Shape{2}));
  EXPECT_EQ(start.classes, 3);
  EXPECT_EQ(start.text,
            "# 40 samples to train on and 40 to test on: 2 features, from which 3 classes are learned.\n"
            "# A start, made by retrace init: change what you like. Train it: retrace train job.toml\n"
            "seed = 1\n"
            "\n"
            "[network]  # docs/networks.md; retrace analyze shows sizes and learnables\n"
            "layers = [\n"
            "  {type = \"batch_norm\"},  # brings all features to one scale\n"
            "  {type = \"linear\", features = 32}, {type = \"relu\"},\n"
            "  {type = \"linear\", features = 32}, {type = \"relu\"},\n"
            "  {type = \"linear\", features = 3},  # a score for each class\n"
            "  {type = \"softmax\"},\n"
            "]\n"
            "\n"
            "[data]  # docs/data.md\n"
            "source = \"csv\"\n"
            "path = \"" +
                folder.path().string() +
                "\"\n"
                "features = 2  # the number of features, of which each category is one; 0: as the training set has\n"
                "target_columns = [\"kind\"]  # what is learned, the last column; retrace init --target NAME takes "
                "another one\n"
                "\n"
                "[training]  # docs/training.md\n"
                "max_epochs = 100\n"
                "mini_batch_size = 32\n"
                "shards = 1  # parts of a mini-batch, so many workers can share it; another number is another result\n"
                "solver = \"adam\"\n"
                "initial_learn_rate = 0.001\n"
                "shuffle = \"every-epoch\"\n"
                "# schedule = \"cosine\"  # the learn rate falls to 0\n"
                "# gradient_threshold = 1.0  # gradients of a larger norm are clipped\n"
                "# output_network = \"best-validation\"  # not the weights of the last step\n"
                "\n"
                "[validation]\n"
                "frequency = 1  # epochs from one look at the test set to the next\n"
                "# patience = 5  # ends a training after so many validations in a row without a better one\n");
  const auto result = trained(start);
  ASSERT_EQ(result.metrics.at(0).first, "accuracy");
  EXPECT_GT(result.metrics[0].second, 0.8);
  const Job all = parse_job(with_proposals(start.text), "job.toml");
  EXPECT_EQ(all.training.schedule, "cosine");
  EXPECT_EQ(all.validation.patience, 5);
}

TEST(JobStart, SeesInCsvWhatTheTargetIsAndWhetherThereAreNames) {
  const TemporaryFolder folder;
  write_csv(folder.path(), "", [](int x) { return x < 5 ? "red" : "blue"; });
  const JobStart labels = start_on(folder.path());
  EXPECT_EQ(labels.classes, 2);
  EXPECT_EQ(labels.samples, 40) << "the first line is a sample";
  EXPECT_EQ(trained(labels, {"training.max_epochs=1"}).iterations, 2);

  write_csv(folder.path(), "a,b,number\n", [](int x) { return x % 4; });
  EXPECT_EQ(start_on(folder.path()).classes, 4);

  write_csv(folder.path(), "a,b,value\n", [](int x) { return x * 0.25 - 1; });
  const JobStart values = start_on(folder.path());
  EXPECT_EQ(values.classes, 0);
  EXPECT_TRUE(says(values.text, "task = \"regression\"  # what is learned: a class or values\n"));
  EXPECT_TRUE(says(values.text, ": 2 features, from which 1 value is learned.\n"));
  const auto result = trained(values);
  EXPECT_EQ(result.metrics.at(0).first, "rmse");
  EXPECT_LT(result.metrics[0].second, 0.3);

  // More whole numbers than classes have.
  write_csv(folder.path(), "a,b,value\n", [n = 0](int) mutable { return n++; });
  EXPECT_EQ(start_on(folder.path()).classes, 0);
}

// Values far from 0 are made of numbers near 1; the deviation and mean are those of the training set.
TEST(JobStart, BringsLargeValuesToScale) {
  const TemporaryFolder folder;
  write_csv(folder.path(), "a,b,price\n", [](int x) { return x * 20000 + 300000.5; });
  const JobStart prices = start_on(folder.path());
  EXPECT_TRUE(says(prices.text, "{type = \"linear\", features = 1},  # the values\n  {type = \"scaling\", scale = "))
      << prices.text;
  EXPECT_TRUE(says(prices.text, "},  # deviation and mean of what is learned\n"));
  EXPECT_LT(trained(prices).metrics.at(0).second, 20000);

  write_csv(folder.path(), "a,b,value\n", [](int x) { return x * 0.25 - 1; });
  EXPECT_FALSE(says(start_on(folder.path()).text, "scaling"));
}

TEST(JobStart, OfTextsAndSeriesInFoldersOfClassesAlone) {
  const TemporaryFolder folder;
  for (const auto& [kind, ending, text] :
       {std::tuple("texts", "txt", "words"), std::tuple("series", "csv", "1,2\n3,4\n")}) {
    const fs::path data = folder.path() / kind;
    for (const char* const name : {"bad", "good"}) {
      fs::create_directories(data / name);
      for (int i = 0; i < 5; ++i) write_file_whole(data / name / fmt::format("{}.{}", i, ending), text);
    }
    const JobStart start = start_on(data);
    EXPECT_EQ(start.source, kind);
    EXPECT_EQ(start.samples, 8);
    EXPECT_EQ(start.test_samples, 2);
    EXPECT_EQ(start.classes, 2);
    EXPECT_EQ(trained(start, {"training.max_epochs=1"}).iterations, 1);
  }
}

TEST(JobStart, OfNpyFiles) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& shape, int64_t size, const std::string& targets, auto target) {
    for (const std::string split : {"train", "test"}) {
      std::vector<float> inputs(static_cast<size_t>(20 * size));
      for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<float>(i % 13) / 13;
      write_file_whole(folder / (split + "_inputs.npy"), npy_of("<f4", "(20, " + shape + ")", inputs));
      std::vector<decltype(target(0))> values;
      for (int i = 0; i < 20; ++i) values.push_back(target(i));
      write_file_whole(folder / (split + "_targets.npy"),
                       npy_of(sizeof(target(0)) == 8 ? "<i8" : "<f4", targets, values));
    }
  };
  write("5", 5, "(20,)", [](int i) -> int64_t { return i % 6; });
  const JobStart features = start_on(folder.path());
  EXPECT_EQ(features.source, "npy");
  EXPECT_EQ(features.classes, 6);
  EXPECT_EQ(features.sample, (Shape{5}));
  EXPECT_EQ(trained(features, {"training.max_epochs=2"}).iterations, 2) << "mini-batches of 20, the whole set";

  write("9, 12, 3", 9 * 12 * 3, "(20,)", [](int i) -> int64_t { return i % 2; });
  const JobStart images = start_on(folder.path());
  EXPECT_EQ(images.sample, (Shape{9, 12, 3}));
  EXPECT_EQ(trained(images, {"training.max_epochs=1"}).metrics.at(0).first, "accuracy");

  write("5", 5, "(20,)", [](int i) { return static_cast<float>(i) / 20; });
  EXPECT_EQ(trained(start_on(folder.path()), {"training.max_epochs=1"}).metrics.at(0).first, "rmse");
}

// What a camera says and what is rare is told; even classes are not spoken of.
TEST(JobStart, TellsTurnedImagesAndUnevenClasses) {
  static std::string warnings;
  warnings.clear();
  set_warning_handler([](const std::string& text) { warnings += text; });
  const ImageFolder folder;
  const std::string image = jpeg_of(std::vector<uint8_t>(8 * 8 * 3, 80), 8, 8, 3);
  const auto fill = [&](const std::string& name, int count) {
    for (int i = 0; i < count; ++i)
      folder.write(fmt::format("{}/{}.jpg", name, i), i == 1 ? with_orientation(image, 6) : image);
  };
  fill("often", 20), fill("rare", 10);
  EXPECT_FALSE(says(start_on(folder.path()).text, "Classes have from"));
  EXPECT_TRUE(says(warnings, "2 of 30 images have an orientation of EXIF, which is not applied")) << warnings;
  fill("often", 50);
  const std::string text = start_on(folder.path()).text;
  set_warning_handler(nullptr);
  EXPECT_TRUE(says(text, "# Classes have from 8 samples (\"rare\") to 40 (\"often\"): accuracy says little")) << text;
  EXPECT_TRUE(says(text, "(docs/networks.md 3): class_weights = [0.6, 3]\n")) << text;
}

// Dates are days since the first of them, and the run says so to who predicts.
TEST(JobStart, OfTablesWithDates) {
  const TemporaryFolder folder;
  std::string text = "day,value\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("2024-{:02}-{:02},{}\n", 3 + i / 28, 1 + i % 28, i);
  write_file_whole(folder / "a.csv", text);
  const JobStart start = start_on(folder / "a.csv");
  EXPECT_EQ(start.sample, (Shape{1}));
  EXPECT_TRUE(says(start.text, "\ndate_columns = [\"day\"]  #")) << start.text;
  EXPECT_TRUE(says(start.text, "\ndate_origin = \"2024-03-01\"  # the first"));
  const auto run = trained(start, {"training.max_epochs=3", "data.date_parts=weekday", "data.features=8"});
  EXPECT_EQ(run.metrics.at(0).first, "rmse");
}

// As Keras keeps its data sets, alone in a folder or named; as MedMNIST does; and without a test set.
TEST(JobStart, OfArraysInOneNpzFile) {
  std::vector<uint8_t> images(30 * 12 * 12), classes(30);
  for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<uint8_t>(i % 251);
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<uint8_t>(i % 3);
  const std::string x = npy_of("|u1", "(30, 12, 12)", images), y = npy_of("|u1", "(30,)", classes);
  const std::string column = npy_of("|u1", "(30, 1)", classes);
  const auto start_with = [&](const std::vector<std::pair<std::string, std::string>>& arrays) {
    const TemporaryFolder folder;
    write_file_whole(folder / "data.npz", zip_of(arrays));
    const JobStart start = start_on(folder / "data.npz");
    EXPECT_EQ(start_on(folder.path()).text, start.text) << "it is alone in its folder";
    EXPECT_EQ(trained(start, {"training.max_epochs=1"}).metrics.at(0).first, "accuracy");
    return start;
  };
  const JobStart keras = start_with({{"x_test.npy", x}, {"x_train.npy", x}, {"y_test.npy", y}, {"y_train.npy", y}});
  EXPECT_EQ(keras.source, "npy");
  EXPECT_EQ(keras.sample, (Shape{12, 12, 1}));
  EXPECT_EQ(keras.classes, 3);
  EXPECT_EQ(keras.test_samples, 30);
  const JobStart medical = start_with(
      {{"train_images.npy", x}, {"train_labels.npy", column}, {"test_images.npy", x}, {"test_labels.npy", column}});
  EXPECT_EQ(medical.classes, 3);
  const JobStart alone = start_with({{"x.npy", x}, {"y.npy", y}});
  EXPECT_TRUE(says(alone.text, "\ntest_share = 0.2 "));
  EXPECT_EQ(alone.test_samples, 6);
  const std::string error = error_of([&] { start_with({{"a.npy", x}, {"b.npy", y}}); });
  EXPECT_TRUE(says(error, "has no inputs of a training set\n  got:      the arrays a, b\n")) << error;
}

TEST(JobStart, OfImagesInFoldersOfAnySizes) {
  const ImageFolder folder;
  for (const std::string split : {"train", "test"})
    for (int n = 0; n < 6; ++n) {
      const int64_t height = n == 0 ? 96 : 20, width = 48;
      folder.write(fmt::format("{}/{}/{}.jpg", split, n % 2 ? "odd \\ \\\"one\\\"" : "even", n),
                   jpeg_of(std::vector<uint8_t>(static_cast<size_t>(height * width * 3), static_cast<uint8_t>(n * 40)),
                           height, width, 3));
    }
  const JobStart start = start_on(folder.path());
  EXPECT_EQ(start.source, "images");
  EXPECT_EQ(start.sample, (Shape{64, 32, 3})) << "of the first image, 96 x 48, brought to 64";
  EXPECT_EQ(start.classes, 2);
  EXPECT_EQ(trained(start, {"training.max_epochs=1"}).iterations, 1);
  const Job all = parse_job(with_proposals(start.text), "job.toml", {parse_override("device=cpu")});
  EXPECT_EQ(all.data.transforms.size(), 2u);
}

// Folders of classes, and no test set.
TEST(JobStart, OfImagesInFoldersOfClassesAlone) {
  const ImageFolder folder;
  for (int n = 0; n < 20; ++n)
    folder.write(fmt::format("{}/{}.jpg", n % 2 ? "dark" : "light", n),
                 jpeg_of(std::vector<uint8_t>(432, static_cast<uint8_t>(n % 2 ? n : 255 - n)), 12, 12, 3));
  const JobStart start = start_on(folder.path());
  EXPECT_EQ(start.samples, 16);
  EXPECT_EQ(start.test_samples, 4);
  EXPECT_EQ(start.classes, 2);
  EXPECT_TRUE(says(start.text, "\ntest_share = 0.2  #"));
  EXPECT_EQ(trained(start, {"training.max_epochs=1"}).iterations, 1);
}

TEST(JobStart, OfIdxFilesAndOfBuiltInSets) {
  const TemporaryFolder folder;
  kind_of(all_sources(), "digits", "data source", {}).write(folder.path());
  const JobStart idx = start_on(folder.path());
  EXPECT_EQ(idx.source, "mnist");
  EXPECT_EQ(idx.samples, 5000);
  EXPECT_EQ(idx.classes, 10);
  const std::vector<std::string> small{"training.max_epochs=1", "data.train_samples=64", "data.test_samples=16"};
  EXPECT_EQ(trained(idx, small).iterations, 2);
  for (const auto& source : all_sources()) {
    if (source.reads_folder) continue;
    const JobStart start = start_on(source.name);
    EXPECT_EQ(start.source, source.name);
    EXPECT_EQ(trained(start, small).iterations, 2) << source.name;
  }
  const JobStart named = start_on("digits", "digits");
  EXPECT_TRUE(says(named.text, "[network]\nname = \"digits\"\n"));
  EXPECT_EQ(trained(named, small).metrics.size(), 2u);
}

TEST(JobStart, OfCifar10) {
  const TemporaryFolder folder;
  for (const std::string name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
    std::string bytes;
    for (int n = 0; n < 4; ++n) bytes += static_cast<char>(n) + std::string(3072, static_cast<char>(n * 50));
    write_file_whole(folder / (name + ".bin"), bytes);
  }
  const JobStart start = start_on(folder.path());
  EXPECT_EQ(start.source, "cifar10");
  EXPECT_EQ(start.classes, 10) << "all that there are, not those of these files alone";
  EXPECT_EQ(trained(start, {"training.max_epochs=1"}).iterations, 1);
}

TEST(JobStart, SaysWhatTheDataLack) {
  const TemporaryFolder root;
  const auto error = [&](const std::string& data, const std::string& network = "") {
    return error_of([&] { start_job({.data = data, .network = network}); });
  };
  EXPECT_EQ(error("digit"),
            "error[RT0673]: no job can start from \"digit\", which is neither a folder nor a built-in data set\n"
            "  expected: a folder, or one of cifar10-synthetic, digits, noisy-digits, peaks\n"
            "  help:     did you mean \"digits\"?");
  EXPECT_EQ(error("csv"),
            "error[RT0673]: no job can start from \"csv\", which reads the files of a folder\n"
            "  help:     give the folder that holds train.csv and test.csv");
  const std::string folder = root.path().string();
  EXPECT_EQ(
      error(folder),
      "error[RT0673]: no job can start from \"" + folder +
          "\", which holds no data that a source reads\n"
          "  expected: data_batch_1.bin to data_batch_5.bin and test_batch.bin (cifar10); train.csv and test.csv "
          "(csv); train/images and train/masks, folders of images with the same names (image-pairs); train.csv and "
          "test.csv, tables that name images (image-table); train/CLASS and test/CLASS, or CLASS "
          "alone, folders of images (images); the four IDX files (mnist); "
          "train_inputs.npy, train_targets.npy, test_inputs.npy and test_targets.npy, or an NPZ file (npy); "
          "train/CLASS and "
          "test/CLASS, or CLASS alone, folders of series (series); train.txt and test.txt, or "
          "texts of which a part tests (text); train.csv and test.csv, tables of texts (text-table); train/CLASS and "
          "test/CLASS, or CLASS alone, folders of texts (texts); "
          "train/CLASS and "
          "test/CLASS, or CLASS alone, folders of volumes (volumes)\n"
          "  help:     docs/data.md says how the files are named");
  fs::create_directory(root / "inner");
  write_csv(root / "inner", "a,b,kind\n", [](int x) { return x < 5 ? "red" : "blue"; });
  EXPECT_TRUE(says(error(folder), "did you mean \"" + folder + "/inner\"?"));
  write_csv(root.path(), "a,b,kind\n", [](int x) { return x < 5 ? "red" : "blue"; });
  EXPECT_EQ(error(folder), "no error");
  EXPECT_EQ(error(folder + "/train.csv"), "no error");
  write_file_whole(root / "notes.md", "");
  EXPECT_EQ(error(folder + "/notes.md"),
            "error[RT0673]: no job can start from \"" + folder +
                "/notes.md\", which is neither a folder, a text (.txt), a table (.csv, .tsv) nor arrays (.npz)\n"
                "  help:     texts are read from .txt files in a folder for each class (docs/data.md 9)");
  write_file_whole(root / "notes", "");
  EXPECT_TRUE(says(error(folder + "/notes"), "  help:     give the folder that holds training set and test set"));
  EXPECT_TRUE(says(error(folder, "digitz"), "did you mean \"digits\"?"));
  EXPECT_NE(error(folder, "digits"), "no error") << "it takes images";
  fs::remove(root / "test.csv");
  EXPECT_EQ(error(folder), "no error") << "a part of the training set tests";
  write_file_whole(root / "train.csv", "a,b,kind\n1,1e99,red\n");
  EXPECT_TRUE(says(error(folder), "train.csv:2:3")) << "files that are there and damaged are told";
  write_file_whole(root / "train.csv", "a,b,kind\n1,2,red\n");
  write_file_whole(root / "train_inputs.npy", npy_of<float>("<f4", "(1, 1)", {1}));
  write_file_whole(root / "train_targets.npy", npy_of<float>("<f4", "(1,)", {1}));
  EXPECT_EQ(error(folder),
            "error[RT0673]: no job can start from \"" + folder +
                "\", which holds data of several sources\n"
                "  got:      csv, npy\n"
                "  help:     name one of them: --source csv; or put the files of each into a folder of their own");
}

}  // namespace
}  // namespace retrace

// CSV files as stores: what is read, and the whole texts of what is refused.
#include "retrace/data/csv_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include <fstream>
#include <limits>

#include "retrace/data/csv_table.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

CsvTable table(const std::string& text, const CsvColumns& columns = {}) {
  return parse_csv_table(text, "x.csv", columns);
}

std::string refusal(const std::string& text, const CsvColumns& columns = {}) {
  return error_of([&] { table(text, columns); });
}

class CsvFile {
 public:
  explicit CsvFile(const std::string& text) { std::ofstream(path()) << text; }
  std::string path() const { return (folder_ / "x.csv").string(); }

 private:
  TemporaryFolder folder_;
};

std::vector<std::vector<std::string>> records(const std::string& text) {
  CsvReader reader(text, "x.csv");
  std::vector<std::vector<std::string>> all;
  while (reader.next()) {
    auto& record = all.emplace_back();
    for (const auto& cell : reader.cells()) record.push_back(cell.text);
  }
  return all;
}

TEST(Csv, CellsAreThoseOfRfc4180) {
  const std::vector<Texts> two{{"a", "b"}, {"c", "d"}};
  EXPECT_EQ(records("a,b\nc,d\n"), two);
  EXPECT_EQ(records("a,b\r\nc,d"), two);
  EXPECT_EQ(records("\xef\xbb\xbf a ,\tb\nc,d\r\n\r\n\n"), two) << "mark, blanks, empty lines at the end";
  EXPECT_EQ(records("\"a\",b\n\"c\",\"d\""), two);
  EXPECT_EQ(records("\"a,\"\"b\"\"\nc\",\" d \"\n"), (std::vector<Texts>{{"a,\"b\"\nc", " d "}}));
  EXPECT_EQ(records(",\n\"\",x\n"), (std::vector<Texts>{{"", ""}, {"", "x"}}));
  EXPECT_TRUE(records("").empty());
  EXPECT_TRUE(records("\n\r\n").empty());
}

TEST(Csv, PositionsCountLinesWithinQuotes) {
  CsvReader reader("\"a\nb\",c\nd,\"e\"", "x.csv");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.place(reader.cells()[1].position), "x.csv:2:4");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.place(reader.cells()[1].position), "x.csv:3:3");
}

TEST(Csv, NumbersAreTheNearestF32) {
  const CsvTable read = table("a,b,c\n1,-2.5e-3,+.5\n16777217, 1e-45 ,3.4028235e38\n0.1,-0,007\n", {.features = 2});
  EXPECT_EQ(read.columns, (Texts{"a", "b"}));
  EXPECT_EQ(read.rows, 3);
  EXPECT_EQ(read.features, (Floats{1, -0.0025f, 16777216, std::numeric_limits<float>::denorm_min(), 0.1f, -0.0f}));
  EXPECT_EQ(read.values, (Floats{0.5f, std::numeric_limits<float>::max(), 7}));
}

TEST(Csv, ColumnsAreNamedOrCounted) {
  const std::string text = "1,2,3,4\n5,6,7,8\n";
  const auto features = [&](const CsvColumns& columns) { return table(text, columns).features; };
  EXPECT_EQ(features({.header = false}), (Floats{1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(features({.header = false, .targets = {"1"}, .ignored = {"3"}}), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(table(text, {.header = false, .targets = {"3", "1"}}).values, (Floats{1, 3, 5, 7})) << "in their order";
  // Of what is predicted the target may be there or not.
  const CsvColumns inputs{.targets = {"y"}, .features = 2, .for_inputs = true};
  EXPECT_EQ(table("a,y,b\n1,?,2\n", inputs).features, (Floats{1, 2}));
  EXPECT_EQ(table("a,b\n1,2\n", inputs).features, (Floats{1, 2}));
  const CsvColumns last{.features = 2, .for_inputs = true};
  EXPECT_EQ(table("a,b,y\n1,2,\n", last).features, (Floats{1, 2}));
  EXPECT_EQ(table("a,b\n1,2\n", last).features, (Floats{1, 2}));
  EXPECT_TRUE(has_csv_header("a,1\n", "x", 2));
  EXPECT_TRUE(has_csv_header("\"1\",1\n", "x", 2));
  EXPECT_FALSE(has_csv_header("1,nan\n", "x", 2));
  EXPECT_FALSE(has_csv_header("1,2,rose\n", "x", 2)) << "a class behind two features";
  EXPECT_FALSE(has_csv_header("rose,1,2\n", "x", 2));
  EXPECT_TRUE(has_csv_header("a,b,kind\n", "x", 2));
}

// As pandas writes its index.
TEST(Csv, TheFirstColumnMayHaveNoName) {
  EXPECT_EQ(table(",a,y\n0,5,1\n1,6,2\n", {.ignored = {"1"}}).features, (Floats{5, 6}));
  EXPECT_EQ(table(",a,y\n0,5,1\n1,6,2\n").columns, (Texts{"1", "a"}));
}

TEST(Csv, ColumnsAreFoundByTheirNames) {
  const std::string text = "p,c,q,a,b\n1,2,3,4,5\n6,7,8,9,10\n";
  const CsvTable read = table(text, {.targets = {"q", "p"}, .named = {"a", "b", "c"}});
  EXPECT_EQ(read.columns, (Texts{"a", "b", "c"}));
  EXPECT_EQ(read.targets, (Texts{"q", "p"}));
  EXPECT_EQ(read.features, (Floats{4, 5, 2, 9, 10, 7}));
  EXPECT_EQ(read.values, (Floats{3, 1, 8, 6}));
  EXPECT_EQ(table(text, {.named = {"a", "c"}}).values, (Floats{5, 10})) << "the last one";
  EXPECT_EQ(table(text, {.named = {"c", "q"}, .for_inputs = true}).features, (Floats{2, 3, 7, 8}));
  EXPECT_EQ(table("caf\xe9,y\n1,2\n", {.named = {"caf?"}}).features, Floats{1}) << "as a run keeps names";
  EXPECT_EQ(refusal(text, {.named = {"a", "d", "e"}}),
            "error[RT0695]: the CSV file has no column for the features d, e\n  where:    x.csv\n"
            "  got:      columns p, c, q, a, b\n  expected: features a, d, e\n"
            "  help:     columns are found by the names that the training set gave them; without a line of names they "
            "count in its order");
  EXPECT_TRUE(says(refusal("length,kind\n1,2\n", {.named = {"lenght"}}), "did you mean \"length\"?"));
  EXPECT_TRUE(
      says(refusal(text, {.targets = {"a"}, .named = {"a"}}), "error[RT0359]: the column \"a\" is named twice"));
}

TEST(Csv, RefusesWhatIsNoCsv) {
  EXPECT_EQ(refusal("a,b\n1,\"2\n"),
            "error[RT0349]: the CSV file has a quoted cell without an end\n  where:    x.csv:2:3\n"
            "  help:     end it with a quote");
  EXPECT_EQ(refusal("a,b\n\"1\"x,2\n"),
            "error[RT0349]: the CSV file has text behind the quotes of a cell\n  where:    x.csv:2:4\n"
            "  help:     put a comma between cells, and write a quote in one twice");
  EXPECT_EQ(refusal("a,b\n1 \"x\",2\n"),
            "error[RT0349]: the CSV file has a quote within a cell without quotes\n  where:    x.csv:2:3\n"
            "  help:     begin and end the cell with quotes, and write a quote in it twice");
  EXPECT_EQ(refusal("a,b\r1,2\r"),
            "error[RT0349]: the CSV file has a carriage return without a line feed\n  where:    x.csv:1:4\n"
            "  help:     end lines with LF or CRLF");
  EXPECT_EQ(refusal("a,b\n\n1,2\n"),
            "error[RT0349]: the CSV file has an empty line\n  where:    x.csv:2:1\n  help:     remove it");
  for (const char* empty : {"", "a,b\n"})
    EXPECT_EQ(refusal(empty),
              "error[RT0354]: the CSV file has no record\n  where:    x.csv\n"
              "  expected: a line of names, and at least one record");
}

TEST(Csv, CellsHaveOtherDelimiters) {
  const auto read = [](const std::string& text, char delimiter) {
    return table(text, {.delimiter = delimiter}).features;
  };
  EXPECT_EQ(read("a;b;y\n 1 ;\"2\";3\n", ';'), (Floats{1, 2}));
  EXPECT_EQ(read("a\tb, c\ty\r\n1\t 2\t3\r\n", '\t'), (Floats{1, 2}));
  EXPECT_EQ(read("a|b|y\n1|2|3\n", '|'), (Floats{1, 2}));
  EXPECT_EQ(table("a;b\n\"x;y\";1\n", {.delimiter = ';', .categorical = {"a"}}).categories[0], Texts{"x;y"});
  EXPECT_TRUE(says(refusal("a;b\n1;2;3\n", {.delimiter = ';'}), "put a cell that holds a semicolon into quotes"));
  EXPECT_TRUE(says(refusal("a\tb\n\"1\"x\t2\n", {.delimiter = '\t'}), "put a tab between cells"));
  EXPECT_EQ(refusal("a;b\n1,5;2\n", {.delimiter = ';'}),
            "error[RT0352]: \"1,5\" is no number\n  where:    x.csv:2:1\n"
            "  expected: a number: the column \"a\" is a feature\n"
            "  help:     it has a decimal comma: say so by decimal (in a job data.decimal = \",\")");
  for (const char* const text : {"1,5", "-0,25", "1,5e3"}) EXPECT_TRUE(has_decimal_comma(text)) << text;
  for (const char* const text : {"1.5", "1,", "a,b", "1,000.5", "1,2,3", ""})
    EXPECT_FALSE(has_decimal_comma(text)) << text;
  EXPECT_TRUE(says(refusal("a;b\n1;2\n"), "data.delimiter = \";\", \"|\" or \"tab\""));
}

TEST(Csv, DatesOfTheCalendarAreRead) {
  const std::tuple<const char*, double, int, int, int> dates[] = {{"1970-01-01", 0, 3, 0, 0},
                                                                  {"2024-02-29", 19782, 3, 1, 0},
                                                                  {"2024/2/29", 19782, 3, 1, 0},
                                                                  {"29.2.2024", 19782, 3, 1, 0},
                                                                  {"2024-03-03T12:00:00Z", 19785.5, 6, 2, 12},
                                                                  {"1969-12-31 18:00", -0.25, 2, 11, 18},
                                                                  {"2000-01-01 06:00:00.000", 10957.25, 5, 0, 6}};
  for (const auto& [text, day, weekday, month, hour] : dates) {
    const auto date = csv_date(text);
    ASSERT_TRUE(date) << text;
    EXPECT_EQ(date->day, day) << text;
    EXPECT_EQ(date->weekday, weekday) << text;
    EXPECT_EQ(date->month, month) << text;
    EXPECT_EQ(date->hour, hour) << text;
  }
  for (const char* const text : {"2024-05", "2024-05-0x", "2024-05-011", "20240501", "a2024-05-01", "", "2023-02-29",
                                 "2024-13-01", "5/1/2024", "24-05-01", "1.5.24", "2024-05-01T", "2024-05-01 24:00",
                                 "2024-05-01 12", "2024-05-01 12:00:00.", "2024-05-01 12:00+02:00", "1-5-2024"})
    EXPECT_FALSE(csv_date(text)) << text;
  EXPECT_EQ(csv_day_text(19782), "2024-02-29");
  EXPECT_TRUE(says(refusal("a,b\n2024-05-01,2\n"), "help:     name the column in dates, which makes days of it"));
}

TEST(CsvStore, DatesAreDaysAndParts) {
  const TemporaryFolder folder;
  write_file_whole(folder / "a.csv", "day,x,t\n2024-05-06,1,a\n2024-05-08 12:00,2,b\n");
  const std::string file = (folder / "a.csv").string();
  const CsvDatastore days = csv_store(file, {.dates = {"day"}, .date_origin = "2024-05-01"});
  EXPECT_EQ(days.get(0)[0].to_vector<float>(), (Floats{5, 1}));
  EXPECT_EQ(days.get(1)[0].to_vector<float>(), (Floats{7.5f, 2}));
  CsvStoreOptions options{.dates = {"day"}, .date_origin = "2024-05-01", .date_parts = {"weekday", "month"}};
  const CsvDatastore parts = csv_store(file, options);
  Floats wanted(1 + 7 + 12 + 1);
  wanted[0] = 5, wanted[1] = 1, wanted[1 + 7 + 4] = 1, wanted.back() = 1;
  EXPECT_EQ(parts.get(0)[0].to_vector<float>(), wanted) << "a Monday in May";
  // An empty cell is the mean of the days, and no weekday.
  write_file_whole(folder / "a.csv", "day,x,t\n2024-05-02,1,a\n,2,b\n2024-05-04,3,b\n");
  options.empty_cells = EmptyCells::mean, options.date_parts = {"weekday"};
  EXPECT_EQ(csv_store(file, options).get(1)[0].to_vector<float>(), (Floats{2, 0, 0, 0, 0, 0, 0, 0, 2}));
}

TEST(CsvStore, DatesThatAreNoneAreTold) {
  const TemporaryFolder folder;
  write_file_whole(folder / "a.csv", "day,x,t\n5/1/2024,1,a\n");
  const std::string file = (folder / "a.csv").string();
  const auto refused = [&](const CsvStoreOptions& options) { return error_of([&] { csv_store(file, options); }); };
  EXPECT_TRUE(says(refused({.dates = {"day"}}), "a.csv:2:1\n  expected: a date like 2024-05-01, "));
  EXPECT_TRUE(says(refused({.dates = {"dya"}}), "did you mean \"day\"?"));
  EXPECT_TRUE(says(refused({.dates = {"t"}}), "the column \"t\" of dates is no feature"));
  EXPECT_TRUE(says(refused({.categorical = {"day"}, .dates = {"day"}}), "of dates is one of categories"));
  EXPECT_TRUE(says(refused({.dates = {"x"}, .date_origin = "may"}), "the origin of dates is no day\n"));
  EXPECT_TRUE(says(refused({.dates = {"x"}, .date_parts = {"year"}}), "dates have no part \"year\"\n"));
}

TEST(Csv, ThousandsAreTold) {
  const std::vector<std::pair<const char*, const char*>> numbers{
      {"1,234", ","}, {"-12,345,678.5", ","},      {"1.234,5", "."}, {"1.234.567", "."},
      {"1 234", " "}, {"12\u00a0345,5", "\u00a0"}, {"1'234", "'"},   {"1_000", "_"}};
  for (const auto& [text, separator] : numbers) EXPECT_EQ(csv_thousands(text), separator) << text;
  for (const char* const text : {"1.234", "1234", "1,23", "1,2345", "12 34", "1 234 5", "1,234 567", "a,234", "", "-"})
    EXPECT_EQ(csv_thousands(text), "") << text;
  EXPECT_TRUE(
      says(refusal("a,b\n\"1,234\",2\n"),
           "help:     write it without a separator of thousands; with pandas: pandas.read_csv(FILE, "
           "thousands=\",\").to_csv(FILE, index=False); if the comma stands before decimals, say so by decimal"));
  EXPECT_TRUE(says(refusal("a,b\n1 234,2\n"), "thousands=\" \").to_csv(FILE, index=False)"));
  EXPECT_TRUE(says(refusal("a;b\n1.234,5;2\n", {.delimiter = ';', .decimal = ','}),
                   "thousands=\".\", decimal=\",\").to_csv(FILE, index=False)"));
}

TEST(Csv, NumbersHaveDecimalCommas) {
  const CsvColumns commas{.delimiter = ';', .decimal = ','};
  EXPECT_EQ(table("a;b;y\n1,5;-0,25;0\n+2;\"1,5e3\";1,5\n", commas).features, (Floats{1.5f, -0.25f, 2, 1500}));
  EXPECT_EQ(table("a;y\n1;1,5\n", commas).values, Floats{1.5f});
  for (const char* const text : {"1.5", "1.000,5", "1,000.5", "1,2,3", ","}) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(says(refusal(fmt::format("a;y\n{};1\n", text), commas), "error[RT0352]"));
  }
  EXPECT_TRUE(says(refusal("a;y\n1.5;1\n", commas), "it has a decimal point, where decimal says"));
  EXPECT_TRUE(has_csv_header("a;1,5\n", "x.csv", 2, commas));
  EXPECT_FALSE(has_csv_header("0,5;1,5\n", "x.csv", 2, commas));
}

TEST(Csv, WordsStandForEmptyCells) {
  const Texts words{"NA", "?"};
  const std::string text = "a,city,y\n1,NA,x\nNA,Rome,x\n3,\"?\",y\n";
  const CsvTable read =
      table(text, {.missing = words, .categorical = {"city"}, .empty = EmptyCells::mean, .labels = true});
  EXPECT_EQ(read.means[0], 2);
  EXPECT_EQ(read.categories[1], (Texts{"", "Rome"}));
  EXPECT_EQ(read.features, (Floats{1, 1, 0, 2, 0, 1, 3, 1, 0}));
  EXPECT_EQ(table("a,y\n?,1\n2,NA\n3,4\n", {.missing = words, .empty = EmptyCells::dropped}).features, Floats{3});
  EXPECT_EQ(refusal("a,y\nNA,1\n", {.missing = words, .cleans = true}),
            "error[RT0351]: a cell of the column \"a\" is empty\n  where:    x.csv:2:1\n"
            "  got:      \"NA\", which stands for an empty cell\n"
            "  help:     fill it, remove the record, or set empty_cells (in a job data.empty_cells = \"mean\" or "
            "\"drop\")");
  EXPECT_TRUE(says(refusal("a,y\n?,1\n", {.cleans = true}), "name it in missing, and say what empty cells are"));
  EXPECT_TRUE(says(refusal("a,y\nNaN,1\n", {.cleans = true}), "or name it in missing (in a job data.missing)"));
  EXPECT_TRUE(says(refusal("a,y\n1,NA\n", {.missing = words, .labels = true}), "the column \"y\" is empty"));
  EXPECT_FALSE(has_csv_header("NA,2,1\n", "x", 3, {.missing = words}));
  EXPECT_FALSE(has_csv_header("3;2\n", "x", 2, {.delimiter = ';'}));
}

TEST(Csv, RefusesCellsTogether) {
  EXPECT_EQ(refusal("a,b,c\n1,,3\n1,x,3\n1,2\n1,2,3,4\nnan,2,1e39\n"),
            "error[RT0351]: a cell of the column \"b\" is empty\n  where:    x.csv:2:3\n"
            "  help:     fill it, or remove the record\n"
            "error[RT0352]: \"x\" is no number\n  where:    x.csv:3:3\n"
            "  expected: a number: the column \"b\" is a feature\n"
            "  help:     write it like -1.5e3, or name the column in ignored (in a job data.ignored_columns)\n"
            "error[RT0350]: a record has 2 cells\n  where:    x.csv:4:1\n  expected: 3, as the first line has\n"
            "error[RT0350]: a record has 4 cells\n  where:    x.csv:5:1\n  expected: 3, as the first line has\n"
            "  help:     put a cell that holds a comma into quotes\n"
            "error[RT0353]: \"nan\" is no finite f32\n  where:    x.csv:6:1\n"
            "  expected: 0, or a number whose absolute value is from 1.4e-45 to 3.4e38\n"
            "  help:     replace it, or remove the record\n"
            "error[RT0353]: \"1e39\" is no finite f32\n  where:    x.csv:6:7\n"
            "  expected: 0, or a number whose absolute value is from 1.4e-45 to 3.4e38\n"
            "  help:     replace it, or remove the record");
  for (const char* text : {"0x10", "1.5.2", "--1", "+-1", "1e", "1 2", "1_000"})
    EXPECT_TRUE(says(refusal(fmt::format("a,b\n{},1\n", text)), fmt::format("\"{}\" is no number", text)));
  std::string many = "a,b\n";
  for (int i = 0; i < 1000; ++i) many += "x,y\n";
  const std::string found = refusal(many);
  EXPECT_TRUE(says(found, "x.csv:11:3"));
  EXPECT_FALSE(says(found, "x.csv:12:"));
}

TEST(Csv, RefusesColumns) {
  EXPECT_EQ(
      refusal("1,2\n3,4\n"),
      "error[RT0356]: the first line of the CSV file holds numbers alone, no names of columns\n"
      "  where:    x.csv:1:1\n  help:     set header to false (in a job data.header = false), or put names that are "
      "numbers into quotes");
  EXPECT_EQ(refusal("a,b,a\n1,2,3\n"),
            "error[RT0357]: the column \"a\" stands twice in the CSV file\n  where:    x.csv:1:5\n"
            "  help:     give every column a name of its own");
  EXPECT_EQ(refusal("a,,c\n1,2,3\n"),
            "error[RT0357]: a column of the CSV file has no name\n  where:    x.csv:1:3\n"
            "  help:     give every column a name of its own");
  EXPECT_EQ(refusal("length,width,kind\n1,2,3\n", {.targets = {"knd"}}),
            "error[RT0355]: the CSV file has no column \"knd\"\n  where:    x.csv\n  expected: length, width, kind\n"
            "  help:     did you mean \"kind\"?");
  EXPECT_EQ(refusal("a,b\n1,2\n", {.targets = {"b"}, .ignored = {"b"}}),
            "error[RT0359]: the column \"b\" is named twice\n  where:    x.csv\n"
            "  help:     name a column once, as a feature, as a target or as one that is ignored");
  EXPECT_EQ(refusal("a,b,c\n1,2,3\n", {.features = 3}),
            "error[RT0358]: the CSV file has 2 columns of features\n  where:    x.csv\n"
            "  got:      3 columns, 1 of them targets, 0 ignored\n  expected: 3 columns of features");
  EXPECT_EQ(refusal("a\n1\n"),
            "error[RT0358]: the CSV file has 0 columns of features\n  where:    x.csv\n"
            "  got:      1 columns, 1 of them targets, 0 ignored\n  expected: at least one column of features");
}

TEST(CsvStore, GivesFeaturesAndClasses) {
  const CsvFile file("length,width,kind\n5.1,3.5,setosa\n7,3.2,\"virginica\"\n6.4,3.2,setosa\n");
  const CsvDatastore store = csv_store(file.path());
  EXPECT_EQ(store.size(), 3);
  EXPECT_EQ(store.feature_names(), (Texts{"length", "width"}));
  EXPECT_EQ(store.class_names(), (Texts{"setosa", "virginica"}));
  const Observation one = store.get(1);
  EXPECT_EQ(one[0].spec().text(), "f32[2] \"C\"");
  EXPECT_EQ(one[0].to_vector<float>(), (Floats{7, 3.2f}));
  EXPECT_EQ(one[1].item<int32_t>(), 1);
  EXPECT_EQ(store.target_names(), Texts{"kind"});
  const CsvFile other("kind,width,mass,length\nsetosa,1,2,3\n");
  const CsvDatastore same = csv_store(
      other.path(),
      {.targets = store.target_names(), .features = store.feature_names(), .class_names = store.class_names()});
  EXPECT_EQ(same.get(0)[0].to_vector<float>(), (Floats{3, 1}));
  // The classes of the training set are those of the test set.
  const CsvDatastore test = csv_store(file.path(), {.class_names = {"other", "setosa", "virginica"}});
  EXPECT_EQ(test.get(0)[1].item<int32_t>(), 1);
  EXPECT_EQ(error_of([&] { csv_store(file.path(), {.class_names = {"setosa", "virginika"}}); }),
            "error[RT0360]: \"virginica\" is no known class\n  where:    " + file.path() +
                ":3:7\n  expected: one of the 2 classes of the training set\n  help:     did you mean \"virginika\"?");
}

TEST(CsvStore, WholeNumbersAreTheNumbersOfTheirClasses) {
  const CsvDatastore store = csv_store(CsvFile("a,y\n1,10\n2,2\n3,0\n").path());
  EXPECT_EQ(store.class_names().size(), 11u);
  EXPECT_EQ(store.get(0)[1].item<int32_t>(), 10);
  EXPECT_EQ(store.get(1)[1].item<int32_t>(), 2);
  EXPECT_EQ(csv_store(CsvFile("a,y\n1,10\n2,2\n3,01\n").path()).class_names(), (Texts{"01", "10", "2"}));
  const CsvFile values("a,y\n1,1000000\n");
  EXPECT_EQ(error_of([&] { csv_store(values.path()); }),
            "error[RT0361]: the labels of the CSV file make 1000001 classes\n  where:    " + values.path() +
                "\n  expected: at most 65536\n  help:     set the task to regression (in a job data.task = "
                "\"regression\"), or name another column as the target");
}

TEST(CsvStore, GivesValues) {
  const CsvFile file("p,a,q\n1,2,3\n4,5,6\n");
  const CsvDatastore store = csv_store(file.path(), {.targets = {"p", "q"}, .task = Task::regression});
  EXPECT_EQ(store.feature_names(), Texts{"a"});
  EXPECT_TRUE(store.class_names().empty());
  EXPECT_EQ(store.get(1)[1].spec().text(), "f32[2] \"C\"");
  EXPECT_EQ(store.get(1)[1].to_vector<float>(), (Floats{4, 6}));
  EXPECT_EQ(error_of([&] { csv_store(file.path(), {.targets = {"p", "q"}}, Place{"train.cpp", 5}); }),
            "error[RT0362]: csv_store: a classification has one column of labels\n  where:    train.cpp:5\n"
            "  got:      2 columns\n  help:     name one column as the target (in a job data.target_columns), or set "
            "the task to regression");
}

const std::string kMixed = "age,city,size,kind\n1,b,5,x\n,a,7,y\n4,b,,x\n";

TEST(CsvStore, CategoriesAreANumberEach) {
  const CsvTable read = table("city,age,kind\nb,1,x\na,2,y\n\"c d\",3,x\n", {.categorical = {"city"}, .labels = true});
  EXPECT_EQ(read.columns, (Texts{"city", "age"}));
  EXPECT_EQ(read.categories, (std::vector<Texts>{{"a", "b", "c d"}, {}}));
  EXPECT_EQ(read.width, 4);
  EXPECT_EQ(read.features, (Floats{0, 1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 3}));
  const CsvTable numbers = table("zip,y\n10,1\n9,2\n10,3\n", {.categorical = {"zip"}});
  EXPECT_EQ(numbers.categories, (std::vector<Texts>{{"10", "9"}}));
  EXPECT_EQ(numbers.features, (Floats{1, 0, 0, 1, 1, 0}));
}

TEST(CsvStore, EmptyCellsAreMeansOrCategoriesOrLeftOut) {
  const CsvColumns columns{.categorical = {"city"}, .empty = EmptyCells::mean, .labels = true};
  const CsvTable filled = table(kMixed, columns);
  EXPECT_EQ(filled.means, (Floats{2.5, 0, 6}));
  EXPECT_EQ(filled.features, (Floats{1, 0, 1, 5, 2.5, 1, 0, 7, 4, 0, 1, 6}));
  const CsvTable empty = table("city,y\na,1\n,2\n", {.categorical = {"city"}, .empty = EmptyCells::mean});
  EXPECT_EQ(empty.categories, (std::vector<Texts>{{"", "a"}}));
  const CsvTable dropped = table(kMixed, {.categorical = {"city"}, .empty = EmptyCells::dropped, .labels = true});
  EXPECT_EQ(dropped.rows, 1);
  EXPECT_EQ(dropped.features, (Floats{1, 1, 5}));
  EXPECT_EQ(dropped.labels.size(), 1u);
}

TEST(CsvStore, ATestSetHasTheCategoriesAndMeansOfItsTrainingSet) {
  const CsvFile train(kMixed), test("kind,size,city,age\nx,,a,\ny,1,b,2\n");
  const auto store = csv_store(train.path(), {.categorical = {"city"}, .empty_cells = EmptyCells::mean});
  const auto other = csv_store(test.path(), {.targets = {"kind"},
                                             .features = store.feature_names(),
                                             .empty_cells = EmptyCells::mean,
                                             .categories = store.categories(),
                                             .means = store.means(),
                                             .class_names = store.class_names()});
  EXPECT_EQ(other.get(0)[0].to_vector<float>(), (Floats{2.5, 1, 0, 6}));
  EXPECT_EQ(other.get(1)[0].to_vector<float>(), (Floats{2, 0, 1, 1}));
}

TEST(CsvStore, CategoriesThatAreUnknownAreRefused) {
  EXPECT_EQ(
      refusal("city,y\na,1\nc,2\n", {.categories = {{"a", "b"}}}),
      "error[RT0400]: the column \"city\" has no category \"c\"\n  where:    x.csv:3:1\n  expected: a, b\n"
      "  help:     categories are those of the training set: add records of this one there, remove the record, or take "
      "zeros for unknown ones by unknown_categories (in a job data.unknown_categories = \"zeros\")");
  EXPECT_TRUE(says(refusal("city,y\na,1\nc,2\n", {.empty = EmptyCells::mean, .categories = {{"", "a"}}}),
                   "expected: an empty cell, a\n"));
  EXPECT_EQ(table("city,y\na,1\nc,2\n", {.categories = {{"a", "b"}}, .unknown_is_zeros = true}).features,
            (Floats{1, 0, 0, 0}));
  EXPECT_TRUE(says(refusal("a,y\n,1\n,2\n", {.empty = EmptyCells::mean}),
                   "error[RT0300]: the column \"a\" has no number, and so no mean"));
  EXPECT_TRUE(says(refusal("a,y\n1,1\n", {.categorical = {"b"}}), "error[RT0355]"));
  EXPECT_TRUE(says(refusal("a,y\n1,1\n", {.categorical = {"y"}}), "error[RT0403]"));
  EXPECT_TRUE(says(refusal("city,y\na,1\n,2\n", {.categorical = {"city"}}), "error[RT0351]"));
}

}  // namespace
}  // namespace retrace

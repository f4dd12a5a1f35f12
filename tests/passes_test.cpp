// Passes as text: tests/passes/NAME.trace holds "pass: NAME", a recorded trace, "---", and the trace expected after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "retrace/ops/op.h"
#include "retrace/ops/op_case.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/plan.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(RETRACE_SOURCE_DIR) / "tests/passes"))
    if (entry.path().extension() == ".trace") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const Pass& pass_named(std::string_view name) {
  for (const auto& pass : all_passes())
    if (pass.name == name) return pass;
  throw Error(ErrorKind::usage, 0, "no such pass");
}

TEST(Passes, MakeTheExpectedTraces) {
  const auto files = case_files();
  ASSERT_GE(files.size(), all_passes().size());
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const std::string text = read(file);
    const auto first_line = text.find('\n'), cut = text.find("---\n");
    ASSERT_NE(cut, std::string::npos);
    ASSERT_EQ(text.substr(0, 6), "pass: ");
    const Pass& pass = pass_named(text.substr(6, first_line - 6));
    const Trace trace = parse_trace(text.substr(first_line, cut - first_line), op_table());
    const Trace after = pass.run(trace);
    verify(after, pass.name);
    EXPECT_EQ(print_trace(after), text.substr(cut + 4));
  }
}

TEST(Passes, EachHasACase) {
  for (const auto& pass : all_passes()) {
    const auto files = case_files();
    const bool found = std::any_of(files.begin(), files.end(), [&](const auto& file) {
      return read(file).starts_with("pass: " + std::string(pass.name) + "\n");
    });
    EXPECT_TRUE(found) << pass.name;
  }
}

TEST(TraceText, PrintsAndParsesBack) {
  for (const auto& file : case_files()) {
    SCOPED_TRACE(file.filename().string());
    const std::string text = read(file);
    const Trace trace = parse_trace(text.substr(text.find('\n'), text.find("---\n") - text.find('\n')), op_table());
    EXPECT_TRUE(parse_trace(print_trace(trace), op_table()) == trace);
  }
}

TEST(TraceText, RefusesWhatIsNotATrace) {
  const auto message = [](const std::string& text) {
    try {
      parse_trace(text, op_table());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_data);
      return error.message();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message("%0 = input f32[2]\n%1 = rellu(%0)\nreturn %1\n"), "trace: unknown op rellu");
  EXPECT_EQ(message("%0 = input f32[2]\n%1 = add(%0)\nreturn %1\n"), "trace: add takes 2 inputs");
  EXPECT_EQ(message("%1 = negate(%0)\nreturn %1\n"), "trace: a value is read before it is made");
  EXPECT_EQ(message("%0 = input f32[2]\n%0 = input f32[2]\nreturn %0\n"), "trace: a value is made twice");
  EXPECT_EQ(message("%0 = input f99[2]\nreturn %0\n"), "trace: unknown type f99");
  EXPECT_EQ(message("%0 = input f32[2]\n%1 = reshape(%0) {shape=[3], labels=\"\"}\nreturn %1\n"),
            "trace: reshape: 2 elements do not fill the shape [3]");
  EXPECT_EQ(message("return %9\n"), "trace: a value is read before it is made");
  EXPECT_EQ(message("%0 = input f32[2]\nreturn %0\nmore"), "trace: text after the last return");
  EXPECT_EQ(message("%0 = input f32[2] \"X\"\nreturn %0\n"), "trace: unknown label 'X' in \"X\"");
  EXPECT_EQ(message("%0, %0 = moments(%1)"), "trace: a value is made twice");
  EXPECT_EQ(message("%0 = input f32[2]\n%1 = sum(%0) {axes=f32, keep=0}\nreturn %1\n"),
            "trace: the attribute \"axes\" is not a list of whole numbers");
  EXPECT_EQ(message("%0 = constant() {value=nan(12), type=f32}\nreturn %0\n"), "trace: \",\" expected");
  EXPECT_EQ(message("%0 = constant() {value=0xnan, type=f32}\nreturn %0\n"), "trace: a number expected");
  EXPECT_EQ(message("%0 = concatenate() {axis=0}\nreturn %0\n"), "trace: concatenate: there is no tensor to join");
}

TEST(TraceText, SaysWhere) {
  EXPECT_EQ(error_text([] { parse_trace("%0 = input f32[2]\n# a comment\n%1 = rellu(%0)\n", op_table()); }),
            "error[RT0240]: trace: unknown op rellu\n"
            "  where:    line 3");
}

TEST(TraceText, BoundsWhatItReads) {
  const auto message = [](const std::string& text) { return error_text([&] { parse_trace(text, op_table()); }); };
  const auto line_1 = [](const std::string& what) { return "error[RT0240]: trace: " + what + "\n  where:    line 1"; };
  EXPECT_EQ(message(std::string((1 << 20) + 1, ' ')), "error[RT0240]: trace: the text is longer than 1 MiB");
  EXPECT_EQ(message("%0 = " + std::string(65, 'a')), line_1("a name expected"));
  EXPECT_EQ(message("%0 = input f32[2] \"" + std::string(65, 'U') + "\""), line_1("a short quoted text expected"));
  EXPECT_EQ(message("%0 = input f32[1099511627777]"), line_1("a whole number is out of range"));
  EXPECT_EQ(message("%0 = input f32[99999999999999999999]"), line_1("a whole number is out of range"));
  EXPECT_EQ(message("%0 = input f32[-1]"), line_1("the shape [-1] has a negative size"));
  EXPECT_EQ(message("%0 = input f32[0,1099511627776,2]"),
            line_1("the shape [0,1099511627776,2] has too many elements"));
  EXPECT_EQ(message("%0 = input f32[1099511627776,1] %1 = input f32[2] %2 = add(%0, %1)"),
            line_1("the shape [1099511627776,2] has too many elements"));
  EXPECT_EQ(message("%0 = input f32[1,1,1,1,1,1,1,1,1]"), line_1("a list is too long"));
}

TEST(TraceText, KeepsNumbersToTheBit) {
  const std::string text =
      "%0 = constant() {value=-0x0p+0, type=f32}\n"
      "%1 = constant() {value=0x0.0000000000001p-1022, type=f64}\n"
      "%2 = constant() {value=-inf, type=f32}\n"
      "%3 = constant() {value=-nan, type=f32}\n"
      "%4 = constant() {value=-0x1.fffffffffffffp+1023, type=f64}\n"
      "return %0, %1, %2, %3, %4\n";
  EXPECT_EQ(print_trace(parse_trace(text, op_table())), text);
}

}  // namespace
}  // namespace retrace

// Passes as text: tests/passes/NAME.trace holds "pass: NAME", a recorded trace, "---", and the trace expected after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "retrace/ops/op.h"
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
  EXPECT_EQ(message("%0 = input f32[4000000000,4000000000]\nreturn %0\n"), "trace: a size is out of range");
  EXPECT_EQ(message("%0 = input f32[2]\n%1 = reshape(%0) {shape=[3], labels=\"\"}\nreturn %1\n"),
            "trace: reshape: 2 elements do not fill the shape [3]");
  EXPECT_EQ(message("return %9\n"), "trace: a value is read before it is made");
  EXPECT_EQ(message("%0 = input f32[2]\nreturn %0\nmore"), "trace: text after the last return");
}

}  // namespace
}  // namespace retrace

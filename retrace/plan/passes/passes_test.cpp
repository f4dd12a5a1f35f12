// Passes as text: NAME.trace in this folder holds "pass: NAME", a recorded trace, "---", and the trace expected after
// it. With "pass: NAME on cuda after OTHER" the trace is one on a CUDA device, and another pass comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "retrace/autodiff/gradient.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/relu/relu.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/where/where.h"
#include "retrace/plan/compile.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/record.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(RETRACE_SOURCE_DIR) / "retrace/plan/passes"))
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

void put_on_cuda(Trace& trace) {
  for (TensorSpec& spec : trace.values) spec.device = 1;
}

TEST(Passes, MakeTheExpectedTraces) {
  const auto files = case_files();
  ASSERT_GE(files.size(), all_passes().size());
  const PlanOptions options{.threads = 2};  // samples are cut for the threads
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const std::string text = read(file);
    const auto first_line = text.find('\n'), cut = text.find("---\n");
    ASSERT_NE(cut, std::string::npos);
    ASSERT_EQ(text.substr(0, 6), "pass: ");
    const std::string line = text.substr(6, first_line - 6), name = line.substr(0, line.find(' '));
    const Pass& pass = pass_named(name);
    Trace trace = parse_trace(text.substr(first_line, cut - first_line), op_table());
    if (line.starts_with(name + " on cuda")) put_on_cuda(trace);
    if (const auto other = line.find(" after "); other != std::string::npos)
      trace = pass_named(line.substr(other + 7)).run(std::move(trace), options);
    const Trace after = pass.run(trace, options);
    verify(after, pass.name);
    EXPECT_EQ(print_trace(after), text.substr(cut + 4));
  }
}

TEST(Passes, EachHasACase) {
  for (const auto& pass : all_passes()) {
    const auto files = case_files();
    const bool found = std::any_of(files.begin(), files.end(), [&](const auto& file) {
      const std::string text = read(file), line = "pass: " + std::string(pass.name);
      return text.starts_with(line + "\n") || text.starts_with(line + " on cuda");
    });
    EXPECT_TRUE(found) << pass.name;
  }
}

Tensor special_image(const Shape& shape, size_t shift) {
  const std::vector<float> some{0.0f, -0.0f, 1, 1, NAN, INFINITY, -INFINITY, -2, 2, -2};
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = some[(i * i + i / 11 + shift) % some.size()];
  return Tensor::from(values, shape);
}

std::vector<uint32_t> bits_of(const Tensor& tensor) {
  std::vector<uint32_t> bits;
  for (float x : tensor.to_vector<float>()) bits.push_back(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
  return bits;
}

// The gradient of max_pool2d at y times numbers, masked where y is positive: its bits, and the shape of the mask.
std::pair<std::vector<uint32_t>, Shape> masked_unpooling(const Tensor& y, Pair pool, const MaxPool2dOptions& options) {
  const Tensor made = max_pool2d(y, pool, options), zero = constant_like(y, 0);
  Tensor dy = gradients(sum(made * special_image(made.shape(), 3)), std::vector<Tensor>{y})[0];
  dy = where(greater(y, zero), dy, zero);
  const auto bits = bits_of(dy);
  const auto plan = last_plan();
  for (const auto& node : plan->trace().nodes)
    if (node.op->name == "where") return {bits, plan->trace().values[static_cast<size_t>(node.first_output)].shape};
  return {bits, {}};
}

// Infinities, NaN, zeros of both signs and ties, where windows tile the image, overlap, and leave elements out.
TEST(Passes, MaskBeforeUnpoolKeepsBits) {
  const std::vector<std::pair<Pair, MaxPool2dOptions>> windows{
      {2, {.stride = 2}}, {2, {.stride = 1}}, {3, {.stride = 2, .padding = same}}, {2, {.stride = 3}}};
  const Tensor y = special_image({2, 8, 6, 8}, 0);
  set_plan_cache_enabled(false);
  for (const auto& [pool, options] : windows) {
    set_passes_off({"fuse_pointwise", "fuse_prologues", "fuse_epilogues"});
    const auto [bits, shape] = masked_unpooling(y, pool, options);
    set_passes_off({"fuse_pointwise", "fuse_prologues", "fuse_epilogues", "mask_before_unpool"});
    const auto [plain_bits, plain_shape] = masked_unpooling(y, pool, options);
    EXPECT_EQ(bits, plain_bits) << options.stride.of(pool).y;
    EXPECT_EQ(shape, max_pool2d(y, pool, options).shape());
    EXPECT_EQ(plain_shape, y.shape());
  }
  set_passes_off({});
  set_plan_cache_enabled(true);
}

// Behind a linear layer at each position: arguments as large as the result, numbers of each position, of each column,
// and some that differ between positions alone, which keep what reads them at its own shape.
TEST(Passes, SinkViewsKeepsBits) {
  const Tensor x = special_image({2, 3, 4}, 0), weights = special_image({8, 4}, 1), same = special_image({2, 3, 8}, 2),
               each = special_image({2, 3, 1}, 3), column = special_image({8}, 4), position = special_image({3, 8}, 5);
  const auto layer = [&] { return linear(x, weights, {.flatten = false}); };
  const std::vector<std::function<Tensor()>> chains{
      [&] { return layer() + same; }, [&] { return layer() * each + column; },
      [&] { return (layer() + same) * position - same; }, [&] { return sum((layer() + same) * each, 2); }};
  set_plan_cache_enabled(false);
  for (const auto& chain : chains) {
    const auto bits = bits_of(chain());
    EXPECT_TRUE(last_plan()->kernel_call_name(0).starts_with("matmul +")) << last_plan()->text();
    set_passes_off({"sink_views"});
    EXPECT_EQ(bits, bits_of(chain()));
    set_passes_off({});
  }
  set_plan_cache_enabled(true);
}

TEST(Passes, EpiloguesOfPoolingKeepBits) {
  const Tensor x = special_image({3, 32, 30, 8}, 0), dy = special_image({3, 16, 15, 8}, 5);
  const auto gradient = [&](const Tensor& y) { return gradients(sum(y * dy), std::vector<Tensor>{x})[0] * x + x; };
  const std::vector<std::pair<std::string, std::function<Tensor()>>> chains{
      {"average_pool2d", [&] { return average_pool2d(x, 2, {.stride = 2}) * dy + dy; }},
      {"average_pool2d_gradient", [&] { return gradient(average_pool2d(x, 2, {.stride = 2})); }},
      {"max_pool2d_gradient", [&] { return gradient(max_pool2d(x, 2, {.stride = 2})); }}};
  set_plan_cache_enabled(false);
  for (const auto& [op, chain] : chains) {
    const auto bits = bits_of(chain());
    bool fused = false;
    for (size_t call = 0; call < last_plan()->kernel_calls(); ++call)
      fused |= last_plan()->kernel_call_name(call).starts_with(op + " +2");
    EXPECT_TRUE(fused) << last_plan()->text();
    set_passes_off({"fuse_epilogues"});
    EXPECT_EQ(bits, bits_of(chain())) << op;
    set_passes_off({});
  }
  set_plan_cache_enabled(true);
}

// What relu and max_pool2d record is what the pass looks for.
TEST(Passes, MaskBeforeUnpoolFindsRelu) {
  RecordingScope scope;
  const Tensor x = special_image({2, 8, 6, 8}, 0);
  const Trace trace = scope.recording().take_trace(gradients(sum(max_pool2d(relu(x), 2, {.stride = 2})), {{x}}));
  const auto shape_of_mask = [](const Trace& of) {
    for (const auto& node : of.nodes)
      if (node.op->name == "greater") return of.values[static_cast<size_t>(node.first_output)].shape;
    return Shape{};
  };
  EXPECT_EQ(shape_of_mask(trace), x.shape());
  EXPECT_EQ(shape_of_mask(pass_named("mask_before_unpool").run(trace, {})), (Shape{2, 4, 3, 8}));
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

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "retrace/base/function_ref.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

constexpr size_t kMaxText = size_t{1} << 20;
constexpr size_t kMaxWord = 64;
constexpr int kMaxLevels = 8;  // of traces that are attributes
constexpr int64_t kMaxInteger = int64_t{1} << 40;

// The words and numbers of a text, from the front.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::bad_data, 240, "trace: " + what).where(fmt::format("line {}", line_));
  }

  // What the library refuses is refused with the line.
  void checked(FunctionRef<void()> f) const {
    try {
      f();
    } catch (const Error& error) {
      fail(error.message());
    }
  }

  void skip_space() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '#')
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        line_ += c == '\n', rest_.remove_prefix(1);
      else
        break;
    }
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("\"{}\" expected", token));
  }
  std::string_view word() {
    skip_space();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    if (n == 0 || n > kMaxWord) fail("a name expected");
    const auto found = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return found;
  }
  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::invalid_argument) fail("a whole number expected");
    if (error != std::errc() || value > kMaxInteger || value < -kMaxInteger) fail("a whole number is out of range");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  std::string quoted() {
    expect("\"");
    const auto end = rest_.find('"');
    if (end == std::string_view::npos || end > kMaxWord) fail("a short quoted text expected");
    const std::string found(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return found;
  }
  double hexadecimal() {  // [-]0x1.8p+3, [-]inf, [-]nan
    const double sign = accept("-") ? -1 : 1;
    if (accept("inf")) return std::copysign(std::numeric_limits<double>::infinity(), sign);
    if (accept("nan")) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    expect("0x");
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, std::chars_format::hex);
    if (error != std::errc() || !(value >= 0) || std::isinf(value)) fail("a number expected");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return std::copysign(value, sign);
  }
  Shape list() {
    Shape shape;
    expect("[");
    if (accept("]")) return shape;
    do {
      if (shape.rank() == kMaxRank) fail("a list is too long");
      shape.push_back(integer());
    } while (accept(","));
    expect("]");
    return shape;
  }
  DType type() {
    DType found;
    const auto name = word();
    if (!parse_dtype(name, found)) fail(fmt::format("unknown type {}", name));
    return found;
  }
  // Behind space; nothing is taken.
  bool at_end() {
    skip_space();
    return rest_.empty();
  }
  bool is_next(char c) { return !at_end() && rest_.front() == c; }
  bool is_number_next() {
    return !at_end() &&
           std::isdigit(static_cast<unsigned char>(unsigned_rest().empty() ? ' ' : unsigned_rest().front()));
  }
  // A number that hexadecimal() takes.
  bool is_hexadecimal_next() {
    if (at_end()) return false;
    const auto digits = unsigned_rest();
    return digits.starts_with("0x") || digits.starts_with("inf") || digits.starts_with("nan");
  }

 private:
  std::string_view unsigned_rest() const { return rest_.front() == '-' ? rest_.substr(1) : rest_; }

  std::string_view rest_;
  int line_ = 1;
};

class Parser {
 public:
  Parser(std::string_view text, const OpTable& table) : in_(text), table_(table) {}

  Trace parse() {
    Trace trace = parse_block();
    if (!in_.at_end()) in_.fail("text after the last return");
    return trace;
  }

 private:
  TensorSpec spec() {
    TensorSpec found;
    found.type = in_.type();
    found.shape = in_.list();
    const std::string labels = in_.is_next('"') ? in_.quoted() : "";
    in_.checked([&] {
      found.shape.count();
      found.labels = Labels(labels);
    });
    if (!found.labels.empty() && found.labels.size() != found.shape.rank()) in_.fail("labels do not fit the shape");
    return found;
  }

  using Names = std::map<int64_t, ValueId>;
  ValueId value(const Names& names) {
    in_.expect("%");
    const auto at = names.find(in_.integer());
    if (at == names.end()) in_.fail("a value is read before it is made");
    return at->second;
  }

  AttributeValue attribute() {
    if (in_.at_end()) in_.fail("a value expected");
    if (in_.is_next('[')) return in_.list();
    if (in_.is_next('"')) return in_.quoted();
    if (in_.is_next('{')) return nested();
    if (in_.is_hexadecimal_next()) return in_.hexadecimal();
    if (in_.is_number_next()) return in_.integer();
    return in_.type();
  }

  std::shared_ptr<const Trace> nested() {
    if (++levels_ > kMaxLevels) in_.fail("traces inside one another");
    in_.expect("{");
    auto found = std::make_shared<const Trace>(parse_block());
    in_.expect("}");
    --levels_;
    return found;
  }

  Attributes attributes(const Op& op) {
    Attributes found;
    if (op.attributes.empty()) return found;
    in_.expect("{");
    for (size_t i = 0; i < op.attributes.size(); ++i) {
      if (i) in_.expect(",");
      const auto name = in_.word();
      if (name != op.attributes[i])
        in_.fail(fmt::format("{} has the attribute {} here, not {}", op.name, op.attributes[i], name));
      in_.expect("=");
      found.add(op.attributes[i], attribute());
    }
    in_.expect("}");
    return found;
  }

  void node(Trace& trace, Names& names, std::vector<int64_t> outputs, std::string_view name) {
    const Op* op = table_.find(name);
    if (!op) in_.fail(fmt::format("unknown op {}", name));
    Node made;
    made.op = op;
    in_.expect("(");
    while (!in_.accept(")")) {
      if (!made.inputs.empty()) in_.expect(",");
      made.inputs.push_back(value(names));
    }
    if (op->inputs >= 0 && op->inputs != static_cast<int>(made.inputs.size()))
      in_.fail(fmt::format("{} takes {} inputs", name, op->inputs));
    made.attributes = attributes(*op);
    std::vector<TensorSpec> specs, inputs;
    for (ValueId id : made.inputs) inputs.push_back(trace.spec(id));
    in_.checked([&] {
      specs = infer_call({*op, made.attributes, inputs, {}});
      for (const auto& spec : specs) spec.shape.count();
    });
    if (specs.size() != outputs.size()) in_.fail(fmt::format("{} makes {} values", name, specs.size()));
    const ValueId first = trace.add_node(std::move(made), specs);
    for (size_t i = 0; i < outputs.size(); ++i) names[outputs[i]] = first + i;
  }

  Trace parse_block() {
    Trace trace;
    Names names;
    while (!in_.accept("return")) {
      std::vector<int64_t> outputs;
      do {
        in_.expect("%");
        const int64_t name = in_.integer();
        if (names.contains(name) || std::find(outputs.begin(), outputs.end(), name) != outputs.end())
          in_.fail("a value is made twice");
        outputs.push_back(name);
      } while (in_.accept(","));
      in_.expect("=");
      const auto name = in_.word();
      if (name == "input") {
        if (outputs.size() != 1) in_.fail("an input is one value");
        names[outputs[0]] = trace.add_input(spec());
      } else {
        node(trace, names, outputs, name);
      }
    }
    while (in_.is_next('%')) {
      trace.outputs.push_back(value(names));
      if (!in_.accept(",")) break;
    }
    return trace;
  }

  Lexer in_;
  const OpTable& table_;
  int levels_ = 0;
};

}  // namespace

Trace parse_trace(std::string_view text, const OpTable& table) {
  if (text.size() > kMaxText) throw Error(ErrorKind::bad_data, 240, "trace: the text is longer than 1 MiB");
  return Parser(text, table).parse();
}

}  // namespace retrace

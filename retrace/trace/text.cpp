#include "retrace/trace/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "retrace/base/function_ref.h"

namespace retrace {
namespace {

// -- printing ---------------------------------------------------------------------------------------------------

struct Style {
  bool places = false, names = false;
};

std::string value_text(const Trace& trace, ValueId id, Style style) {
  return fmt::format("%{}", style.names ? trace.name(id) : id);
}

std::string list_of(const Trace& trace, std::span<const ValueId> ids, Style style) {
  std::string text;
  for (ValueId id : ids) text += (text.empty() ? "" : ", ") + value_text(trace, id, style);
  return text;
}

void print_into(std::string& text, const Trace& trace, Style style, const std::string& indent);

void print_into(std::string& text, const Trace& trace, const Node& node, Style style, const std::string& indent) {
  std::vector<ValueId> outputs;
  for (int i = 0; i < node.output_count; ++i) outputs.push_back(node.first_output + i);
  text += fmt::format("{}{} = {}({})", indent, list_of(trace, outputs, style), node.op->name,
                      list_of(trace, node.inputs, style));
  if (const auto attributes = node.attributes.print(); !attributes.empty()) text += " " + attributes;
  if (node.body) {
    text += " {\n";
    print_into(text, node.body->trace, style, indent + "  ");
    text += indent + "}";
  }
  if (style.places) {
    text += "  #";
    for (ValueId id : outputs) text += " " + trace.values[static_cast<size_t>(id)].text();
    if (const auto place = node.place.text(); !place.empty()) text += ", " + place;
  }
  text += "\n";
}

void print_into(std::string& text, const Trace& trace, Style style, const std::string& indent) {
  // Values in the order of their numbers, so that parsing numbers them alike.
  size_t next_input = 0;
  const auto print_inputs = [&](ValueId end) {
    for (; next_input < trace.inputs.size() && trace.inputs[next_input] < end; ++next_input) {
      const ValueId id = trace.inputs[next_input];
      text += fmt::format("{}{} = input {}\n", indent, value_text(trace, id, style),
                          trace.values[static_cast<size_t>(id)].text());
    }
  };
  for (const auto& node : trace.nodes) {
    print_inputs(node.first_output);
    print_into(text, trace, node, style, indent);
  }
  print_inputs(static_cast<ValueId>(trace.values.size()));
  text += fmt::format("{}return{}{}\n", indent, trace.outputs.empty() ? "" : " ", list_of(trace, trace.outputs, style));
}

// -- parsing ----------------------------------------------------------------------------------------------------

constexpr size_t kMaxText = size_t{1} << 20;
constexpr size_t kMaxWord = 64;
constexpr int64_t kMaxInteger = int64_t{1} << 40;

class Parser {
 public:
  Parser(std::string_view text, const OpTable& table) : rest_(text), table_(table) {}

  Trace parse() {
    Trace trace = parse_block();
    skip_space();
    if (!rest_.empty()) fail("text after the last return");
    return trace;
  }

 private:
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
  TensorSpec spec() {
    TensorSpec found;
    found.type = type();
    found.shape = list();
    skip_space();
    const bool labelled = !rest_.empty() && rest_.front() == '"';
    const std::string labels = labelled ? quoted() : "";
    checked([&] {
      found.shape.count();
      found.labels = Labels(labels);
    });
    if (!found.labels.empty() && found.labels.size() != found.shape.rank()) fail("labels do not fit the shape");
    return found;
  }

  using Names = std::map<int64_t, ValueId>;
  ValueId value(const Names& names) {
    expect("%");
    const auto at = names.find(integer());
    if (at == names.end()) fail("a value is read before it is made");
    return at->second;
  }

  AttributeValue attribute() {
    skip_space();
    if (rest_.empty()) fail("a value expected");
    if (rest_.front() == '[') return list();
    if (rest_.front() == '"') return quoted();
    const auto digits = rest_.front() == '-' ? rest_.substr(1) : rest_;
    if (digits.starts_with("0x") || digits.starts_with("inf") || digits.starts_with("nan")) return hexadecimal();
    if (std::isdigit(static_cast<unsigned char>(digits.empty() ? ' ' : digits.front()))) return integer();
    return type();
  }

  Attributes attributes(const Op& op) {
    Attributes found;
    if (op.attributes.empty()) return found;
    expect("{");
    for (size_t i = 0; i < op.attributes.size(); ++i) {
      if (i) expect(",");
      const auto name = word();
      if (name != op.attributes[i])
        fail(fmt::format("{} has the attribute {} here, not {}", op.name, op.attributes[i], name));
      expect("=");
      found.add(op.attributes[i], attribute());
    }
    expect("}");
    return found;
  }

  void node(Trace& trace, Names& names, std::vector<int64_t> outputs, std::string_view name) {
    const Op* op = table_.find(name);
    if (!op) fail(fmt::format("unknown op {}", name));
    Node made;
    made.op = op;
    expect("(");
    while (!accept(")")) {
      if (!made.inputs.empty()) expect(",");
      made.inputs.push_back(value(names));
    }
    if (op->inputs >= 0 && op->inputs != static_cast<int>(made.inputs.size()))
      fail(fmt::format("{} takes {} inputs", name, op->inputs));
    made.attributes = attributes(*op);
    std::vector<TensorSpec> specs, inputs;
    for (ValueId id : made.inputs) inputs.push_back(trace.values[static_cast<size_t>(id)]);
    checked([&] {
      specs = infer_call({*op, made.attributes, inputs, {}});
      for (const auto& spec : specs) spec.shape.count();
    });
    if (specs.size() != outputs.size()) fail(fmt::format("{} makes {} values", name, specs.size()));
    const ValueId first = trace.add_node(std::move(made), specs);
    for (size_t i = 0; i < outputs.size(); ++i) names[outputs[i]] = first + static_cast<ValueId>(i);
  }

  Trace parse_block() {
    Trace trace;
    Names names;
    while (!accept("return")) {
      std::vector<int64_t> outputs;
      do {
        expect("%");
        const int64_t name = integer();
        if (names.contains(name) || std::find(outputs.begin(), outputs.end(), name) != outputs.end())
          fail("a value is made twice");
        outputs.push_back(name);
      } while (accept(","));
      expect("=");
      const auto name = word();
      if (name == "input") {
        if (outputs.size() != 1) fail("an input is one value");
        names[outputs[0]] = trace.add_input(spec());
      } else {
        node(trace, names, outputs, name);
      }
    }
    skip_space();
    while (!rest_.empty() && rest_.front() == '%') {
      trace.outputs.push_back(value(names));
      if (!accept(",")) break;
      skip_space();
    }
    return trace;
  }

  std::string_view rest_;
  const OpTable& table_;
  int line_ = 1;
};

}  // namespace

std::string print_trace(const Trace& trace, bool places) {
  std::string text;
  print_into(text, trace, {.places = places}, "");
  return text;
}

std::string print_node(const Trace& trace, const Node& node) {
  std::string text;
  print_into(text, trace, node, {.names = true}, "");
  return text;
}

Trace parse_trace(std::string_view text, const OpTable& table) {
  if (text.size() > kMaxText) throw Error(ErrorKind::bad_data, 240, "trace: the text is longer than 1 MiB");
  return Parser(text, table).parse();
}

}  // namespace retrace

#include "retrace/cloud/xml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace retrace {
namespace {

constexpr size_t kDeepest = 32;

void append_utf8(std::string& text, uint32_t code) {
  const auto byte = [&](uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)), byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

// What stands between '&' and ';'.
bool append_entity(std::string& text, std::string_view name) {
  if (name == "amp") return text += '&', true;
  if (name == "lt") return text += '<', true;
  if (name == "gt") return text += '>', true;
  if (name == "quot") return text += '"', true;
  if (name == "apos") return text += '\'', true;
  if (!name.starts_with('#')) return false;
  const bool hexadecimal = name.size() > 1 && name[1] == 'x';
  name.remove_prefix(hexadecimal ? 2 : 1);
  uint32_t code = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), code, hexadecimal ? 16 : 10);
  if (failure != std::errc() || end != name.data() + name.size() || code == 0 || code > 0x10ffff) return false;
  if (code >= 0xd800 && code < 0xe000) return false;  // halves of pairs
  append_utf8(text, code);
  return true;
}

bool append_text(std::string& text, std::string_view raw) {
  for (size_t at = 0; at < raw.size();) {
    const size_t sign = std::min(raw.find('&', at), raw.size());
    text += raw.substr(at, sign - at);
    if (sign == raw.size()) return true;
    const size_t end = raw.find(';', sign);
    if (end == std::string_view::npos || !append_entity(text, raw.substr(sign + 1, end - sign - 1))) return false;
    at = end + 1;
  }
  return true;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<XmlElement> document() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size())
      if (!step()) return std::nullopt;
    if (!open_.empty() || !done_) return std::nullopt;
    return std::move(root_);
  }

 private:
  // Takes the next piece of text or markup; false if the text is not well-formed.
  bool step() {
    if (text_[at_] != '<') {
      const std::string_view raw = until("<", false);
      return open_.empty() ? is_blank(raw) : append_text(open_.back().text, raw);
    }
    if (take("<!--")) return skip("-->");
    if (take("<![CDATA[")) {
      if (open_.empty() || text_.find("]]>", at_) == std::string_view::npos) return false;
      open_.back().text += until("]]>", true);
      return true;
    }
    if (take("<?")) return skip("?>");
    if (take("<!")) return false;
    if (take("</")) return close();
    return ++at_, begin();
  }

  bool take(std::string_view mark) {
    if (!text_.substr(at_).starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }
  // What comes before `mark`, which may be passed over, or before the end.
  std::string_view until(std::string_view mark, bool pass) {
    const size_t end = std::min(text_.find(mark, at_), text_.size());
    const std::string_view part = text_.substr(at_, end - at_);
    at_ = pass ? std::min(end + mark.size(), text_.size()) : end;
    return part;
  }
  bool skip(std::string_view mark) {
    const bool there = text_.find(mark, at_) != std::string_view::npos;
    until(mark, true);
    return there;
  }

  // A start tag, behind its '<'. A '>' may stand in the value of an attribute.
  bool begin() {
    const size_t first = at_;
    char quote = 0;
    for (; at_ < text_.size() && (quote || text_[at_] != '>'); ++at_)
      if (const char c = text_[at_]; quote ? c == quote : c == '"' || c == '\'') quote = quote ? 0 : c;
    if (at_ == text_.size() || done_ || open_.size() == kDeepest) return false;
    std::string_view tag = text_.substr(first, at_++ - first);
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    open_.push_back({local_name(tag.substr(0, tag.find_first_of(" \t\r\n"))), "", {}});
    return !open_.back().name.empty() && (!empty || finish());
  }
  bool close() {
    std::string_view name = until(">", true);
    name = name.substr(0, name.find_first_of(" \t\r\n"));
    return !open_.empty() && text_[at_ - 1] == '>' && open_.back().name == local_name(name) && finish();
  }
  bool finish() {
    XmlElement element = std::move(open_.back());
    open_.pop_back();
    if (open_.empty())
      root_ = std::move(element), done_ = true;
    else
      open_.back().children.push_back(std::move(element));
    return true;
  }
  static std::string local_name(std::string_view name) {
    const size_t colon = name.find(':');
    return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<XmlElement> open_;  // from the root inwards
  XmlElement root_;
  bool done_ = false;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  const auto found = std::find_if(children.begin(), children.end(), [&](const auto& c) { return c.name == wanted; });
  return found == children.end() ? nullptr : &*found;
}

std::string XmlElement::text_of(std::string_view wanted) const {
  const XmlElement* const found = child(wanted);
  return found ? found->text : "";
}

std::optional<XmlElement> parse_xml(std::string_view text) { return Parser(text).document(); }

}  // namespace retrace

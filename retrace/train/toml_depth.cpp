#include "retrace/train/toml_depth.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"

namespace retrace {
namespace {

class DepthScanner {
 public:
  DepthScanner(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  void scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'')
        skip_quoted(c);
      else if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        take(c), ++at_;
    }
  }

 private:
  // One character outside of quotes and comments.
  void take(char c) {
    switch (c) {
      case '.':
        if (++parts_ > kMaxKeyParts) throw too("deep", fmt::format("a key of more than {} parts", kMaxKeyParts));
        break;
      case '[':
      case '{':
        if (++brackets_ > kMaxBrackets)
          throw too("deep", fmt::format("more than {} brackets in each other", kMaxBrackets));
        parts_ = 1;
        break;
      case ']':
      case '}': brackets_ = std::max(brackets_ - 1, 0), parts_ = 1; break;
      case '\n':
      case ',':
      case '=': parts_ = 1; break;
      default: return;
    }
    if (c != '\n' && ++keys_ > kMaxKeys) throw too("long", fmt::format("more than {} keys and items", kMaxKeys));
  }

  // To behind the end of a text in quotes. Where it has none, the parser says so.
  void skip_quoted(char quote) {
    const bool many = text_.substr(at_, 3) == std::string(3, quote);
    const size_t length = many ? 3 : 1;
    at_ += length;
    while (at_ < text_.size()) {
      if (!many && text_[at_] == '\n') return;
      if (quote == '"' && text_[at_] == '\\') {
        at_ += 2;
      } else if (text_.substr(at_, length) == std::string(length, quote)) {
        at_ += length;
        while (many && at_ < text_.size() && text_[at_] == quote) ++at_;  // quotes at the end belong to the text
        return;
      } else {
        ++at_;
      }
    }
  }

  Error too(const char* what, const std::string& got) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t start = before.rfind('\n');
    return Error(ErrorKind::usage, 418, fmt::format("the job file is too {}", what))
        .where(fmt::format("{}:{}:{}", printable(file_), line, at_ - (start == before.npos ? 0 : start + 1) + 1))
        .got(got)
        .expected("keys like training.max_epochs");
  }

  std::string_view text_, file_;
  size_t at_ = 0;
  int parts_ = 1, brackets_ = 0, keys_ = 0;
};

}  // namespace

void check_toml_depth(std::string_view text, std::string_view file) { DepthScanner(text, file).scan(); }

}  // namespace retrace

#include "retrace/ops/einsum/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

// An operand, without labels, and the letters of its axes.
struct Factor {
  std::string letters;
  Tensor x;
};

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

// Those of `letters` for which wanted(letter).
template <class Wanted>
std::string chosen(const std::string& letters, Wanted wanted) {
  std::string result;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(result), wanted);
  return result;
}

// The equation and its sizes.
class Equation {
 public:
  Equation(std::string_view text, const std::vector<Tensor>& operands, Place place) : place_(place) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(text_), [](char c) { return c != ' '; });
    const size_t arrow = text_.find("->");
    split(text_.substr(0, arrow));
    if (parts_.size() != operands.size())
      fail(fmt::format("einsum: {} operands for {} parts of the equation", operands.size(), parts_.size()),
           "an operand for each part between commas");
    for (size_t i = 0; i < operands.size(); ++i) take(parts_[i], operands[i]);
    result_ = arrow == std::string::npos ? letters_that_occur_once() : text_.substr(arrow + 2);
    check_letters(result_);
    for (const char letter : result_)
      if (!sizes_.contains(letter))
        fail(fmt::format("einsum: no operand has the letter {}", letter), "a letter of an operand");
  }

  const std::vector<std::string>& parts() const { return parts_; }
  const std::string& result() const { return result_; }
  // The sizes of these letters.
  Shape shape(const std::string& letters) const {
    Shape shape;
    for (const char letter : letters) shape.push_back(sizes_.at(letter));
    return shape;
  }
  // Whether the result or an operand from number `first` on has it.
  bool is_kept(char letter, size_t first) const {
    return has(result_, letter) ||
           std::any_of(parts_.begin() + static_cast<std::ptrdiff_t>(std::min(first, parts_.size())), parts_.end(),
                       [&](const std::string& part) { return has(part, letter); });
  }

 private:
  [[noreturn]] void fail(const std::string& message, const char* expected) const {
    throw Error(ErrorKind::usage, 276, message)
        .where(place_)
        .got(fmt::format("\"{}\"", text_))
        .expected(expected)
        .help("einsum(\"bij,bjk->bik\", {a, b})");
  }

  void split(const std::string& operands) {
    for (size_t begin = 0;;) {
      const size_t comma = operands.find(',', begin);
      parts_.push_back(operands.substr(begin, comma - begin));
      if (comma == std::string::npos) return;
      begin = comma + 1;
    }
  }
  void check_letters(const std::string& letters) const {
    for (const char letter : letters) {
      if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')))
        fail(fmt::format("einsum: {} is no letter", letter), "letters, commas between operands and one ->");
      if (std::count(letters.begin(), letters.end(), letter) > 1)
        fail(fmt::format("einsum: the letter {} is there twice", letter),
             "each letter once; of one operand, take diagonal");
    }
  }
  void take(const std::string& letters, const Tensor& x) {
    check_letters(letters);
    check_defined("einsum", x, place_);
    if (static_cast<size_t>(x.rank()) != letters.size())
      fail(fmt::format("einsum: {} names {} axes of an operand that has {}", letters, letters.size(), x.rank()),
           "a letter for each axis");
    for (size_t i = 0; i < letters.size(); ++i) {
      const int64_t size = x.shape()[static_cast<int>(i)];
      const auto [known, is_new] = sizes_.emplace(letters[i], size);
      if (!is_new && known->second != size)
        fail(fmt::format("einsum: the letter {} has the sizes {} and {}", letters[i], known->second, size),
             "one size for each letter");
    }
  }
  std::string letters_that_occur_once() const {
    std::string all, once;
    for (const auto& part : parts_) all += part;
    for (const auto& [letter, size] : sizes_)
      if (std::count(all.begin(), all.end(), letter) == 1) once += letter;
    std::stable_sort(once.begin(), once.end(), [](char a, char b) {
      const auto place = [](char c) { return c >= 'a' ? 2 * (c - 'a') : 2 * (c - 'A') + 1; };
      return place(a) < place(b);
    });
    return once;
  }

  Place place_;
  std::string text_, result_;
  std::vector<std::string> parts_;
  std::map<char, int64_t> sizes_;
};

Tensor permuted(const Factor& factor, const std::string& letters, Place place) {
  if (factor.letters == letters) return factor.x;
  Shape permutation;
  for (const char letter : letters) permutation.push_back(static_cast<int64_t>(factor.letters.find(letter)));
  return transpose(factor.x, permutation, place);
}

Factor summed(const Factor& factor, const Equation& equation, size_t next, const std::string& other, Place place) {
  Shape axes;
  for (size_t i = 0; i < factor.letters.size(); ++i)
    if (!equation.is_kept(factor.letters[i], next) && !has(other, factor.letters[i]))
      axes.push_back(static_cast<int64_t>(i));
  if (axes.empty()) return factor;
  return {chosen(factor.letters, [&](char c) { return equation.is_kept(c, next) || has(other, c); }),
          sum(factor.x, axes, {}, place)};
}

// Neither has a letter that is summed: with axes of size 1 for the other's.
Factor outer(const Factor& a, const Factor& b, const Equation& equation, Place place) {
  const std::string letters = a.letters + chosen(b.letters, [&](char c) { return !has(a.letters, c); });
  const auto spread = [&](const Factor& factor) {
    const std::string own = chosen(letters, [&](char c) { return has(factor.letters, c); });
    Shape shape = equation.shape(letters);
    for (size_t i = 0; i < letters.size(); ++i)
      if (!has(own, letters[i])) shape[static_cast<int>(i)] = 1;
    return reshape(permuted(factor, own, place), shape, "", place);
  };
  return {letters, spread(a) * spread(b)};
}

// A product of matrices over `contracted`, for each index of the letters that both have and that are kept.
Factor product_einsum(const Factor& a, const Factor& b, const std::string& contracted, const Equation& equation,
                      Place place) {
  const std::string batch = chosen(a.letters, [&](char c) { return has(b.letters, c) && !has(contracted, c); });
  const std::string left = chosen(a.letters, [&](char c) { return !has(b.letters, c); });
  const std::string right = chosen(b.letters, [&](char c) { return !has(a.letters, c); });
  const auto count = [&](const std::string& letters) { return equation.shape(letters).count(); };
  // As [batch,rows,columns]; what lies the other way round is not copied.
  const auto matrix = [&](const Factor& factor, const std::string& rows, const std::string& columns, bool& turned) {
    turned = factor.letters == batch + columns + rows && factor.letters != batch + rows + columns;
    const std::string& first = turned ? columns : rows;
    const std::string& second = turned ? rows : columns;
    Shape shape{count(first), count(second)};
    if (!batch.empty()) shape = {count(batch), shape[0], shape[1]};
    return reshape(permuted(factor, batch + first + second, place), shape, "", place);
  };
  MatmulOptions options;
  const Tensor of_a = matrix(a, left, contracted, options.transpose_a),
               of_b = matrix(b, contracted, right, options.transpose_b);
  const std::string letters = batch + left + right;
  return {letters, reshape(matmul(of_a, of_b, options, place), equation.shape(letters), "", place)};
}

}  // namespace

Tensor einsum(std::string_view text, const std::vector<Tensor>& operands, Place place) {
  const Equation equation(text, operands, place);
  const auto factor = [&](size_t i) {
    const Tensor& x = operands[i];
    return Factor{equation.parts()[i], x.labels().empty() ? x : reshape(x, x.shape(), "", place)};
  };
  Factor made = summed(factor(0), equation, 1, "", place);
  for (size_t i = 1; i < operands.size(); ++i) {
    const Factor next = summed(factor(i), equation, i + 1, made.letters, place);
    const std::string contracted =
        chosen(made.letters, [&](char c) { return has(next.letters, c) && !equation.is_kept(c, i + 1); });
    made = contracted.empty() ? outer(made, next, equation, place)
                              : product_einsum(made, next, contracted, equation, place);
  }
  return permuted(made, equation.result(), place);
}

void define_einsum(OpTable&) {}  // no op of its own: it is made of sum, transpose, matmul and multiply

}  // namespace retrace

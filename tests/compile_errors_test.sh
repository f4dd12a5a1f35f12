#!/bin/sh
# What the compiler says to the mistakes of beginners: one sentence of ours, with the line of the program among the
# first five lines. What is right compiles.
set -u
for compiler in "${CXX:-}" g++ c++; do
  [ -n "$compiler" ] && command -v "$compiler" >/dev/null && break
  compiler=
done
[ -n "$compiler" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
generated=$(dirname "$1")/generated

fail() {
  echo "FAILED: $*" >&2
  head -n 8 "$work/said" >&2
  failures=$((failures + 1))
}
compile() { # compile FLAGS: the program on standard input, whose line 4 holds the mistake
  cat >"$work/program.cpp"
  # shellcheck disable=SC2086
  $compiler -std=c++20 -fsyntax-only -I. -I"$generated" $1 "$work/program.cpp" >"$work/said" 2>&1
}
program() { # program HEADER STATEMENTS
  printf '#include "retrace/%s"\n#include "retrace/tensor/tree.h"\nvoid program(const retrace::Tree& p, const retrace::Tensor& x, retrace::Tensor y) {\n%s\n(void)p, (void)x, (void)y;\n}\n' "$1" "$2"
}
# refused HEADER TEXT STATEMENTS: the text, and the line of the program, among the first five lines.
refused() {
  program "$1" "$3" | compile "" && fail "compiles: $3"
  head -n 5 "$work/said" | grep -qF "$2" || fail "\"$2\" is not among the first five lines for: $3"
  head -n 5 "$work/said" | grep -q 'program.cpp:4' || fail "the program's line is not among the first five lines for: $3"
}

# The compiler that built the library may be another; GCC's first lines are what is promised.
$compiler --version | grep -qiE 'gcc|g\+\+|free software' || exit 77

program retrace.h 'auto [a, b] = retrace::value_and_grad([](const retrace::Tree&, const retrace::Tensor& t) { return t; })(p, x); (void)a, (void)b;' |
  compile "" || fail "a right program does not compile"

gradient=autodiff/value_and_grad.h
arguments="the function given to value_and_grad does not take these arguments"
result="the function given to value_and_grad returns the loss"
refused $gradient "$arguments" 'retrace::value_and_grad([](const retrace::Tree&) { return retrace::Tensor(); })(p, x);'
refused $gradient "$arguments" 'retrace::value_and_grad([](retrace::Tree&) { return retrace::Tensor(); })(p);'
refused $gradient "$result" 'retrace::value_and_grad([](const retrace::Tree&) { return 1.0f; })(p);'
refused $gradient "$result" 'struct S { retrace::Tensor a; }; retrace::value_and_grad([](const retrace::Tree&) { return S{}; })(p);'
refused $gradient "$result" 'retrace::value_and_grad([](const retrace::Tree& q) { return std::pair(retrace::Tensor(), q); })(p);'
refused $gradient "$result" 'retrace::value_and_grad([](const retrace::Tree&) { return std::vector<retrace::Tensor>(); })(p);'
refused $gradient "the first argument, the parameters" 'retrace::value_and_grad([](float, const retrace::Tensor& t) { return t; })(1.0f, x);'

refused run/accelerate.h 'takes floats as `const Operand&`' 'retrace::accelerate([](const retrace::Tensor& t, float) { return t; })(x, 1.0f);'
few="the function does not take these arguments: one that is accelerated takes as many"
refused run/accelerate.h "$few" 'retrace::accelerate([](retrace::Tensor& t) { return t; })(x);'
refused run/accelerate.h "$few" 'retrace::accelerate([](const retrace::Tensor& t) { return t; })(x, x);'

refused distributed/pool.h "the function given to spmd takes the worker" 'retrace::Pool::local(1).spmd([] {});'
refused tensor/tensor.h "a tensor is made from values of type" 'y = retrace::Tensor::from(std::vector<short>{1}, {1});'
refused tensor/tensor.h "values of a tensor are read as" 'x.to_vector<bool>();'

# The header that explains itself comes first, whichever is included.
for header in retrace.h tensor/tensor.h tensor/tree.h base/error.h; do
  program $header '' | compile '-std=c++17 -fmax-errors=1' && fail "$header compiles as C++17"
  grep -m 1 'error:' "$work/said" | grep -q 'retrace needs C++20' || fail "C++17 with $header"
  program $header '' | compile '-D_GLIBCXX_DEBUG -fmax-errors=1' && fail "$header compiles with _GLIBCXX_DEBUG"
  grep -m 1 'error:' "$work/said" | grep -q '_GLIBCXX_DEBUG' || fail "_GLIBCXX_DEBUG with $header"
done

{
  echo '#include <iostream>'
  echo '#include "retrace/tensor/tree.h"'
  echo 'void print(const retrace::Tensor& x, const retrace::Tree& t) { std::cout << x << t << x.shape(); }'
} | compile "" || fail "tensors, trees and shapes are not printed"

exit $((failures > 0))

// What a plan says of itself: what each pass changed, and why a kernel call is one of its own.
#include <gtest/gtest.h>

#include "retrace/ops/op.h"
#include "retrace/plan/compile.h"
#include "retrace/plan/pass_changes.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

std::string why(const std::string& trace) { return make_plan(parse_trace(trace, op_table()))->why(); }

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(PlanText, ListsWhatEachCallDoes) {
  EXPECT_EQ(why("%0 = input f32[4,3]\n"
                "%1 = input f32[3,2]\n"
                "%2 = matmul(%0, %1) {transpose_a=0, transpose_b=0}\n"
                "%3 = relu(%2)\n"
                "%4 = square(%2)\n"
                "%5 = sum(%4) {axes=[0], keep=0}\n"
                "return %3, %5\n"),
            "\n"
            "call 0\n"
            "    matmul                 f32[4,2]                     \n"
            "    relu                   f32[4,2]                     \n"
            "  makes %3 for the caller\n"
            "  makes %2 for call 1\n"
            "\n"
            "call 1\n"
            "    square                 f32[4,2]                     \n"
            "    sum                    f32[2]                       \n"
            "  reads %2 of call 0 (matmul): what reads it is not pointwise\n"
            "  makes %5 for the caller\n");
}

TEST(PlanText, TellsWhyAReductionReadsMemory) {
  EXPECT_SAYS(why("%0 = input f32[4,2]\n%1 = exp(%0)\n%2 = sum(%1) {axes=[0], keep=0}\nreturn %1, %2\n"),
              "reads %1 of call 0 (exp): others read it, too");
  EXPECT_SAYS(why("%0 = input f32[2]\n%1 = input f32[4,2]\n%2 = exp(%0)\n%3 = multiply(%1, %2)\n"
                  "%4 = sum(%3) {axes=[0], keep=0}\nreturn %4\n"),
              "reads %2 of call 0 (exp): the shapes differ");
  EXPECT_SAYS(why("%0 = input f32[8]\n%1 = exp(%0)\n%2 = reshape(%1) {shape=[4,2], labels=\"\"}\n"
                  "%3 = sum(%2) {axes=[0], keep=0}\nreturn %3\n"),
              "reads %1 of call 0 (exp): a view lies between");
  EXPECT_SAYS(why("%0 = input f32[4,2]\n%1 = input f32[4,2]\n%2 = input f32[4,2]\n%3 = input f32[4,2]\n"
                  "%4 = add(%0, %1)\n%5 = add(%2, %3)\n%6 = multiply(%4, %5)\n"
                  "%7 = sum(%6) {axes=[0], keep=0}\nreturn %7\n"),
              "the reduction would read too many arrays");
}

TEST(PlanText, TellsWhyAChainEnds) {
  EXPECT_SAYS(why("%0 = input f32[4,2]\n%1 = sum(%0) {axes=[0], keep=0}\n%2 = relu(%1)\nreturn %2\n"),
              "reads %1 of call 0 (sum): what makes it is not pointwise");
  EXPECT_SAYS(
      why("%0 = input f32[4,4]\n%1 = relu(%0)\n%2 = matmul(%1, %0) {transpose_a=0, transpose_b=0}\nreturn %2\n"),
      "reads %1 of call 0 (relu): what reads it is not pointwise");
  EXPECT_SAYS(why("%0 = input f32[4,2]\n%1 = relu(%0)\n%2 = max(%1) {axes=[0], keep=0}\n%3 = subtract(%1, %2)\n"
                  "return %3\n"),
              "reads %1 of call 0 (relu): another kernel runs between the two");
  EXPECT_SAYS(why("%0 = input f32[32,32,32]\n%1 = input f32[32]\n%2 = add(%0, %1)\n%3 = relu(%2)\n"
                  "%4 = sum(%3) {axes=[0,1,2], keep=0}\n%5 = greater(%3, %1)\n%6 = where(%5, %0, %4)\nreturn %6\n"),
              "reads %3 of call 0 (fused): it is in memory anyway, and the reader can wait");
}

TEST(PlanText, TellsWhyAContractionHasNoChainOnItsTiles) {
  const std::string two = "%0 = input f32[4,4]\n%1 = matmul(%0, %0) {transpose_a=0, transpose_b=0}\n";
  EXPECT_SAYS(why(two + "%2 = input f32[3,4,4]\n%3 = add(%1, %2)\nreturn %3\n"),
              "reads %1 of call 0 (matmul): the shapes differ");
  EXPECT_SAYS(why(two + "%2 = sum(%1) {axes=[0], keep=0}\n%3 = subtract(%1, %2)\nreturn %3\n"),
              "reads %1 of call 0 (matmul): it needs more that is made of the contraction's result");
  EXPECT_SAYS(why(two + "%2 = matmul(%0, %0) {transpose_a=1, transpose_b=0}\n%3 = add(%1, %2)\nreturn %3\n"),
              "the chain is computed on another contraction's tiles");
}

TEST(PlanText, ShowsWhatEachPassChanges) {
  const Trace trace = parse_trace(
      "%0 = input f32[3]\n%1 = exp(%0)\n%2 = exp(%0)\n%3 = negate(%1)\n%4 = negate(%3)\n%5 = add(%4, %2)\nreturn %5\n",
      op_table());
  const PassChanges changes;
  make_plan(trace);
  EXPECT_EQ(changes.text().substr(0, changes.text().find("place_exchanges")),
            "lower_composites: 5 -> 5 nodes, nothing changed\n"
            "fold_constants: 5 -> 5 nodes, nothing changed\n"
            "simplify: 5 -> 4 nodes\n"
            "  - %4 = negate(%3)\n"
            "  - %5 = add(%4, %2)\n"
            "  + %5 = add(%1, %2)\n"
            "merge_common: 4 -> 3 nodes\n"
            "  - %2 = exp(%0)\n"
            "  - %5 = add(%1, %2)\n"
            "  + %5 = add(%1, %1)\n"
            "merge_loops: 3 -> 3 nodes, nothing changed\n"
            "remove_dead: 3 -> 2 nodes\n"
            "  - %3 = negate(%1)\n");
  EXPECT_SAYS(changes.text(), "  + %5 = fused(%0) {\n  +   %0 = input f32[3]\n");
}

TEST(PlanText, ShowsPassesThatAreOff) {
  const Trace trace = parse_trace("%0 = input f32[3]\n%1 = identity(%0)\nreturn %1\n", op_table());
  const PassChanges changes;
  set_passes_off({"simplify"});
  make_plan(trace);
  set_passes_off({});
  EXPECT_SAYS(changes.text(), "simplify: 1 -> 1 nodes (off)\n");
  EXPECT_EQ(PassChanges::current(), &changes);
}

}  // namespace
}  // namespace retrace

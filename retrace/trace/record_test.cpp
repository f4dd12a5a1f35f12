// The whole texts of what recordings and traces refuse.
#include "retrace/trace/record.h"

#include <gtest/gtest.h>

#include <thread>

#include "retrace/ops/divide/divide.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/op.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

const Place place{"model.cpp", 7};

TEST(Recording, RefusesWhatAnotherThreadRecorded) {
  Tensor made;
  std::thread([&] { made = exp(Tensor::zeros({1})); }).join();
  EXPECT_EQ(error_text([&] { made.item<float>(place); }),
            "error[RT0201]: a tensor that another thread recorded is read before it was computed\n"
            "  where:    model.cpp:7\n"
            "  help:     call evaluate() on the thread that made it before handing it on");
  EXPECT_EQ(error_text([&] { exp(made, place); }),
            "error[RT0201]: a tensor that another thread recorded is used before it was computed\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[1]\n"
            "  help:     call evaluate() on the thread that made it before handing it on");
}

TEST(Recording, RefusesToComputeTwiceWhatFailed) {
  const Tensor zero = Tensor::zeros({1}, DType::i32), quotient = divide(zero, zero);
  EXPECT_THROW(evaluate(), Error);
  EXPECT_EQ(error_text([&] { quotient.item<int32_t>(place); }),
            "error[RT0202]: a value is read whose computation failed before\n"
            "  where:    model.cpp:7");
}

TEST(Ops, AreFoundByName) {
  EXPECT_EQ(error_text([] { find_op("rellu"); }),
            "error[RT0130]: there is no op \"rellu\"\n"
            "  help:     did you mean relu?");
  EXPECT_EQ(error_text([] { find_op("unheard_of"); }), "error[RT0130]: there is no op \"unheard_of\"");
}

TEST(Attributes, SayWhatTheyAreNot) {
  const Attributes attributes{{"axes", Shape{1}}, {"keep", int64_t{0}}, {"type", DType::f32}};
  EXPECT_EQ(error_text([&] { attributes.integer("axis"); }),
            "error[RT0901]: an op reads its absent attribute \"axis\"");
  EXPECT_EQ(error_text([&] { attributes.integer("axes"); }),
            "error[RT0901]: the attribute \"axes\" is not a whole number");
  EXPECT_EQ(error_text([&] { attributes.number("keep"); }), "error[RT0901]: the attribute \"keep\" is not a number");
  EXPECT_EQ(error_text([&] { attributes.list("keep"); }),
            "error[RT0901]: the attribute \"keep\" is not a list of whole numbers");
  EXPECT_EQ(error_text([&] { attributes.type("keep"); }), "error[RT0901]: the attribute \"keep\" is not a type");
  EXPECT_EQ(error_text([&] { attributes.text("type"); }), "error[RT0901]: the attribute \"type\" is not a text");
}

// A trace that no recording makes: `change` breaks exp(%0) of one f32 element.
template <class Change>
std::string broken(Change change) {
  Trace trace;
  const ValueId x = trace.add_input({DType::f32, {1}, {}, {}});
  Node node;
  node.op = &find_op("exp");
  node.inputs = {x};
  trace.add_node(std::move(node), std::vector{trace.values[0]});
  change(trace);
  return error_text([&] { verify(trace, "a_pass"); });
}

TEST(Verify, SaysWhatAPassBroke) {
  const auto text = [](const std::string& what) {
    return "error[RT0902]: the trace is not well formed after a_pass: node 0: " + what +
           "\n  help:     this is a defect of retrace: please report it; RETRACE_PASSES_OFF=<pass> may help meanwhile";
  };
  EXPECT_EQ(broken([](Trace&) {}), "");
  EXPECT_EQ(broken([](Trace& trace) { trace.nodes[0].inputs = {ValueId{1}}; }), text("exp reads %1 before it is made"));
  EXPECT_EQ(broken([](Trace& trace) { trace.nodes[0].inputs = {ValueId{0}, ValueId{0}}; }), text("exp has 2 inputs"));
  EXPECT_EQ(broken([](Trace& trace) { trace.values[1].shape = {2}; }), text("exp makes f32[1], stated is f32[2]"));
  EXPECT_EQ(broken([](Trace& trace) {
              trace.nodes[0].output_count = 2;
              trace.values.push_back(trace.values[0]);
            }),
            text("exp has 2 outputs"));
  EXPECT_NE(broken([](Trace& trace) { trace.outputs = {ValueId{2}}; }).find("node 1: output %2 is never made"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace

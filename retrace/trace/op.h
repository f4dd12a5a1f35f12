#pragma once
// What an op states, once. Hash, equality, text form, parsing, checks of planned traces and the list of tests
// follow from it. Each folder under ops/ defines one op or one family; define_<folder>(OpTable&) adds them.

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cuda/kernel_errors.h"
#include "retrace/tensor/tensor.h"
#include "retrace/trace/trace.h"
#include "retrace/trace/traits.h"

namespace retrace {
class Error;
namespace cuda {
class Launches;  // retrace/device/cuda/launches.h
}

// -- what a call looks like to the op ---------------------------------------------------------------------------

struct InferCall {
  const Op& op;
  const Attributes& attributes;
  std::span<const TensorSpec> inputs;
  Place place;
};

struct GradientCall {
  const Attributes& attributes;
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  std::span<const Tensor> cotangents;  // one for each output; not defined() where the loss does not depend on it
  std::span<const bool> needed;        // one for each input: whose gradient is wanted
  Place place;
};

struct LowerCall {
  const Attributes& attributes;
  std::span<const Tensor> inputs;
  Place place;
};

// Makes elements begin..begin+count-1 (row-major) of a reduction's input.
class TileSource {
 public:
  virtual ~TileSource() = default;
  virtual void load(int64_t begin, int64_t count, float* to) const = 0;
};

struct KernelInput {
  const void* data = nullptr;
  const TensorSpec* spec = nullptr;
};
struct KernelOutput {
  void* data = nullptr;
  const TensorSpec* spec = nullptr;
};

// What a kernel makes of input 1 alone (packed weights) and keeps for calls that follow with the same input 1.
struct KeptFactor {
  void* data = nullptr;  // op.kept(...) bytes, 64-byte aligned; null: none is kept
  bool made = false;     // by an earlier call; else this call makes it
};

struct KernelCall {
  const Attributes& attributes;
  std::span<const KernelInput> inputs;
  std::span<const KernelOutput> outputs;
  void* workspace = nullptr;                                            // op.workspace(...) bytes, 64-byte aligned
  const FunctionRef<void(int64_t begin, int64_t end)>* done = nullptr;  // takes_epilogue: call for finished elements
  const TileSource* source = nullptr;                                   // takes_prologue: input 0 comes from here
  KeptFactor kept = {};
};

// What the op makes, on the device of its arguments.
std::vector<TensorSpec> infer_call(const InferCall& call);

// Addresses are on the device. Adds the launches that compute the outputs.
struct CudaCall {
  const Attributes& attributes;
  std::span<const KernelInput> inputs;
  std::span<const KernelOutput> outputs;
  void* workspace = nullptr;  // op.cuda_workspace(...) bytes
  cuda::Launches& launches;
  cuda::ErrorTarget errors = {};  // of an op with a value_error
};

// How a CUDA kernel that is generated makes element i (an unsigned) of an op's one f32 result: text(call, arrays) is an
// expression of i and of `arrays`, the op's inputs as Global<const T>, of which it may read any element. It needs the
// header, and knows the shapes. Of an op with a value_error, `arrays` has an ErrorTarget behind the inputs.
struct CudaElement {
  std::string_view header = {};
  std::string (*text)(const InferCall& call, std::span<const std::string> arrays) = nullptr;
};

// How a CUDA kernel that is generated goes line by line along the last axis. Where the attribute `axis` is that,
// function<features>(x, y) of the header makes of the line x of input 0 the line y of the one f32 result; where `axes`
// is that alone, function<features>(x, y, ...) makes a number of each f32 result. The threads of a line hold it
// (LineLanes of retrace/ops/line_cuda.h).
struct CudaLine {
  std::string_view header = {}, function = {};
};

// A value that a kernel on a CUDA device reported.
struct ValueErrorCall {
  const Attributes& attributes;
  std::span<const TensorSpec> inputs;
  int64_t position;  // an element, row-major: of the result of a rule; otherwise of what the op says
  int32_t value;
};

// -- pointwise rules --------------------------------------------------------------------------------------------

// out[i] = rule(in[0][i], in[1][i], ...) for i < count; in f32 a bool is 1 or 0.
using TileFunction = void (*)(const float* const* in, float* out, int64_t count);
using ReferenceFunction = void (*)(const double* const* in, double* out, int64_t count);

// The same on i32 and i64: made of a lambda without captures for both, which computes one number from one of each
// argument.
struct IntegerFunction {
  void (*run)(const int32_t* const* in, int32_t* out, int64_t count) = nullptr;
  void (*run_wide)(const int64_t* const* in, int64_t* out, int64_t count) = nullptr;

  IntegerFunction() = default;
  template <class F>
    requires(std::is_empty_v<F>)
  IntegerFunction(F) : run(each<F, int32_t>), run_wide(each<F, int64_t>) {}
  explicit operator bool() const { return run; }

 private:
  template <class F, class T>
  static void each(const T* const* in, T* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const T arguments[] = {in[0][i], in[1][i], in[2][i]};  // those that there are not are not read
      out[i] = F()(arguments);
    }
  }
};

struct PointwiseRule {
  int arity;
  KernelTable<TileFunction> tile;
  ReferenceFunction reference;
  std::string_view name, header;  // NAME_rule<V> in that header: what CUDA kernels are generated from
};

// -- the op -----------------------------------------------------------------------------------------------------

struct ReduceKernels;  // retrace/ops/reduce/reduction.h

struct Op {
  std::string_view name;
  int inputs = 1;                                 // -1: any number
  std::vector<std::string_view> attributes = {};  // names, in the order in which they are written

  // Checks inputs and attributes; returns the specs of the outputs.
  std::vector<TensorSpec> (*infer)(const InferCall&) = nullptr;
  // One tensor for each input (undefined where not needed), made with public ops. Null: the op cuts gradients,
  // as for integer results; say why beside the definition.
  std::vector<Tensor> (*gradient)(const GradientCall&) = nullptr;
  // The gradient of input 0, which is a sum, added term by term to `before`, the sum of the gradients for other uses
  // of that input; undefined: to nothing.
  Tensor (*gradient_onto)(const GradientCall&, const Tensor& before) = nullptr;

  // How it is computed; one of the following.
  const PointwiseRule* rule = nullptr;  // any pointwise op on f32, f64
  IntegerFunction integer = {};         // the same on i32 and i64 (u8 and bool are widened), beside `rule`
  bool integer_by_rule = false;         // NAME_rule<Int32> computes `integer`: what CUDA kernels do
  std::vector<Tensor> (*lower)(const LowerCall&) = nullptr;  // a composite: its definition in other ops
  void (*kernel)(const KernelCall&) = nullptr;               // everything else; f64 is the double-precision reference
  int64_t (*workspace)(const InferCall&) = nullptr;          // bytes that the kernel needs
  int64_t (*kept)(const InferCall&) = nullptr;               // bytes of KernelCall::kept; 0: it keeps nothing

  // Ends what kernels of this thread have left under way, where a run fails: nothing may write into its memory any
  // more.
  void (*abandon)(const char* why) = nullptr;

  // On a CUDA device; a rule and a view need nothing. Null: there is no kernel yet.
  void (*cuda)(const CudaCall&) = nullptr;
  int64_t (*cuda_workspace)(const InferCall&) = nullptr;
  CudaElement cuda_element = {};  // beside `cuda`, so that other kernels may make its elements where they use them
  CudaLine cuda_line = {};        // the same for its lines

  // What `kernel` or `integer` throws for a value: the CUDA kernel reports it instead. A rule on integers reports its
  // first argument where NAME_fails<Int32>, beside the rule, is true.
  Error (*value_error)(const ValueErrorCall&) = nullptr;

  bool costly = false;          // a rule of many instructions: planning never computes it twice
  bool view = false;            // output 0 has the bytes of input 0 in the same order: no kernel runs
  bool takes_epilogue = false;  // the f32 kernel calls `done`
  bool takes_prologue = false;  // the f32 kernel reads input 0 through `source` if there is one
  bool collective = false;      // the workers of a pool compute it together: each node stays, in its order

  // Along axis 0, the samples: bit i says that sample n of every output needs only sample n of input i, unless the op
  // goes along the samples (goes_along_samples()). 0: not known.
  uint32_t cut = 0;
  // Set where the output of an op that goes along the samples is a sum over those of these inputs: the least power of
  // two of samples whose sum is a subtree of the sum's tree (docs/numerics.md 0) wherever they begin at a multiple of
  // it; 0: there is none.
  int64_t (*subtree)(const InferCall&) = nullptr;
  // A reduction: the f32 kernels of its column rule, so that what makes its input may run them. Takes a prologue, too.
  const ReduceKernels* (*column_kernels)() = nullptr;

  // What its result is, for exact rewrites and for kernels that compute it beside their own work.
  std::vector<SameValue> same_as = {};
  bool own_inverse = false;          // op(op(x)) is x
  bool constant = false;             // one number, the attribute "value"
  bool repeats = false;              // each element of the result is an element of input 0
  bool joins = false;                // the inputs one after another along the attribute "axis"
  bool puts = false;                 // input 0 at "begin", "begin" + "step", ... of zeros of the shape "shape"
  bool cuts = false;                 // of input 0 the elements "begin", begin + "step", ... before "end", for each axis
  bool elementwise = false;          // `kernel` makes an element of the inputs' elements at its place alone
  bool sum = false;                  // of input 0 over the attribute "axes", in the orders of docs/numerics.md 3
  bool loop = false;                 // see retrace/ops/loop.h; plans of the CPU run it as it is, others its `lower`
  bool contraction = false;          // sums of products: costs more than reading its inputs and writing its result
  Formula formula = Formula::other;  // of `rule`
  MatrixProduct (*matrix_product)(const Attributes&) = nullptr;  // which product the kernel computes
  // The result is input 0 spread over an image: to each element the sum of input 0 over the windows that it wins. The
  // name of the op with these windows, whose outputs are what each wins (the element's bits) and who it is (input 1).
  std::string_view unpools = {};

  // In plans of workers and of CUDA devices.
  const Exchange* exchange = nullptr;  // place_exchanges makes its tensors travel with others
  bool on_host = false;                // `kernel` runs on the host in plans of every device
  bool stays_on_host = false;          // so does what it makes
  int reads = -1;                      // it reads so many inputs, and of the others the specs alone; -1: all

  // Types beside f32, f64, i32, u8 and bool. Without any_type (or `view`), record() brings bf16 and f16 to f32, and
  // what is made of them back (retrace/ops/cast); an op that does not know i64 refuses it.
  bool any_type = false;  // bf16, f16 and i64: it moves elements as they are, or converts them
  bool i64 = false;       // its kernels on the CPU compute i64, too; so does `integer`
  uint32_t indices = 0;   // bit i: input i are indices, which may be i64: record() brings them to i32
};

class OpTable {
 public:
  const Op& add(Op op);  // a name stands once
  const Op* find(std::string_view name) const;
  const std::deque<Op>& all() const { return ops_; }

 private:
  std::deque<Op> ops_;
};

// Whether a call of an op that is cut along the samples computes along them: its attribute `axes` has axis 0, or `axis`
// is 0; without such attributes, where there is a `subtree`.
bool goes_along_samples(const Op& op, const Attributes& attributes);

}  // namespace retrace

// Convolution forward and input gradient: every output gathers the inputs that it meets. Both are one kernel: the
// input gradient of stride s splits its outputs by their residues modulo s; the outputs of one residue lie side by
// side, meet the same taps, and the taps that fall into stride holes are simply not listed. See docs/kernels.md.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/conv2d/conv2d_kernel.h"
#include "retrace/ops/conv2d/conv2d_plan.h"

namespace retrace {
namespace {

struct Tap {
  int64_t kernel, shift;  // position in the kernel, and of the input from the base of an output
};

// Outputs first + i * step, i < count, of one axis: output i meets input base + i * base_step + shift of each tap.
struct AxisClass {
  int64_t first, step, count, base, base_step, taps;
  const Tap* tap;
  // Three taps that meet neighbours, as outputs do: 1 if the next tap meets the next input, -1 if the one before. Else
  // 0.
  int run;
  int64_t tile[3];  // outputs of a tile of 1 and of 2 vectors (indices 1 and 2)
};

struct Axis {
  int64_t classes, lowest, highest;  // of the inputs that are met
  AxisClass* of;
};

// One gather: "in" is what is read, whatever its role in the convolution.
struct Gather {
  int64_t batch, in_height, in_width, in_channels, in_group;
  int64_t out_height, out_width, out_channels, out_group, groups;
  int64_t kernel_height, kernel_width;
  int64_t weight_kernel, weight_in, weight_out, weight_group;  // distances in w
  bool gradient;
  int64_t merged;  // columns of the kernel that count as channels: see merge_columns
};

Gather forward_gather(const Conv2dShape& s) {
  const int64_t in = s.in_channels / s.groups, out = s.out_channels / s.groups;
  return {s.batch,
          s.in_height,
          s.in_width,
          s.in_channels,
          in,
          s.out_height,
          s.out_width,
          s.out_channels,
          out,
          s.groups,
          s.kernel_height,
          s.kernel_width,
          in * s.out_channels,
          s.out_channels,
          1,
          out,
          false,
          1};
}

// Where windows lie side by side, the outputs that meet one input stand side by side in memory: one wider output.
void merge_columns(const Conv2dShape& s, Gather& g) {
  const int64_t width = s.kernel_width;
  if (s.stride_x != width || s.dilation_x != 1 || s.pad_left != 0 || s.groups != 1) return;
  if (g.in_width * width != g.out_width) return;
  g.merged = width, g.kernel_width = 1;
  g.out_width /= width, g.out_channels *= width, g.out_group *= width;
}

Gather gradient_gather(const Conv2dShape& s) {
  Gather g = forward_gather(s);
  std::swap(g.in_height, g.out_height), std::swap(g.in_width, g.out_width);
  std::swap(g.in_channels, g.out_channels), std::swap(g.in_group, g.out_group);
  std::swap(g.weight_in, g.weight_out);
  g.gradient = true;
  merge_columns(s, g);
  return g;
}

struct AxisShape {
  int64_t out, kernel, stride, dilation, pad;
};

int run_of(const AxisClass& c) {
  if (c.taps != kContractionRun || c.base_step != 1) return 0;
  const int64_t step = c.tap[1].shift - c.tap[0].shift;
  return std::abs(step) == 1 && c.tap[2].shift - c.tap[1].shift == step ? static_cast<int>(step) : 0;
}

Axis plan_axis(const AxisShape& s, bool gradient, Workspace& space) {
  Axis axis{gradient ? s.stride : 1, INT64_MAX, INT64_MIN, nullptr};
  axis.of = space.take<AxisClass>(axis.classes);
  Tap* tap = space.take<Tap>(s.kernel);
  if (!space.real()) return axis;
  for (int64_t r = 0; r < axis.classes; ++r) {
    AxisClass& c = axis.of[r];
    c = {0, 1, s.out, -s.pad, s.stride, 0, tap, 0, {}};
    if (gradient) {
      c.first = ((r - s.pad) % s.stride + s.stride) % s.stride;
      c.step = s.stride;
      c.count = c.first < s.out ? (s.out - c.first + s.stride - 1) / s.stride : 0;
      c.base = (c.first + s.pad - r) / s.stride;
      c.base_step = 1;
    }
    for (int64_t k = 0; k < s.kernel; ++k) {
      if (!gradient) {
        tap[c.taps++] = {k, k * s.dilation};
      } else if (k * s.dilation % s.stride == r) {
        tap[c.taps++] = {k, -((k * s.dilation - r) / s.stride)};
      }
    }
    c.run = run_of(c);
    tap += c.taps;
    for (int64_t t = 0; t < c.taps && c.count > 0; ++t) {
      axis.lowest = std::min(axis.lowest, c.base + c.tap[t].shift);
      axis.highest = std::max(axis.highest, c.base + (c.count - 1) * c.base_step + c.tap[t].shift);
    }
  }
  if (axis.lowest > axis.highest) axis.lowest = axis.highest = 0;  // no output meets any input
  return axis;
}

// Everything that pieces share: layout of panels of weights, of staged rows, and the lists of terms.
struct Plan {
  Gather g;
  Axis y, x;
  // Few outputs a group: lanes run over groups too, and each lane has its own input. Grouped: lanes look it up among
  // the channels as they lie.
  bool lanewise, grouped;
  int vectors;
  int64_t panel, panels;  // lanes of a panel of weights; panels of a group (of all groups if lanewise)
  int64_t depth, block, blocks;
  int64_t left, staged_width, pixel, pitch;  // staged rows: left margin, pixels, floats a pixel, floats a row
  bool staged;
  bool large;  // outputs of 8 MiB and more
  float* weights;
  ContractionTerm* terms;
  int32_t* ends;         // [y class][x class][block]
  int64_t* class_terms;  // [y class][x class]: first term
  std::atomic<int32_t>* nonfinite;

  bool repeats() const { return lanewise && !grouped; }  // staged rows hold each lane's input
  int64_t group_panels() const { return lanewise ? 1 : g.groups; }
  int64_t panel_channels() const { return lanewise ? g.out_channels : g.out_group; }
};

// How rows of outputs are cut into tiles, evenly, and whether their taps are taken by runs.
void plan_tiles(Plan& p) {
  const auto& kernels = contraction_kernels();
  for (int64_t i = 0; i < p.x.classes; ++i) {
    AxisClass& c = p.x.of[i];
    if (p.lanewise || kernels.most_run_positions[1] == 0) c.run = 0;
    for (int vectors : {1, 2}) {
      const int64_t most = (c.run != 0 ? kernels.most_run_positions : kernels.most_positions)[vectors];
      const int64_t tiles = std::max<int64_t>(1, (c.count + most - 1) / most);
      c.tile[vectors] = std::max<int64_t>(1, (c.count + tiles - 1) / tiles);
    }
  }
}

Plan make_plan(const Gather& g, const Conv2dShape& s, Workspace& space) {
  Plan p{};
  p.g = g;
  p.y = plan_axis({g.out_height, s.kernel_height, s.stride_y, s.dilation_y, s.pad_top}, g.gradient, space);
  const AxisShape merged{g.out_width, 1, 1, 1, 0};
  const AxisShape x{g.out_width, s.kernel_width, s.stride_x, s.dilation_x, s.pad_left};
  p.x = plan_axis(g.merged > 1 ? merged : x, g.gradient, space);
  p.grouped = looks_up_groups(g.groups, g.in_group, g.out_group);
  p.lanewise = p.grouped || (g.groups > 1 && g.out_group < 8);
  p.vectors = preferred_vectors(p.panel_channels());
  p.panel = 16 * p.vectors;
  p.panels = (p.panel_channels() + p.panel - 1) / p.panel;
  p.large = g.batch * g.out_height * g.out_width * g.out_channels >= int64_t{2} << 20;
  p.depth = g.kernel_height * g.in_group * g.kernel_width;
  p.block = block_of(g.kernel_width * g.merged) / g.merged;  // the same sums: merged columns are terms of others
  p.blocks = (p.depth + p.block - 1) / p.block;
  // Room for panels of 32 and of 16 lanes, lanewise or not: sizes do not depend on the instruction set in use.
  const int64_t lanes = g.out_group < 8 ? (g.out_channels + 31) / 32 * 32 : g.groups * ((g.out_group + 31) / 32 * 32);
  p.weights = space.take<float>(lanes * p.depth);
  p.terms = space.take<ContractionTerm>(p.depth);
  p.ends = space.take<int32_t>(p.y.classes * p.x.classes * p.blocks);
  p.class_terms = space.take<int64_t>(p.y.classes * p.x.classes);
  if (space.real()) plan_tiles(p);
  p.nonfinite = space.take<std::atomic<int32_t>>(1);
  return p;
}

// Whether all columns outside of the image are those that a tile of runs can leave out.
bool runs_leave_out_margins(const Plan& p) {
  bool runs = p.x.lowest >= -1 && p.x.highest <= p.g.in_width;
  for (int64_t c = 0; c < p.x.classes; ++c) runs = runs && (p.x.of[c].run != 0 || p.x.of[c].count == 0);
  return runs;
}

void plan_staging(Plan& p) {
  const Gather& g = p.g;
  const bool same_lanes = g.in_group == 1 && g.out_group == 1 && g.in_channels % p.panel == 0;
  p.left = std::max<int64_t>(0, -p.x.lowest);
  const int64_t right = std::max<int64_t>(0, p.x.highest - (g.in_width - 1));
  p.staged = ((p.left > 0 || right > 0) && !runs_leave_out_margins(p)) || (p.repeats() && !same_lanes);
  p.staged_width = p.staged ? p.left + g.in_width + right : g.in_width;
  p.pixel = p.repeats() ? g.in_group * p.panels * p.panel : g.in_channels;
  p.pitch = p.staged_width * p.pixel;
}

void list_terms(Plan& p) {
  const Gather& g = p.g;
  const int64_t channel = p.repeats() ? p.panels * p.panel : 1;
  int64_t count = 0;
  for (int64_t cy = 0; cy < p.y.classes; ++cy)
    for (int64_t cx = 0; cx < p.x.classes; ++cx) {
      const AxisClass &y = p.y.of[cy], &x = p.x.of[cx];
      const int64_t cell = cy * p.x.classes + cx, begin = count;
      int32_t* ends = p.ends + cell * p.blocks;
      p.class_terms[cell] = begin;
      int64_t block = 0;
      for (int64_t ty = 0; ty < y.taps; ++ty)
        for (int64_t c = 0; c < g.in_group; ++c)
          for (int64_t tx = 0; tx < x.taps; ++tx) {
            const int64_t k = (y.tap[ty].kernel * g.in_group + c) * g.kernel_width + x.tap[tx].kernel;
            for (; block < k / p.block; ++block) ends[block] = static_cast<int32_t>(count - begin);
            const int64_t a = y.tap[ty].shift * p.pitch + x.tap[tx].shift * p.pixel + c * channel;
            p.terms[count++] = {static_cast<int32_t>(a), static_cast<int32_t>(k * p.panel)};
          }
      for (; block < p.blocks; ++block) ends[block] = static_cast<int32_t>(count - begin);
    }
}

// The weights of `lanes` outputs from the first one on, all of one place in the kernel but for merged columns.
void pack_lanes(const Gather& g, const float* w, int64_t first, int64_t lanes, float* to, int64_t to_step) {
  const int64_t channels = g.out_group / g.merged;
  for (int64_t lane = 0; lane < lanes;) {
    const int64_t channel = (first + lane) % channels, count = std::min(lanes - lane, channels - channel);
    const float* from = w + (first + lane) / channels * g.weight_kernel + channel * g.weight_out;
    if (g.weight_out == 1) {
      for (int64_t c = 0; c < g.in_group; ++c)
        std::memcpy(to + c * to_step + lane, from + c * g.weight_in, sizeof(float) * static_cast<size_t>(count));
    } else {
      contraction_kernels().transpose(from, g.weight_out, to + lane, to_step, count, g.in_group);
    }
    lane += count;
  }
}

// Packs one panel as [k][lane], k in the order of the sum, and notes infinities and NaN.
void pack_panel(const Plan& p, int64_t index, const float* w) {
  const Gather& g = p.g;
  const int64_t group = index / p.panels, first = index % p.panels * p.panel;
  const int64_t lanes = std::min(p.panel, p.panel_channels() - first);
  float* const panel = p.weights + index * p.depth * p.panel;
  const auto& kernels = contraction_kernels();
  if (lanes < p.panel) std::fill(panel, panel + p.depth * p.panel, 0.0f);
  for (int64_t ky = 0; ky < g.kernel_height; ++ky)
    for (int64_t kx = 0; kx < g.kernel_width; ++kx) {
      const float* from = w + (ky * g.kernel_width * g.merged + kx) * g.weight_kernel;
      float* to = panel + (ky * g.in_group * g.kernel_width + kx) * p.panel;
      const int64_t to_step = g.kernel_width * p.panel;
      if (!p.lanewise) {
        pack_lanes(g, from + group * g.weight_group, first, lanes, to, to_step);
        continue;
      }
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t o = first + lane;
        const float* column = from + o / g.out_group * g.weight_group + o % g.out_group * g.weight_out;
        for (int64_t c = 0; c < g.in_group; ++c) to[c * to_step + lane] = column[c * g.weight_in];
      }
    }
  if (kernels.has_nonfinite(panel, p.depth * p.panel)) p.nonfinite->store(1, std::memory_order_relaxed);
}

// One image row into its staged form: margins of zeros, and for lanes with own inputs each lane's.
void stage_row(const Plan& p, const float* from, float* to) {
  const Gather& g = p.g;
  const int64_t width = g.in_width * p.pixel, left = p.left * p.pixel;
  std::fill(to, to + left, 0.0f);
  if (p.repeats() && !(g.out_group == 1 && p.pixel == g.in_channels)) {
    contraction_kernels().repeat_channels(
        {g.in_width, g.in_channels, g.in_group, g.out_group, g.out_channels, p.panels * p.panel}, from, to + left);
  } else {
    std::memcpy(to + left, from, sizeof(float) * static_cast<size_t>(width));
  }
  std::fill(to + left + width, to + p.pitch, 0.0f);
}

// The rows of one image that a piece computes, with the inputs that they meet.
struct Segment {
  const float* in;  // row in_first, as if it stood in a full image of pitch floats a row
  int64_t in_first;
  const float* end;  // of the batch
  float* out;        // the image
  bool skip;         // weights are not finite: columns outside the image must not be multiplied
};

struct Row {
  const AxisClass* y;
  const AxisClass* x;
  ContractionBlocks blocks;
  int run;              // of x, where all of its terms are listed
  int64_t first, last;  // its terms inside the image (rows)
  const float* a;       // input at column 0 of the image, row base
  const float* ahead;   // the row of inputs that the next row of outputs is the first to meet; may be null
  float* out;
};

struct Panel {
  int64_t index, group, first;  // its group; its first output of the group (of all, if lanewise)
  int columns, vectors;
};

Panel panel_at(const Plan& p, int64_t index) {
  Panel panel{index, index / p.panels, index % p.panels * p.panel, 0, 1};
  panel.columns = static_cast<int>(std::min(p.panel, p.panel_channels() - panel.first));
  if (panel.columns > 16) panel.vectors = 2;
  return panel;
}

// Outputs from..to-1 of a row's class as the rows of a tile; where the next tap meets the input before, from the last
// one to the first.
void place_tile(const Plan& p, const Row& row, int64_t from, int64_t to, ContractionTile& tile) {
  const AxisClass& x = *row.x;
  const bool turned = row.run < 0;
  const int64_t start = turned ? to - 1 : from;
  tile.a = row.a + (x.base + start * x.base_step) * p.pixel;
  tile.a_step = turned ? -p.pixel : x.base_step * p.pixel;
  tile.out = row.out + (x.first + start * x.step) * p.g.out_channels;
  tile.out_step = (turned ? -x.step : x.step) * p.g.out_channels;
  if (row.run == 0 || p.staged) return;
  const bool left = x.base + from + x.tap[turned ? 2 : 0].shift < 0;
  const bool right = x.base + to - 1 + x.tap[turned ? 0 : 2].shift >= p.g.in_width;
  tile.lacks_first = turned ? right : left;
  tile.lacks_last = turned ? left : right;
}

// Fetches the lines that the tile writes, and inputs of the next row, into the cache while the tile is computed.
// Inlined at once: GCC would find the function to have no effect, and drop the call.
__attribute__((always_inline)) inline void prefetch(const Plan& p, const Row& row, int64_t from, int64_t to,
                                                    const ContractionTile& tile) {
  // Short tiles are written before a fetched line arrives; it still pays where lines come from memory.
  if (row.last - row.first >= 64 || p.large)
    for (int64_t i = 0; i < to - from; ++i)
      for (int64_t lane = 0; lane < tile.columns; lane += 16)
        __builtin_prefetch(tile.out + i * tile.out_step + lane, 1);
  if (!row.ahead) return;
  const float* const end = row.ahead + to * p.pixel;
  for (const float* at = row.ahead + from * p.pixel; at < end; at += 16) __builtin_prefetch(at);
}

// Outputs begin..end-1 of a row's class, one panel.
void compute_outputs(const Plan& p, const Row& row, const Panel& panel, int64_t begin, int64_t end) {
  const auto& kernels = contraction_kernels();
  const auto& functions = row.run != 0 ? kernels.broadcast_run
                          : p.grouped  ? kernels.grouped_by_term
                          : p.lanewise ? kernels.lanewise
                                       : kernels.broadcast;
  const int64_t most = row.x->tile[panel.vectors];
  ContractionTile tile;
  tile.group = static_cast<int>(p.g.in_group);
  tile.b = p.weights + panel.index * p.depth * p.panel;
  tile.columns = panel.columns;
  for (int64_t from = begin; from < end; from += most) {
    const int64_t to = std::min(end, from + most);
    place_tile(p, row, from, to, tile);
    tile.a += p.lanewise ? panel.first : panel.group * p.g.in_group;
    tile.out += panel.group * p.g.out_group + panel.first;
    prefetch(p, row, from, to, tile);
    contract(functions[panel.vectors][to - from], tile, row.blocks, row.first, row.last, static_cast<int>(to - from),
             panel.vectors);
  }
}

// The same where weights are infinite or NaN: one output at a time, with the terms inside the image only.
void compute_outputs_skipping(const Plan& p, const Row& row, const Panel& panel) {
  auto* terms = static_cast<ContractionTerm*>(
      thread_scratch(2, sizeof(ContractionTerm) * static_cast<size_t>(p.depth) + 4 * static_cast<size_t>(p.blocks)));
  auto* ends = reinterpret_cast<int32_t*>(terms + p.depth);
  for (int64_t i = 0; i < row.x->count; ++i) {
    int32_t count = 0;
    for (int64_t block = 0, t = 0; block < p.blocks; ++block) {
      for (; t < row.blocks.ends[block]; ++t) {
        const int64_t at = row.x->base + i * row.x->base_step + row.x->tap[t % row.x->taps].shift;
        if (t >= row.first && t < row.last && at >= 0 && at < p.g.in_width) terms[count++] = row.blocks.terms[t];
      }
      ends[block] = count;
    }
    Row one = row;
    one.blocks = {terms, ends, p.blocks};
    one.run = 0;
    one.first = 0, one.last = count;
    compute_outputs(p, one, panel, i, i + 1);
  }
}

void compute_row(const Plan& p, const Segment& s, const Panel& panel, int64_t cy, int64_t index) {
  const AxisClass& y = p.y.of[cy];
  const int64_t base = y.base + index * y.base_step;
  int64_t low = y.taps, high = 0;
  for (int64_t t = 0; t < y.taps; ++t)
    if (base + y.tap[t].shift >= 0 && base + y.tap[t].shift < p.g.in_height) low = std::min(low, t), high = t + 1;
  low = std::min(low, high);
  const int64_t highest = y.taps > 0 ? std::max(y.tap[0].shift, y.tap[y.taps - 1].shift) : 0;
  for (int64_t cx = 0; cx < p.x.classes; ++cx) {
    const AxisClass& x = p.x.of[cx];
    if (x.count == 0) continue;
    const int64_t cell = cy * p.x.classes + cx, row_terms = p.g.in_group * x.taps;
    Row row{&y,
            &x,
            {p.terms + p.class_terms[cell], p.ends + cell * p.blocks, p.blocks},
            x.run,
            low * row_terms,
            high * row_terms,
            s.in + (base - s.in_first) * p.pitch,
            nullptr,
            nullptr};
    if (x.run != 0 && !p.staged && row.a + (highest + 2) * p.pitch <= s.end)
      row.ahead = row.a + (highest + 1) * p.pitch;
    row.out = s.out + (y.first + index * y.step) * p.g.out_width * p.g.out_channels;
    if (s.skip) {
      compute_outputs_skipping(p, row, panel);
    } else {
      compute_outputs(p, row, panel, 0, x.count);
    }
  }
}

// Finds the class of row oy, and its index among the rows of that class.
void locate(const Axis& axis, int64_t out, int64_t* which, int64_t* index) {
  *which = 0, *index = out;
  if (axis.classes == 1) return;
  for (int64_t c = 0; c < axis.classes; ++c) {
    const AxisClass& k = axis.of[c];
    if (out >= k.first && (out - k.first) % k.step == 0) *which = c, *index = (out - k.first) / k.step;
  }
}

// The first and the last row of inputs that a row of outputs meets.
std::pair<int64_t, int64_t> rows_met(const Plan& p, int64_t oy) {
  int64_t cy = 0, index = 0, lowest = INT64_MAX, highest = -1;
  locate(p.y, oy, &cy, &index);
  const AxisClass& y = p.y.of[cy];
  for (int64_t t = 0; t < y.taps; ++t) {
    const int64_t at = y.base + index * y.base_step + y.tap[t].shift;
    if (at >= 0 && at < p.g.in_height) lowest = std::min(lowest, at), highest = std::max(highest, at);
  }
  return {lowest, highest};
}

// Rows begin..end-1 of image n.
void compute_segment(const Plan& p, const float* in, float* out, int64_t n, int64_t begin, int64_t end) {
  const Gather& g = p.g;
  int64_t lowest = INT64_MAX, highest = -1;
  for (int64_t oy = begin; oy < end; ++oy) {
    const auto [low, high] = rows_met(p, oy);
    lowest = std::min(lowest, low), highest = std::max(highest, high);
  }
  const int64_t image = g.in_height * g.in_width * g.in_channels;
  Segment s{in + n * image, 0, in + g.batch * image, out + n * g.out_height * g.out_width * g.out_channels,
            p.staged && p.nonfinite->load(std::memory_order_relaxed) != 0};
  const float* const from = s.in;
  float* rows = nullptr;
  int64_t staged = lowest;  // rows before it are staged
  if (p.staged && highest >= lowest) {
    const int64_t floats = (highest - lowest + 1) * p.pitch + 16;
    rows = static_cast<float*>(thread_scratch(1, sizeof(float) * static_cast<size_t>(floats)));
    s.in = rows + p.left * p.pixel;
    s.in_first = lowest;
  }
  const auto stage_to = [&](int64_t last) {
    for (; rows && staged <= last; ++staged)
      stage_row(p, from + staged * g.in_width * g.in_channels, rows + (staged - lowest) * p.pitch);
  };
  const int64_t panels = p.group_panels() * p.panels;
  if (panels > 1) stage_to(highest);
  for (int64_t i = 0; i < panels; ++i) {
    const Panel panel = panel_at(p, i);
    for (int64_t oy = begin; oy < end; ++oy) {
      stage_to(rows_met(p, oy).second);  // just before they are read, so that the first cache has them
      int64_t cy = 0, index = 0;
      locate(p.y, oy, &cy, &index);
      compute_row(p, s, panel, cy, index);
    }
  }
}

// Rows of outputs a piece computes: about 32 KB, whole images where they are small.
int64_t piece_rows(const Gather& g) {
  const int64_t row_bytes = std::max<int64_t>(1, g.out_width * g.out_channels * 4);
  const int64_t image = g.out_height * row_bytes, rows = g.batch * g.out_height;
  int64_t piece = 0;
  if (image <= 65536) {
    piece = std::max<int64_t>(1, 32768 / image) * g.out_height;
  } else {
    const int64_t parts = std::min(g.out_height, (image + 49151) / 49152);
    piece = (g.out_height + parts - 1) / parts;
  }
  return std::max<int64_t>(1, std::min(piece, (rows + 7) / 8));
}

void gather(const Conv2dShape& shape, const Gather& g, const float* in, const float* w, float* out, void* workspace,
            ContractionDone* done) {
  const int64_t size = g.batch * g.out_height * g.out_width * g.out_channels;
  if (size == 0) return;
  if (g.in_group == 0) {
    std::fill(out, out + size, 0.0f);
    if (done) (*done)(0, size);
    return;
  }
  Workspace space(workspace);
  Plan p = make_plan(g, shape, space);
  plan_staging(p);
  list_terms(p);
  p.nonfinite->store(0, std::memory_order_relaxed);
  const int64_t panels = p.group_panels() * p.panels;
  if (panels * p.depth * p.panel <= 16384) {
    for (int64_t i = 0; i < panels; ++i) pack_panel(p, i, w);
  } else {
    run_pieces(panels, [&](int64_t i) { pack_panel(p, i, w); });
  }
  const int64_t rows = g.batch * g.out_height, chunk = piece_rows(g), row_floats = g.out_width * g.out_channels;
  run_pieces((rows + chunk - 1) / chunk, [&](int64_t piece) {
    const int64_t begin = piece * chunk, end = std::min(rows, begin + chunk);
    for (int64_t row = begin; row < end;) {
      const int64_t n = row / g.out_height, stop = std::min(end, (n + 1) * g.out_height);
      compute_segment(p, in, out, n, row - n * g.out_height, stop - n * g.out_height);
      row = stop;
    }
    if (done) (*done)(begin* row_floats, end* row_floats);
  });
}

int64_t gather_workspace(const Conv2dShape& shape, const Gather& g) {
  Workspace space(nullptr);
  make_plan(g, shape, space);
  return space.bytes();
}

}  // namespace

int64_t conv2d_forward_workspace(const Conv2dShape& shape) { return gather_workspace(shape, forward_gather(shape)); }

void conv2d_forward(const Conv2dShape& shape, const float* x, const float* w, float* y, void* workspace,
                    ContractionDone* done) {
  if (has_one_output(shape)) return conv2d_one_output(shape, x, w, y, done);
  gather(shape, forward_gather(shape), x, w, y, workspace, done);
}

int64_t conv2d_input_gradient_workspace(const Conv2dShape& shape) {
  return gather_workspace(shape, gradient_gather(shape));
}

void conv2d_input_gradient(const Conv2dShape& shape, const float* dy, const float* w, float* dx, void* workspace,
                           ContractionDone* done) {
  gather(shape, gradient_gather(shape), dy, w, dx, workspace, done);
}

}  // namespace retrace

'use strict';
// Charts of series of runs. Each holds what the server has of the range that it shows: at most so many pieces of a series,
// each with its smallest and largest value, and every point when the range is small enough.

const kPieces = 500;
const kRuns = 10, kSeries = 64;  // in one request; at most in one answer
const kColours = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf', '#e377c2', '#8c564b', '#bcbd22', '#7f7f7f'];

// What is told of a point stands below the chart, where no style has to be written into the page.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter(plugin => plugin !== Dygraph.Plugins.Legend);

function colourOf(run) { return kColours[(run.id - 1) % kColours.length]; }

// A number at the axis of a chart, short enough for its place: a part that is cut off would tell another one.
function axisText(value) {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return String(Number(value.toPrecision(6)));
  return Number(value.toPrecision(3)).toExponential().replace('e+', 'e');
}

async function getJson(path) {
  const answer = await fetch(path);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error || answer.statusText);
  return value;
}

// All series of these runs, or those of some names, in as few requests as there can be: each costs the process that trains.
async function getSeries(runs, names, range) {
  const rest = `most=${kPieces}${names ? `&names=${encodeURIComponent(names.join('\n'))}` : ''}${range ? `&from=${range[0]}&to=${range[1]}` : ''}`;
  const parts = [];
  for (let i = 0; i < runs.length; i += kRuns) parts.push(runs.slice(i, i + kRuns).map(run => run.id).join());
  return (await Promise.all(parts.map(async ids => {
    const found = [];
    do found.push(...await getJson(`/api/series?runs=${ids}&${rest}&skip=${found.length}`));
    while (found.length > 0 && found.length % kSeries === 0);
    return found;
  }))).flat();
}

// [x, y] of what is drawn of a series: a piece is a line from its smallest to its largest value.
function rawPoints(series) {
  const points = [];
  for (let i = 0; i < series.x.length; ++i) {
    if (series.minimum[i] === null) continue;
    points.push([series.x[i], series.minimum[i]]);
    if (series.points[i] > 1) points.push([series.x_last[i], series.maximum[i]]);
  }
  return points;
}

// Exponential mean: `weight` is what each point leaves of those before it.
function smoothPoints(series, weight) {
  const points = [];
  let mean = 0, left = 1;
  for (let i = 0; i < series.x.length; ++i) {
    if (series.mean[i] === null) continue;
    const keep = Math.pow(weight, Math.min(series.points[i], 1e6));
    mean = keep * mean + (1 - keep) * series.mean[i];
    left *= keep;
    points.push([(series.x[i] + series.x_last[i]) / 2, mean / (1 - left)]);
  }
  return points;
}

// Rows of dygraphs, one for each x of any line.
function rowsOf(lines) {
  const rows = new Map();
  lines.forEach((line, column) => {
    for (const [x, y] of line.points) {
      let row = rows.get(x);
      if (!row) rows.set(x, row = [x, ...lines.map(() => null)]);
      row[column + 1] = y;
    }
  });
  return [...rows.values()].sort((a, b) => a[0] - b[0]);
}

class Chart {
  constructor(title, parent, settings, log) {
    this.title = title;
    this.names = [];  // of the series that it shows
    this.runs = [];
    this.settings = settings;
    this.range = null;
    this.log = log;
    this.element = document.createElement('article');
    this.element.className = 'chart';
    const bar = document.createElement('div');
    bar.className = 'bar';
    const heading = document.createElement('h3');
    heading.textContent = title;
    bar.append(heading, this.makeLogSwitch());
    for (const [text, label, change] of [['+', 'zoom in', 0.5], ['−', 'zoom out', 2]])
      bar.append(this.makeButton(text, label, () => this.zoom(change, 0)));
    for (const [text, label, shift] of [['←', 'earlier', -0.25], ['→', 'later', 0.25]])
      bar.append(this.makeButton(text, label, () => this.zoom(1, shift)));
    bar.append(this.makeButton('all', 'show all', () => this.show(null)));
    this.plot = document.createElement('div');
    this.plot.className = 'plot';
    this.readout = document.createElement('output');
    this.element.append(bar, this.plot, this.readout);
    parent.append(this.element);
  }

  makeButton(text, label, act) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.setAttribute('aria-label', `${this.title}: ${label}`);
    button.addEventListener('click', act);
    return button;
  }

  makeLogSwitch() {
    const label = document.createElement('label');
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = this.log;
    box.setAttribute('aria-label', `${this.title}: logarithmic scale`);
    box.addEventListener('change', () => { this.log = box.checked; this.draw(); });
    label.append(box, ' log');
    return label;
  }

  zoom(factor, shift) {
    const [from, to] = this.range || this.extent || [0, 1];
    const middle = (from + to) / 2 + shift * (to - from), half = (to - from) / 2 * factor;
    const [first, last] = this.extent || [from, to];
    if (middle - half <= first && middle + half >= last) return this.show(null);
    return this.show([middle - half, middle + half]);
  }

  show(range) {
    this.range = range;
    return this.load();
  }

  // Reads what is shown, and draws it.
  async load() {
    const asked = this.asked = {};
    const found = await getSeries(this.runs, this.names, this.range);
    if (asked === this.asked) this.take(found);  // else another range is wanted by now
  }

  // Draws those of the series that are its own.
  take(found) {
    const byId = new Map(this.runs.map(run => [run.id, run]));
    this.found = found.filter(one => this.names.includes(one.name) && one.x.length > 0)
                     .map(series => ({run: byId.get(series.run), name: series.name, series}));
    if (!this.range) {
      const ends = this.found.map(one => [one.series.x[0], one.series.x_last[one.series.x.length - 1]]);
      if (ends.length) this.extent = [Math.min(...ends.map(e => e[0])), Math.max(...ends.map(e => e[1]))];
    }
    this.draw();
  }

  lines() {
    const lines = [];
    for (const {run, name, series} of this.found || []) {
      const validation = name.startsWith('validation');
      const colour = colourOf(run), label = `${run.id} ${run.name} ${name}`;
      const many = series.x.length > 20 && !validation && name !== 'learn_rate';
      lines.push({label, colour, points: rawPoints(series), faint: many && this.settings.smoothing > 0, dashed: validation});
      if (many && this.settings.smoothing > 0)
        lines.push({label: `${label} (smoothed)`, colour, points: smoothPoints(series, this.settings.smoothing), bold: true});
    }
    return lines;
  }

  draw() {
    const lines = this.lines();
    this.element.hidden = lines.length === 0;
    if (!lines.length) return;
    const series = {};
    for (const line of lines)
      series[line.label] = {
        color: line.colour,
        strokeWidth: line.bold ? 2 : 1,
        strokePattern: line.dashed ? [6, 4] : null,
        drawPoints: line.points.length < 60,
        pointSize: 2,
        ...(line.faint ? {plotter: Chart.faintLine} : {}),
      };
    const styles = getComputedStyle(document.documentElement);
    const options = {
      file: rowsOf(lines),
      labels: ['step', ...lines.map(line => line.label)],
      series,
      logscale: this.log,
      valueRange: this.log ? null : Chart.aroundConstant(lines),
      dateWindow: this.range,
      connectSeparatedPoints: true,
      gridLineColor: styles.getPropertyValue('--line').trim(),
      axes: {y: {axisLabelWidth: 60, axisLabelFormatter: axisText}},
      axisLineColor: styles.getPropertyValue('--faint').trim(),
      highlightCallback: (event, x, points) => this.tell(x, points),
      zoomCallback: (from, to) => {
        const all = this.extent && from <= this.extent[0] && to >= this.extent[1];
        this.show(all ? null : [from, to]);
      },
    };
    if (this.graph) this.graph.destroy();
    const {file, ...rest} = options;
    this.graph = new Dygraph(this.plot, file, rest);
  }

  // A range for lines that have one value alone, of which dygraphs would show the roundings.
  static aroundConstant(lines) {
    let low = Infinity, high = -Infinity;
    for (const line of lines)
      for (const [, y] of line.points) low = Math.min(low, y), high = Math.max(high, y);
    if (!(high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high)))) return null;
    const room = Math.abs(low) / 2 || 1;
    return [low - room, high + room];
  }

  static faintLine(e) {
    e.drawingContext.globalAlpha = 0.35;
    Dygraph.Plotters.linePlotter(e);
    e.drawingContext.globalAlpha = 1;
  }

  tell(x, points) {
    const texts = points.filter(point => point.yval !== null && !Number.isNaN(point.yval))
                        .map(point => `${point.name} ${point.yval.toPrecision(5)}`);
    this.readout.textContent = `step ${Math.round(x)}: ${texts.join(', ')}`;
  }
}

'use strict';
// The page: a table of runs that the server keeps up to date, and charts of those that are chosen.

const runs = new Map();    // by id
const shown = new Set();   // ids whose curves are drawn
const charts = new Map();  // by title
const settings = {smoothing: 0.9};
const kMoreRows = 50;      // are made when the end of the table comes into view
let mostRows = kMoreRows;
let order = {column: 'id', down: true};
let live = false;          // whether the server answers
let selected = null;       // id of the run whose details are shown
let changed = new Set();   // ids whose curves are to be read again

const $ = id => document.getElementById(id);

function duration(seconds) {
  if (!(seconds > 0)) return '';
  const s = Math.round(seconds), pad = n => String(n).padStart(2, '0');
  if (s < 60) return `${seconds.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)}:${pad(s % 60)}`;
  return `${Math.floor(s / 3600)}:${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
}

function number(value) {
  if (value === null || value === undefined) return '';
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(5)));
}

function fingerprintText(run) {
  return run.fingerprint && run.mode !== 'reproducible' ? `${run.fingerprint} (mode ${run.mode})` : run.fingerprint;
}

function stateText(run) {
  if (run.told && (run.state === 'running' || run.state === 'finished'))
    return run.state === 'finished' ? 'ended' : run.stop_asked ? 'stopping' : run.told.status;
  if (run.state === 'running') return run.stop_asked ? 'stopping' : 'running';
  if (run.state === 'stopped') return 'stopped by user';
  if (run.state === 'finished') return run.stop_reason || 'finished';
  if (run.state === 'quiet') return `nothing written for ${duration(run.written)}`;
  return 'event files';
}

function progress(run) {
  return run.told ? run.told.progress / 100 : run.iterations > 0 ? run.iteration / run.iterations : 0;
}

// Title, what a column is sorted by, and what it shows.
const kColumns = [
  {title: '#', key: run => run.id, text: run => String(run.id), number: true},
  {title: 'run', key: run => run.name, text: run => run.name, name: true},
  {title: 'state', key: run => run.state, text: stateText},
  {title: 'stop', key: run => run.state, stop: true},
  {title: 'progress', key: progress, text: run => run.told || run.iterations > 0 ? `${Math.floor(100 * progress(run) + 1e-9)} %` : '', number: true},
  {title: 'step', key: run => run.iteration, text: run => String(run.iteration || ''), number: true},
  {title: 'epoch', key: run => run.epoch, text: run => run.epochs ? `${run.epoch}/${run.epochs}` : '', number: true},
  {title: 'loss', key: run => run.loss ?? run.epoch_loss, text: run => number(run.loss ?? run.epoch_loss), number: true},
  {title: 'validation', key: run => run.validation_loss, text: run => number(run.validation_loss), number: true},
  {title: 'metrics', key: run => Object.values(run.metrics)[0],
   text: run => Object.entries(run.metrics).map(([name, value]) => `${name} ${number(value)}`).join(', ')},
  {title: 'rate', key: run => run.learn_rate, text: run => number(run.learn_rate), number: true},
  {title: 'steps/s', key: run => run.rate, text: run => run.state === 'running' ? number(run.rate) : '', number: true},
  {title: 'time', key: run => run.seconds, text: run => duration(run.seconds), number: true},
  {title: 'left', key: run => run.remaining, text: run => duration(run.remaining), number: true},
  {title: 'fingerprint', key: run => run.fingerprint, text: fingerprintText, code: true},
  {title: 'same bits', key: run => run.same_as, text: run => run.same_as ? `as run ${run.same_as}` : ''},
  {title: 'note', key: run => run.note, text: run => run.note.split('\n')[0].slice(0, 60)},
];

function makeHead() {
  const row = $('runs').tHead.rows[0];
  row.append(document.createElement('th'));
  for (const column of kColumns) {
    const head = document.createElement('th');
    head.scope = 'col';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = column.title;
    button.addEventListener('click', () => {
      order = {column: column.title, down: order.column === column.title ? !order.down : false};
      drawTable();
    });
    head.append(button);
    row.append(head);
  }
}

function compareBy(key, down) {
  return (a, b) => {
    const x = key(a), y = key(b);
    const none = value => value === null || value === undefined || value === '';
    if (none(x) || none(y)) return none(x) - none(y);
    return (x < y ? -1 : x > y ? 1 : a.id - b.id) * (down ? -1 : 1);
  };
}

function visibleRuns() {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const column = kColumns.find(one => one.title === order.column) || kColumns[0];
  return [...runs.values()]
      .filter(run => {
        const text = `${run.name} ${run.job} ${run.note} ${stateText(run)} ${run.fingerprint}`.toLowerCase();
        return words.every(word => text.includes(word));
      })
      .sort(compareBy(column.key, order.down));
}

function makeRow(id) {
  const row = document.createElement('tr');
  row.dataset.id = id;
  const cell = row.insertCell();
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.addEventListener('change', () => { show(id, box.checked); });
  cell.append(box);
  for (const column of kColumns) {
    const td = row.insertCell();
    if (column.number) td.className = 'number';
    if (column.name) {
      const swatch = document.createElement('span');
      swatch.className = 'swatch';
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'name';
      button.addEventListener('click', () => select(id));
      td.append(swatch, button);
    } else if (column.stop) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'Stop';
      button.addEventListener('click', () => stop(id));
      td.append(button);
    } else if (column.code) {
      td.append(document.createElement('code'));
    }
  }
  return row;
}

function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

function fillRow(row, run) {
  row.setAttribute('aria-selected', String(run.id === selected));
  const box = row.cells[0].firstChild;
  box.checked = shown.has(run.id);
  box.setAttribute('aria-label', `show the curves of ${run.name}`);
  kColumns.forEach((column, i) => {
    const td = row.cells[i + 1];
    if (column.name) {
      td.firstChild.style.backgroundColor = shown.has(run.id) ? colourOf(run) : 'transparent';
      setText(td.lastChild, run.name);
    } else if (column.stop) {
      td.firstChild.hidden = run.state !== 'running';
      td.firstChild.disabled = run.stop_asked;
      td.firstChild.setAttribute('aria-label', `stop ${run.name}`);
    } else {
      setText(column.code ? td.firstChild : td, column.text(run));
    }
  });
}

const rows = new Map();

function drawTable() {
  const body = $('runs').tBodies[0], all = visibleRuns();
  const wanted = all.slice(0, mostRows).map(run => {
    let row = rows.get(run.id);
    if (!row) rows.set(run.id, row = makeRow(run.id));
    fillRow(row, run);
    return row;
  });
  const before = [...body.rows];
  if (before.every((row, i) => row === wanted[i])) body.append(...wanted.slice(before.length));  // the browser keeps their layout
  else body.replaceChildren(...wanted);
  for (const [i, column] of kColumns.entries())
    $('runs').tHead.rows[0].cells[i + 1].setAttribute(
        'aria-sort', order.column !== column.title ? 'none' : order.down ? 'descending' : 'ascending');
  $('compare').hidden = shown.size !== 2;
  $('more').hidden = wanted.length === all.length;
  setText($('more'), `${wanted.length} of ${all.length} runs: show more`);
}

function showMore() {
  mostRows += kMoreRows;
  drawTable();
}

function show(id, on) {
  on ? shown.add(id) : shown.delete(id);
  drawTable();
  drawCharts();
}

async function select(id) {
  selected = id;
  const run = runs.get(id);
  $('details').hidden = false;
  $('details-title').textContent = `Run ${run.id}: ${run.name}`;
  $('note').value = run.note;
  $('job').open = false;
  drawFacts();
  drawTable();
}

function drawFacts() {
  const run = runs.get(selected);
  if (!run) return;
  const facts = [['folder', run.folder], ['job', run.job], ['state', stateText(run)], ['device', run.device],
                 ['workers', run.workers && `${run.workers}, each with ${run.threads} thread${run.threads === 1 ? '' : 's'}`], ['parameters', run.parameters],
                 ...Object.entries(run.told ? run.told.info : {}), ['fingerprint', fingerprintText(run)], ['same bits', run.same_as && `as run ${run.same_as}`]];
  $('facts').replaceChildren();
  for (const [name, value] of facts) {
    if (!value) continue;
    const dt = document.createElement('dt'), dd = document.createElement('dd');
    dt.textContent = name;
    dd.textContent = String(value);
    $('facts').append(dt, dd);
  }
}

async function post(path, body) {
  const answer = await fetch(path, {method: 'POST', headers: {'X-Retrace': '1'}, body});
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error || answer.statusText);
  return value;
}

function say(text) { $('message').textContent = text; }

// An answer that does not come is a TypeError, whose text says nothing; what listens says it in its place.
function sayError(error) { say(error instanceof TypeError && !live ? '' : error.message); }

async function stop(id) {
  const run = runs.get(id);
  if (!confirm(`Stop ${run.name}? It ends after its iteration and leaves a checkpoint.`)) return;
  try {
    await post(`/api/stop?run=${id}`, '');
    run.stop_asked = true;
    say(`${run.name} was asked to stop`);
    drawTable();
  } catch (error) {
    sayError(error);
  }
}

async function compareShown() {
  const [a, b] = [...shown].sort((x, y) => x - y);
  try {
    const found = await getJson(`/api/parting?run=${a}&with=${b}`);
    if (found.iteration) say(`runs ${a} and ${b} parted at step ${found.iteration}: ${found.what}`);
    else if (found.common) say(`runs ${a} and ${b} have the same ${found.common} steps`);
    else say('there are no steps in both runs that could be compared');
  } catch (error) {
    sayError(error);
  }
}

// What is drawn together: the loss of steps and of validations.
function groupOf(name) {
  if (name === 'validation_loss') return 'loss';
  if (name === 'epoch_loss') return null;  // the mean of what is there
  return name;
}

// The names that are drawn together, by the title of their chart.
function groupsOf(found) {
  const groups = new Map(), withLoss = new Set(found.filter(one => one.name === 'loss').map(one => one.run));
  for (const {run: id, name} of found) {
    const told = runs.get(id).told, own = told && told.groups[name];
    const group = own || (name === 'epoch_loss' && !withLoss.has(id) ? 'loss' : groupOf(name));
    if (!group) continue;
    if (!groups.has(group)) groups.set(group, new Set());
    groups.get(group).add(name);
  }
  return groups;
}

async function readCharts() {
  const chosen = [...shown].map(id => runs.get(id)).filter(Boolean), asked = readCharts.asked = {};
  const found = await getSeries(chosen);
  if (asked !== readCharts.asked) return;
  const groups = groupsOf(found);
  for (const title of groups.keys())
    if (!charts.has(title)) {
      const log = chosen.some(run => run.told && run.told.log.includes(title));
      charts.set(title, new Chart(title, $('charts'), settings, log));
    }
  await Promise.all([...charts].map(([title, chart]) => {
    chart.runs = chosen;
    chart.names = [...groups.get(title) || []];
    return chart.range && chart.names.length ? chart.load() : chart.take(found);
  }));
}

function drawCharts() { return readCharts().catch(sayError); }

function take(list) {
  for (const run of list) {
    const before = runs.get(run.id);
    if (before && before.iteration !== run.iteration || before && before.state !== run.state) changed.add(run.id);
    if (!before && run.state === 'running' && shown.size < kColours.length) shown.add(run.id), changed.add(run.id);
    runs.set(run.id, run);
  }
}

function drawSystem(system) {
  const gib = mib => (mib / 1024).toFixed(1);
  $('system').textContent = `load ${system.load.toFixed(2)}, memory ${gib(system.memory_used)} of ${gib(system.memory)} GiB`;
}

async function begin() {
  const {runs: list, system} = await getJson('/api/runs');
  take(list);
  drawSystem(system);
  if (!shown.size)
    for (const run of list.filter(one => one.state === 'running').concat(list.slice(-3)).slice(0, 3)) shown.add(run.id);
  drawTable();
  await drawCharts();
  changed.clear();
}

function listen() {
  const events = new EventSource('/api/events');
  events.onopen = () => { live = true, $('connection').textContent = 'live', begin().catch(sayError); };
  events.onerror = () => {
    live = false;
    const ended = runs.size > 0 && [...runs.values()].every(run => run.state !== 'running');
    $('connection').textContent = ended ? 'the run is over: retrace monitor shows it again'
                                        : 'the server does not answer: the run may be over';
  };
  events.onmessage = event => {
    const {runs: list, system} = JSON.parse(event.data);
    take(list);
    drawSystem(system);
    drawTable();
    drawFacts();
  };
}

// Curves are read again at most once in a second, of what is shown.
setInterval(() => {
  if (document.hidden || ![...changed].some(id => shown.has(id))) return;
  changed = new Set();
  drawCharts();
}, 1000);

makeHead();
$('filter').addEventListener('input', drawTable);
$('more').addEventListener('click', showMore);
$('table').addEventListener('scroll', () => {
  const box = $('table');
  if (!$('more').hidden && box.scrollTop + 2 * box.clientHeight > box.scrollHeight) showMore();
});
$('show-none').addEventListener('click', () => { shown.clear(); drawTable(); drawCharts(); });
$('compare').addEventListener('click', compareShown);
$('smoothing').addEventListener('input', event => {
  settings.smoothing = Number(event.target.value);
  for (const chart of charts.values()) chart.draw();
});
$('save-note').addEventListener('click', async () => {
  try {
    await post(`/api/note?run=${selected}`, $('note').value);
    say('the note is saved');
  } catch (error) {
    sayError(error);
  }
});
$('job').addEventListener('toggle', async () => {
  if (!$('job').open) return;
  const answer = await fetch(`/api/job?run=${selected}`);
  $('job-text').textContent = answer.ok ? await answer.text() : 'this run has no job file';
});
listen();

'use strict';
// Studies: the table of their trials, parallel coordinates, the importance of parameters; cancel, restart, notes.

const kSvg = 'http://www.w3.org/2000/svg';
const study = {id: 0, name: '', table: null, importance: [], written: false, order: {column: 'trial', down: false}, ranges: new Map(), marked: 0};

function svg(name, attributes, parent, text) {
  const node = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

function parameterNames() {
  const names = [];
  for (const trial of study.table.trials)
    for (const name of Object.keys(trial.parameters)) if (!names.includes(name)) names.push(name);
  return names;
}

// The last part of a name where it stands for one alone.
function shortName(name, all) {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return all.filter(other => other === last || other.endsWith('.' + last)).length === 1 ? last : name;
}

function cellText(value) { return typeof value === 'number' ? number(value) : value === null || value === undefined ? '' : String(value); }

// Columns: title, what it is sorted by. The parameters stand in the middle.
function studyColumns() {
  const names = parameterNames();
  return [
    {title: 'trial', key: t => t.trial, number: true},
    {title: 'state', key: t => t.state},
    {title: study.table.objective, key: t => t.value, number: true},
    ...names.map(name => ({title: shortName(name, names), name, key: t => t.parameters[name], number: true})),
    {title: 'steps', key: t => t.reports.length, number: true},
    {title: 'seconds', key: t => t.seconds, number: true},
    {title: 'fingerprint', key: t => t.fingerprint, code: true},
    {title: 'note', key: t => t.error || t.note},
  ];
}

// The trials that the filter and the ranges on the axes leave.
function visibleTrials() {
  const words = $('trial-filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const axes = studyAxes();
  const column = studyColumns().find(one => one.title === study.order.column) || studyColumns()[0];
  return study.table.trials
      .filter(trial => {
        const text = `${trial.trial} ${trial.state} ${trial.note} ${trial.error} ${Object.values(trial.parameters).join(' ')}`.toLowerCase();
        return words.every(word => text.includes(word)) && axes.every(axis => {
          const range = study.ranges.get(axis.title);
          const at = axis.place(trial);
          return !range || (at !== null && at >= range[0] && at <= range[1]);
        });
      })
      .map(trial => ({...trial, id: trial.trial}))
      .sort(compareBy(column.key, study.order.down));
}

function trialButton(trial, text, what, title) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.setAttribute('aria-label', `${title} trial ${trial.trial}`);
  button.addEventListener('click', () => askTrial(trial, what, title));
  return button;
}

async function askTrial(trial, what, title) {
  let text = '';
  if (what === 'note') {
    text = prompt(`Note of trial ${trial.trial}`, trial.note);
    if (text === null) return;
  } else if (!confirm(`${title} trial ${trial.trial}?`)) {
    return;
  }
  try {
    await post(`/api/trial?study=${study.id}&trial=${trial.trial}&what=${what}`, text);
    $('study-message').textContent = study.written || what === 'note' ? '' : 'the next retrace sweep of this experiment does so';
    await loadStudy();
  } catch (error) {
    $('study-message').textContent = error.message;
  }
}

function drawTrials() {
  const columns = studyColumns(), head = $('trials').tHead.rows[0], body = $('trials').tBodies[0];
  head.replaceChildren(...columns.map(column => {
    const th = document.createElement('th'), button = document.createElement('button');
    th.scope = 'col';
    th.setAttribute('aria-sort', study.order.column !== column.title ? 'none' : study.order.down ? 'descending' : 'ascending');
    button.type = 'button';
    button.textContent = column.title;
    if (column.name) button.title = column.name;
    button.addEventListener('click', () => {
      study.order = {column: column.title, down: study.order.column === column.title ? !study.order.down : false};
      drawStudy();
    });
    th.append(button);
    return th;
  }), document.createElement('th'));
  const trials = visibleTrials();
  body.replaceChildren(...trials.map(trial => {
    const row = document.createElement('tr');
    row.dataset.trial = trial.trial;
    row.setAttribute('aria-selected', String(trial.trial === study.table.best));
    for (const column of columns) {
      const td = row.insertCell();
      const value = column.key(trial);
      if (column.number && typeof value === 'number') td.className = 'number';
      if (column.code) {
        const code = document.createElement('code');
        code.textContent = value;
        td.append(code);
      } else {
        td.textContent = cellText(value);
      }
    }
    const acts = row.insertCell();
    if (trial.state === 'running' || trial.state === 'stopped') acts.append(trialButton(trial, 'Cancel', 'cancel', 'Cancel'));
    else acts.append(trialButton(trial, 'Restart', 'restart', 'Restart'));
    acts.append(trialButton(trial, 'Note', 'note', 'Write a note on'));
    row.addEventListener('mouseenter', () => mark(trial.trial));
    row.addEventListener('mouseleave', () => mark(0));
    row.addEventListener('focusin', () => mark(trial.trial));
    return row;
  }));
  $('study-count').textContent = `${trials.length} of ${study.table.trials.length} trials`;
}

// An axis has a place from 0 to 1 for each trial, null where it has no value, and texts at some places.
function numberAxis(title, values) {
  const finite = values.filter(value => Number.isFinite(value));
  const low = Math.min(...finite), high = Math.max(...finite);
  const log = low > 0 && high / low > 50;
  const scale = value => log ? Math.log(value) : value;
  const width = scale(high) - scale(low);
  const place = value => !Number.isFinite(value) ? null : width > 0 ? (scale(value) - scale(low)) / width : 0.5;
  const back = at => log ? Math.exp(scale(low) + at * width) : low + at * width;
  const known = [...new Set(finite)], text = value => number(Number(value.toPrecision(3)));
  const ticks = known.length > 5 ? [0, 0.25, 0.5, 0.75, 1].map(at => [at, text(back(at))]) : known.map(value => [place(value), text(value)]);
  return {title, of: place, ticks};
}

function studyAxes() {
  const trials = study.table.trials, names = parameterNames();
  const axes = names.map(name => {
    const values = trials.map(trial => trial.parameters[name]);
    if (values.every(value => typeof value === 'number')) {
      const axis = numberAxis(shortName(name, names), values);
      return {...axis, place: trial => axis.of(trial.parameters[name])};
    }
    const kinds = [...new Set(values.map(String))].sort();
    const at = value => kinds.length > 1 ? kinds.indexOf(String(value)) / (kinds.length - 1) : 0.5;
    return {title: shortName(name, names), ticks: kinds.map(kind => [at(kind), kind]), place: trial => at(trial.parameters[name])};
  });
  const axis = numberAxis(study.table.objective, trials.map(trial => trial.value === null ? NaN : trial.value));
  axes.push({...axis, place: trial => axis.of(trial.value === null ? NaN : trial.value)});
  return axes;
}

// Of the best trial 0, of the worst 1, by rank.
function ranksOf(trials) {
  const known = trials.filter(trial => trial.value !== null).sort((a, b) => a.value - b.value);
  if (study.table.direction === 'maximize') known.reverse();
  return new Map(known.map((trial, i) => [trial.trial, known.length > 1 ? i / (known.length - 1) : 0]));
}

const kParallel = {width: 960, height: 300, top: 40, bottom: 16, side: 60};

function axisX(i, count) {
  return count > 1 ? kParallel.side + i * (kParallel.width - 2 * kParallel.side) / (count - 1) : kParallel.width / 2;
}
function axisY(at) { return kParallel.height - kParallel.bottom - at * (kParallel.height - kParallel.top - kParallel.bottom); }

function drawParallel() {
  const picture = $('parallel'), axes = studyAxes();
  const visible = new Set(visibleTrials().map(trial => trial.trial)), ranks = ranksOf(study.table.trials);
  picture.replaceChildren();
  picture.setAttribute('viewBox', `0 0 ${kParallel.width} ${kParallel.height}`);
  picture.setAttribute('aria-label', `Parallel coordinates of ${visible.size} trials: ${axes.map(axis => axis.title).join(', ')}`);
  const lines = svg('g', {}, picture);
  const order = [...study.table.trials].sort((a, b) => (ranks.get(b.trial) ?? 2) - (ranks.get(a.trial) ?? 2));
  for (const trial of order) {
    const points = axes.map((axis, i) => [axisX(i, axes.length), axis.place(trial)]).filter(point => point[1] !== null);
    if (points.length < 2) continue;
    const rank = ranks.get(trial.trial), best = trial.trial === study.table.best;
    const line = svg('polyline', {
      points: points.map(([x, at]) => `${x.toFixed(1)},${axisY(at).toFixed(1)}`).join(' '),
      class: `trial ${visible.has(trial.trial) ? '' : 'left-out'} ${best ? 'best' : ''} ${rank === undefined ? 'without' : ''}`,
      'stroke-opacity': rank === undefined ? 0.25 : (0.85 - 0.6 * rank).toFixed(2),
      'data-trial': trial.trial,
    }, lines);
    svg('title', {}, line, `trial ${trial.trial}: ${study.table.objective} ${cellText(trial.value)}`);
  }
  axes.forEach((axis, i) => drawAxis(picture, axis, axisX(i, axes.length)));
  mark(study.marked);
}

function drawAxis(picture, axis, x) {
  svg('line', {x1: x, x2: x, y1: axisY(0), y2: axisY(1), class: 'axis'}, picture);
  svg('text', {x, y: 14, class: 'title'}, picture, axis.title);
  for (const [at, text] of axis.ticks) svg('text', {x: x + 5, y: axisY(at) + 3, class: 'tick'}, picture, text);
  const range = study.ranges.get(axis.title);
  if (range) svg('rect', {x: x - 5, y: axisY(range[1]), width: 10, height: axisY(range[0]) - axisY(range[1]), class: 'range'}, picture);
  const grip = svg('rect', {x: x - 12, y: axisY(1) - 6, width: 24, height: axisY(0) - axisY(1) + 12, class: 'grip', 'data-axis': axis.title}, picture);
  svg('title', {}, grip, `${axis.title}: drag to choose a range, click to choose all`);
  grip.addEventListener('pointerdown', event => chooseRange(event, grip, axis.title));
}

// A range of an axis by a pointer; a click chooses all.
function chooseRange(event, grip, title) {
  const picture = $('parallel');
  const at = one => {
    const box = picture.getBoundingClientRect();
    const y = (one.clientY - box.top) / box.height * kParallel.height;
    return Math.min(1, Math.max(0, (axisY(0) - y) / (axisY(0) - axisY(1))));
  };
  const begin = at(event);
  event.preventDefault();
  const move = one => {
    const end = at(one);
    if (Math.abs(end - begin) < 0.02) study.ranges.delete(title);
    else study.ranges.set(title, [Math.min(begin, end), Math.max(begin, end)]);
    drawStudy();
  };
  const leave = one => {
    move(one);
    window.removeEventListener('pointermove', move);
  };
  window.addEventListener('pointermove', move);
  window.addEventListener('pointerup', leave, {once: true});
}

function mark(trial) {
  study.marked = trial;
  for (const line of $('parallel').querySelectorAll('polyline'))
    line.classList.toggle('marked', Number(line.dataset.trial) === trial);
}

function drawImportance() {
  const names = parameterNames();
  $('importance').hidden = study.importance.length === 0;
  $('importance').replaceChildren(...study.importance.flatMap(one => {
    const dt = document.createElement('dt'), dd = document.createElement('dd'), meter = document.createElement('meter');
    dt.textContent = shortName(one.parameter, names);
    meter.max = 1;
    meter.value = one.share;
    meter.setAttribute('aria-label', `importance of ${one.parameter}`);
    dd.append(meter, ` ${(100 * one.share).toFixed(0)} %`);
    return [dt, dd];
  }));
}

function drawStudy() {
  if (!study.table) return;
  drawTrials();
  drawParallel();
}

async function loadStudy() {
  if (!study.id) return;
  const {table, importance, written} = await getJson(`/api/study?study=${study.id}`);
  const same = study.table && JSON.stringify(table) === JSON.stringify(study.table) && written === study.written;
  Object.assign(study, {table, importance, written});
  $('study-state').textContent = written ? 'goes on' : '';
  $('trials-csv').href = `/api/trials.csv?study=${study.id}`;
  $('best-job').href = `/api/best?study=${study.id}`;
  $('best-job').hidden = table.best === null;
  if (same) return;
  drawStudy();
  drawImportance();
}

async function listStudies() {
  const {studies} = await getJson('/api/studies');
  $('study').hidden = studies.length === 0;
  if ($('study-choice').options.length !== studies.length)
    $('study-choice').replaceChildren(...studies.map(one => new Option(one.name, one.id)));
  if (!study.id && studies.length) await chooseStudy(studies[studies.length - 1].id);
}

async function chooseStudy(id) {
  study.id = Number(id);
  study.table = null;
  study.ranges.clear();
  $('study-choice').value = String(id);
  await loadStudy();
}

function tellStudy(error) { $('study-message').textContent = error.message; }

$('study-choice').addEventListener('change', event => chooseStudy(event.target.value).catch(tellStudy));
$('trial-filter').addEventListener('input', drawStudy);
setInterval(() => { if (!document.hidden && study.id) loadStudy().catch(() => {}); }, 2000);
setInterval(() => { if (!document.hidden) listStudies().catch(() => {}); }, 10000);
listStudies().catch(() => {});

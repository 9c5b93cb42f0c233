// The page in the browser. Whatever the mock tells is written as text: the page's policy knows no other way.
const token = document.querySelector('meta[name=token]').content;
const runId = /^\/projects\/[^/]+\/runs\/([^/]+)$/.exec(location.pathname)?.[1];
const pollMs = 1000;
const byId = (id) => document.getElementById(id);

async function ask(path, body) {
  const reply = await fetch(`/_mock/page/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-mock-page': token },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });
  const data = await reply.json();
  if (reply.ok) return data;
  throw Object.assign(new Error(data.details ?? data.error), { status: reply.status });
}

/** Writes only what has changed: a screen reader, a selection and the focus stay where they are. */
function write(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

const tones = {
  passed: 'good',
  delivered: 'good',
  failed: 'bad',
  'no reply': 'bad',
  blocked: 'warn',
  'in progress': 'going',
  pending: 'going',
};
const toneOf = (word) => tones[word] ?? { 2: 'good', 4: 'warn', 5: 'bad' }[/^(\d)\d\d$/.exec(word)?.[1]];

function fill(row, item) {
  // A template is filled by its elements' `data-f`; the element itself may be one of them.
  for (const node of [row, ...row.querySelectorAll('[data-f]')]) {
    const value = item[node.dataset.f];
    if (node.localName === 'time') {
      node.dateTime = value;
      write(node, new Date(value).toLocaleTimeString());
    } else if (value !== undefined) write(node, String(value));
    if (node.matches('b.badge')) node.dataset.tone = toneOf(value) ?? '';
  }
  // One of many that say the same: which one, for those who do not see the row.
  const button = item.name && row.querySelector('button');
  if (button) button.ariaLabel = `${button.textContent}: ${item.name}`;
}

/** What had the focus is going away: its neighbourhood takes it, so that the keyboard does not start over. */
function rescueFocus(leaving, heir) {
  if (leaving.contains(document.activeElement)) heir.focus();
}

/** Makes the rows of a list those of the items, by their keys. A row that stays is never moved or made anew. */
function list(id, items, update = fill, template = byId(`${id}-row`)) {
  const parent = byId(id);
  const rows = new Map([...parent.children].map((row) => [row.dataset.key, row]));
  const keys = new Set(items.map(({ key }) => String(key)));
  for (const [key, row] of rows) {
    if (keys.has(key)) continue;
    rescueFocus(
      row,
      row.nextElementSibling?.querySelector('button') ?? parent.closest('section').querySelector('h2'),
    );
    row.remove();
  }
  items.forEach((item, index) => {
    const row = rows.get(String(item.key)) ?? template.content.firstElementChild.cloneNode(true);
    row.dataset.key = item.key;
    update(row, item);
    if (parent.children[index] !== row) parent.insertBefore(row, parent.children[index] ?? null);
  });
  const none = byId(`${id}-none`);
  if (none) none.hidden = items.length > 0;
}

let saying;
function say(text) {
  // Emptied first: the same words twice are news twice.
  write(byId('said'), '');
  clearTimeout(saying);
  saying = setTimeout(() => write(byId('said'), text), 50);
}

function fillRun(row, run) {
  const goesOn = run.result === 'in progress';
  if (row.dataset.result === 'in progress' && !goesOn) say(`${run.key} ended: ${run.result}`);
  row.dataset.result = run.result;
  fill(row, run);
  const link = row.querySelector('a');
  link.href = run.path;
  const bar = row.querySelector('progress');
  bar.ariaLabel = `Time of ${run.key}`;
  bar.value = run.share ?? 0;
  bar.hidden = !goesOn || run.share === null;
  const ends = row.querySelector('fieldset');
  ends.ariaLabel = `End ${run.key} as`;
  if (!goesOn) rescueFocus(ends, link);
  ends.hidden = !goesOn;
}

/** A request is read when somebody opens it, and once more when it was answered since. */
async function readRequest(row) {
  const status = row.querySelector('[data-f=status]').textContent;
  if (row.dataset.read === status) return;
  row.dataset.read = status;
  const text = await ask(`request?number=${row.dataset.key}`).then(
    (reply) => reply.text,
    (error) => error.message,
  );
  write(row.querySelector('pre'), text);
}

function fillRequest(row, request) {
  fill(row, request);
  if (row.querySelector('details').open) void readRequest(row);
}

function fillWebhook(row, webhook) {
  fill(row, webhook);
  row.value = webhook.key;
}

function showRun(run) {
  if (!run) {
    for (const node of document.querySelectorAll('section')) node.hidden = true;
    write(byId('title'), 'There is no such run');
    say('The mock does not know this run. It forgets its runs when it is stopped.');
    return;
  }
  write(byId('title'), run.key);
  document.title = `${run.result}: ${run.key} - rungate mock`;
  list('run', [run], fillRun, byId('runs-row'));
  list('fields', run.fields);
  list('timeline', run.timeline);
}

/** Deliveries to places that the mock sends nothing to are many, and seldom what somebody looks for. */
function showDeliveries(deliveries) {
  const sent = deliveries.filter(({ status }) => status !== 'not sent');
  const unsent = deliveries.length - sent.length;
  write(byId('unsent-count'), String(unsent));
  byId('unsent').closest('p').hidden = unsent === 0;
  list('deliveries', byId('unsent').checked ? deliveries : sent);
}

/** Until somebody chooses, the newest webhook is the one to try. */
let chosen = false;

function show(scene) {
  if (runId) showRun(scene.run);
  else {
    list('runs', scene.runs, fillRun);
    list('webhooks', scene.webhooks, fillWebhook);
    if (!chosen) byId('webhooks').selectedIndex = 0;
    list('faults', scene.faults);
  }
  showDeliveries(scene.deliveries ?? []);
  list('requests', scene.requests ?? [], fillRequest);
}

let paused = false;
let asked = 0;
async function refresh() {
  asked += 1;
  const mine = asked;
  try {
    const scene = await ask(runId ? `state?run=${runId}` : 'state');
    // An older answer may come after a newer one.
    if (mine !== asked) return;
    show(scene);
    write(byId('link'), paused ? 'Paused' : 'Live');
  } catch (error) {
    write(byId('link'), error.status === 403 ? error.message : 'No answer from the mock; trying again');
  }
}

async function act(body) {
  try {
    const { said } = await ask('do', body);
    await refresh();
    say(said);
  } catch (error) {
    say(`Not done: ${error.message}`);
  }
}

function onSubmit(id, bodyOf) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    act(bodyOf(Object.fromEntries(new FormData(event.target))));
  });
}

onSubmit('test', ({ webhook }) => ({ do: 'test', webhook }));
onSubmit('fault', ({ kind, endpoint, calls }) => ({
  do: 'fault',
  fault: `${kind}${endpoint && `@${endpoint}`}:${calls}`,
}));

document.addEventListener('click', ({ target }) => {
  const { do: what, as } = target.closest('button')?.dataset ?? {};
  const key = target.closest('[data-key]')?.dataset.key;
  if (what === 'end') act({ do: what, run: key, as });
  if (what === 'retry') act({ do: what, delivery: key });
  if (what === 'off') act({ do: what, fault: Number(key) });
});
byId('webhooks').addEventListener('change', () => {
  chosen = true;
});
byId('unsent').addEventListener('change', refresh);
// It does not bubble, but it can be caught on its way down.
document.addEventListener('toggle', ({ target }) => target.open && readRequest(target.closest('li')), true);
byId('pause').addEventListener('click', ({ target }) => {
  paused = !paused;
  target.ariaPressed = String(paused);
  write(byId('link'), paused ? 'Paused' : 'Live');
});
document.addEventListener('visibilitychange', () => document.hidden || paused || refresh());

for (const node of document.querySelectorAll(`[data-for=${runId ? 'all' : 'run'}]`)) node.hidden = true;
for (;;) {
  if (!paused && !document.hidden) await refresh();
  await new Promise((resolve) => setTimeout(resolve, pollMs));
}

// The script of the page. It writes data from the mock only as text, as the page's policy requires.
const token = document.querySelector('meta[name=token]').content;
const runId = /^\/projects\/[^/]+\/runs\/([^/]+)$/.exec(location.pathname)?.[1];
const pollMs = 1000;
const byId = (id) => document.getElementById(id);

async function request(path, body) {
  const response = await fetch(`/_mock/page/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-mock-page': token },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });
  const data = await response.json();
  if (response.ok) return data;
  throw Object.assign(new Error(data.details ?? data.error), { status: response.status });
}

/** Writes only changed text, so that screen readers, selection and focus are not disturbed. */
function write(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

const tones = {
  passed: 'good',
  delivered: 'good',
  failed: 'bad',
  'no response': 'bad',
  blocked: 'warn',
  'in progress': 'going',
  pending: 'going',
};
const toneOf = (label) => tones[label] ?? { 2: 'good', 4: 'warn', 5: 'bad' }[/^(\d)\d\d$/.exec(label)?.[1]];

function fill(row, item) {
  // `data-f` names the field of an element; the template's own element may have it too.
  for (const node of [row, ...row.querySelectorAll('[data-f]')]) {
    const value = item[node.dataset.f];
    if (node.localName === 'time') {
      node.dateTime = value;
      write(node, new Date(value).toLocaleTimeString());
    } else if (value !== undefined) write(node, String(value));
    if (node.matches('b.badge')) node.dataset.tone = toneOf(value) ?? '';
  }
  // Rows have buttons with the same text: name the row for screen readers.
  const button = item.name && row.querySelector('button');
  if (button) button.ariaLabel = `${button.textContent}: ${item.name}`;
}

/** Moves the focus to a nearby element before removing the focused one, so that keyboard users keep their place. */
function rescueFocus(removed, successor) {
  if (removed.contains(document.activeElement)) successor.focus();
}

/** Updates the rows of a list to match the items by key. Existing rows are neither moved nor recreated. */
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

let messageTimer;
function showMessage(text) {
  // Emptied first, so that screen readers announce the same message twice.
  write(byId('message'), '');
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => write(byId('message'), text), 50);
}

function fillRun(row, run) {
  const inProgress = run.result === 'in progress';
  if (row.dataset.result === 'in progress' && !inProgress) showMessage(`${run.key} ended: ${run.result}`);
  row.dataset.result = run.result;
  fill(row, run);
  const link = row.querySelector('a');
  link.href = run.path;
  const bar = row.querySelector('progress');
  bar.ariaLabel = `Progress of ${run.key}`;
  bar.value = run.share ?? 0;
  bar.hidden = !inProgress || run.share === null;
  const endButtons = row.querySelector('fieldset');
  endButtons.ariaLabel = `End ${run.key} as`;
  if (!inProgress) rescueFocus(endButtons, link);
  endButtons.hidden = !inProgress;
}

/** Loads a request when its row is opened, and again when its status changes. */
async function readRequest(row) {
  const status = row.querySelector('[data-f=status]').textContent;
  if (row.dataset.read === status) return;
  row.dataset.read = status;
  const text = await request(`request?number=${row.dataset.key}`).then(
    (data) => data.text,
    (error) => error.message,
  );
  write(row.querySelector('pre'), text);
}

function fillRequest(row, item) {
  fill(row, item);
  if (row.querySelector('details').open) void readRequest(row);
}

function fillWebhook(row, webhook) {
  fill(row, webhook);
  row.value = webhook.key;
}

function showRun(run) {
  if (!run) {
    for (const node of document.querySelectorAll('section')) node.hidden = true;
    write(byId('title'), 'Unknown run');
    showMessage('The mock does not know this run. It forgets its runs when it stops.');
    return;
  }
  write(byId('title'), run.key);
  document.title = `${run.result}: ${run.key} - rungate mock`;
  list('run', [run], fillRun, byId('runs-row'));
  list('fields', run.fields);
  list('timeline', run.timeline);
}

/** Hides deliveries that were not sent, unless the checkbox is set: there are many, and few of interest. */
function showDeliveries(deliveries) {
  const sent = deliveries.filter(({ status }) => status !== 'not sent');
  const unsent = deliveries.length - sent.length;
  write(byId('unsent-count'), String(unsent));
  byId('unsent').closest('p').hidden = unsent === 0;
  list('deliveries', byId('unsent').checked ? deliveries : sent);
}

/** Until the user chooses a webhook, the newest one is selected. */
let webhookChosen = false;

function show(scene) {
  if (runId) showRun(scene.run);
  else {
    list('runs', scene.runs, fillRun);
    list('webhooks', scene.webhooks, fillWebhook);
    if (!webhookChosen) byId('webhooks').selectedIndex = 0;
    list('faults', scene.faults);
  }
  showDeliveries(scene.deliveries ?? []);
  list('requests', scene.requests ?? [], fillRequest);
}

let paused = false;
let latest = 0;
async function refresh() {
  latest += 1;
  const number = latest;
  try {
    const scene = await request(runId ? `state?run=${runId}` : 'state');
    // An older response may arrive after a newer one.
    if (number !== latest) return;
    show(scene);
    write(byId('link'), paused ? 'Paused' : 'Live');
  } catch (error) {
    write(byId('link'), error.status === 403 ? error.message : 'The mock does not respond; retrying');
  }
}

async function act(body) {
  try {
    const { message } = await request('do', body);
    await refresh();
    showMessage(message);
  } catch (error) {
    showMessage(`Not done: ${error.message}`);
  }
}

function onSubmit(id, bodyOf) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    act(bodyOf(Object.fromEntries(new FormData(event.target))));
  });
}

onSubmit('test', ({ webhook }) => ({ do: 'test', webhook }));
onSubmit('fault', ({ kind, target, when }) => ({
  do: 'fault',
  fault: `${kind}${target && `@${target}`}:${when}`,
}));
const { kind: faultKind, target: faultTarget } = byId('fault').elements;
faultKind.addEventListener('change', () => {
  const affectsDeliveries = faultKind.selectedOptions[0].parentElement.id === 'delivery-kinds';
  byId('endpoints').disabled = affectsDeliveries;
  byId('events').disabled = !affectsDeliveries;
  if (faultTarget.selectedOptions[0].parentElement.disabled) faultTarget.value = '';
});

document.addEventListener('click', ({ target }) => {
  const { do: action, as } = target.closest('button')?.dataset ?? {};
  const key = target.closest('[data-key]')?.dataset.key;
  if (action === 'end') act({ do: action, run: key, as });
  if (action === 'retry') act({ do: action, delivery: key });
  if (action === 'off') act({ do: action, fault: Number(key) });
});
byId('webhooks').addEventListener('change', () => {
  webhookChosen = true;
});
byId('unsent').addEventListener('change', refresh);
// `toggle` does not bubble, but can be captured.
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

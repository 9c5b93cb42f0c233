// The script of the page. It writes data from the mock only as text, as the page's policy requires.
const token = document.querySelector('meta[name=token]').content;
const runId = /^\/projects\/[^/]+\/runs\/([^/]+)$/.exec(location.pathname)?.[1];
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

/** Writes only changed text, so that screen readers and selections are not disturbed. */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function fill(row, item) {
  for (const node of row.querySelectorAll('[data-f]')) {
    const value = String(item[node.dataset.f]);
    write(node, node.localName === 'time' ? new Date(value).toLocaleTimeString() : value);
    if (node.matches('.badge')) node.dataset.tone = /^\d/.test(value) ? value[0] : value;
  }
}

/** Updates the rows of a list to match the items by key. Existing rows keep the focus. */
function list(id, items, update = fill) {
  const rows = new Map([...byId(id).children].map((row) => [row.dataset.key, row]));
  const shown = items.map((item) => {
    const row = rows.get(String(item.key)) ?? byId(`${id}-row`).content.firstElementChild.cloneNode(true);
    row.dataset.key = item.key;
    update(row, item);
    return row;
  });
  for (const row of rows.values()) if (!shown.includes(row)) row.remove();
  shown.forEach((row, index) => {
    const before = byId(id).children[index];
    if (before !== row) byId(id).insertBefore(row, before ?? null);
  });
  byId(`${id}-none`).hidden = items.length > 0;
}

function fillRun(row, run) {
  fill(row, run);
  row.querySelector('a').href = run.path;
  const ends = row.querySelector('fieldset');
  ends.ariaLabel = `End ${run.key} as`;
  ends.hidden = run.result !== 'in progress';
}

function fillFault(row, fault) {
  fill(row, fault);
  row.querySelector('button').ariaLabel = `Switch off: ${fault.name}`;
}

async function refresh() {
  try {
    const { runs, faults, requests } = await request('state');
    list('runs', runId ? runs.filter(({ key }) => key === runId) : runs, fillRun);
    list('faults', faults, fillFault);
    list('requests', requests);
    write(byId('link'), 'Live');
  } catch (error) {
    write(byId('link'), error.status === 403 ? error.message : 'The mock does not respond; retrying');
  }
}

async function act(body) {
  try {
    const { message } = await request('do', body);
    await refresh();
    write(byId('message'), message);
  } catch (error) {
    write(byId('message'), `Not done: ${error.message}`);
  }
}

byId('fault').addEventListener('submit', (event) => {
  event.preventDefault();
  act({ do: 'fault', fault: new FormData(event.target).get('fault').trim() });
});
document.addEventListener('click', ({ target }) => {
  const { as, off } = target.dataset;
  const key = target.closest('[data-key]')?.dataset.key;
  if (as) act({ do: 'end', run: key, as });
  if (off !== undefined) act({ do: 'off', fault: Number(key) });
});

for (;;) {
  if (!document.hidden) await refresh();
  await new Promise((resolve) => setTimeout(resolve, 1000));
}

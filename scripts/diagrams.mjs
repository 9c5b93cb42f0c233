// Draws the diagrams of the pages from the descriptions below.

/** @typedef {'plain' | 'ask' | 'good' | 'warn' | 'bad' | 'busy'} Tone */
/** @typedef {{ x: number, y: number, w: number, h: number }} Area */
/** @typedef {Area & { tone: Tone, lines: readonly string[] }} Box */
/** @typedef {readonly [x: number, y: number]} Point */
/** @typedef {{ title: string, description: string, width: number, height: number, shapes: readonly string[] }} Diagram */

const lineHeight = 18;
/** The average width of a character, in pixels. */
const characterWidth = 7.3;

const style = `
text { font: 14px system-ui, -apple-system, Helvetica, Arial, sans-serif; fill: #24292f; }
text.head { font-weight: 600; } text.small { font-size: 12.5px; fill: #57606a; }
.page { fill: #ffffff; stroke: #d0d7de; }
.box { fill: #f6f8fa; stroke: #8c959f; } .ask { fill: #ddf4ff; stroke: #0969da; } .busy { fill: #eaeef2; stroke: #57606a; }
.good { fill: #dafbe1; stroke: #1a7f37; } .warn { fill: #fff8c5; stroke: #9a6700; } .bad { fill: #ffebe9; stroke: #cf222e; }
.line { fill: none; stroke: #57606a; stroke-width: 1.5; } .tip { fill: #57606a; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } text.small { fill: #9198a1; }
  .page { fill: #0d1117; stroke: #30363d; }
  .box { fill: #161b22; stroke: #6e7681; } .ask { fill: #0c2d6b; stroke: #58a6ff; } .busy { fill: #21262d; stroke: #8b949e; }
  .good { fill: #033a16; stroke: #3fb950; } .warn { fill: #4b2900; stroke: #d29922; } .bad { fill: #67060c; stroke: #f85149; }
  .line { stroke: #9198a1; } .tip { fill: #9198a1; }
}
`;

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** @param {Point} at @param {string} text @param {{ anchor?: string, kind?: string }} [look] */
function label([x, y], text, { anchor = 'middle', kind = '' } = {}) {
  const look = kind === '' ? '' : ` class="${kind}"`;
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${look}>${escaped(text)}</text>\n`;
}

/**
 * Returns a box with centred lines of text.
 * @param {Box} box
 */
function draw({ x, y, w, h, tone, lines }) {
  for (const line of lines)
    if (line.length * characterWidth > w - 12) throw new Error(`"${line}" is too long for ${w} pixels`);
  const radius = tone === 'ask' ? h / 2 : 6;
  const first = y + h / 2 - ((lines.length - 1) * lineHeight) / 2 + 5;
  const texts = lines.map((line, index) => label([x + w / 2, first + index * lineHeight], line));
  const look = tone === 'plain' ? 'box' : tone;
  return `<rect class="${look}" x="${x}" y="${y}" width="${w}" height="${h}" rx="${radius}"/>\n${texts.join('')}`;
}

/**
 * Returns an arrow through these points.
 * @param {readonly Point[]} points
 */
function path(points) {
  const [end, before] = [points.at(-1), points.at(-2)];
  if (end === undefined || before === undefined) throw new Error('an arrow has at least two points');
  const [dx, dy] = [Math.sign(end[0] - before[0]), Math.sign(end[1] - before[1])];
  const [left, right] = [-1, 1].map((side) => [
    end[0] - 9 * dx + 5 * side * dy,
    end[1] - 9 * dy + 5 * side * dx,
  ]);
  return `<polyline class="line" points="${points.join(' ')}"/>\n<polygon class="tip" points="${end} ${left} ${right}"/>\n`;
}

/**
 * Returns an arrow to a box on the right, with a label above it.
 * @param {Area} from @param {Area} to @param {string} [text]
 */
function across(from, to, text) {
  const y = from.y + from.h / 2;
  const start = from.x + from.w;
  const arrow = path([
    [start, y],
    [to.x, y],
  ]);
  return text === undefined
    ? arrow
    : arrow + label([start + 10, y - 6], text, { anchor: 'start', kind: 'small' });
}

/**
 * Returns an arrow to a box below, with a label beside it.
 * @param {Area} from @param {Area} to @param {string} [text]
 */
function down(from, to, text) {
  const x = from.x + from.w / 2;
  const start = from.y + from.h;
  const arrow = path([
    [x, start],
    [x, to.y],
  ]);
  return text === undefined
    ? arrow
    : arrow + label([x + 8, (start + to.y) / 2 + 4], text, { anchor: 'start', kind: 'small' });
}

/** @returns {Diagram} */
function verdict() {
  /** @type {readonly (readonly [question: string, verdict: string, tone: Tone, action: string, code: string])[]} */
  const rows = [
    ['Did the last status read fail?', 'unobserved', 'bad', 'fail', '5, 6 or 7'],
    ['Was another build deployed?', 'mismatch', 'bad', 'fail', '8'],
    ['Was the time over before the run ended?', 'timeout', 'bad', 'fail', '3'],
    ['Did something fail?', 'failed', 'bad', 'fail', '1'],
    ['Was something blocked?', 'blocked', 'bad', 'fail', '2'],
    ['Was the run cancelled?', 'cancelled', 'bad', 'fail', '4'],
    ['Had an earlier run of the gate failed?', 'flaky', 'warn', 'warn', '0'],
    ['None of these', 'passed', 'good', 'pass', '0'],
  ];
  const top = 110;
  const pitch = 62;
  const shapes = [
    ...['question', 'verdict', 'action', 'exit code'].map((text, column) =>
      label([[180, 485, 635, 785][column] ?? 0, 34], text, { kind: 'head' }),
    ),
    label([635, 52], 'default of rungate gate', { kind: 'small' }),
  ];
  /** @type {Box} */
  let above = { x: 80, y: 50, w: 200, h: 36, tone: 'plain', lines: ['The wait ends'] };
  shapes.push(draw(above));
  for (const [index, [question, name, tone, action, code]] of rows.entries()) {
    const y = top + index * pitch;
    const last = index === rows.length - 1;
    /** @type {Box} */
    const ask = { x: 20, y, w: 320, h: 38, tone: last ? 'plain' : 'ask', lines: [question] };
    /** @type {Box[]} */
    const [one, two, three] = [name, action, code].map((text, column) => ({
      ...{ x: 420 + column * 150, y, w: 130, h: 38 },
      ...{ tone, lines: [text] },
    }));
    if (one === undefined || two === undefined || three === undefined) throw new Error('three columns');
    shapes.push(down(above, ask, index === 0 ? undefined : 'no'), across(ask, one, last ? undefined : 'yes'));
    shapes.push(across(one, two), across(two, three), ...[ask, one, two, three].map(draw));
    above = ask;
  }
  return {
    title: 'From the end of a wait to the exit code',
    description:
      'A flow chart. rungate asks one question after the other and stops at the first yes. Last status read failed: unobserved, fail, exit code 5, 6 or 7. Another build deployed: mismatch, fail, 8. Time over before the run ended: timeout, fail, 3. Something failed: failed, fail, 1. Something blocked: blocked, fail, 2. Run cancelled: cancelled, fail, 4. An earlier run of the gate failed: flaky, warn, 0. Otherwise: passed, pass, 0.',
    ...{ width: 880, height: top + rows.length * pitch, shapes },
  };
}

/** @returns {Diagram} */
function rerun() {
  /** @type {(column: number, y: number, tone: Tone, lines: string[]) => Box} */
  const box = (column, y, tone, lines) => ({ x: 20 + column * 290, y, w: 240, h: 54, tone, lines });
  const keys = [
    box(0, 66, 'plain', ['Key 1: a hash of the', 'pipeline, the job and the body']),
    box(1, 66, 'plain', ['Key 2: a hash of', 'key 1 and run 1']),
    box(2, 66, 'plain', ['Key 3: a hash of', 'key 2 and run 2']),
  ];
  const runs = [
    box(0, 166, 'busy', ['Run 1 had ended']),
    box(1, 166, 'busy', ['Run 2 had ended']),
    box(2, 166, 'good', ['Run 3 is in progress, or new:', 'the gate waits for it']),
  ];
  const shapes = [
    label([20, 40], 'Every re-run of the job walks the same chain', { anchor: 'start', kind: 'head' }),
    ...keys.map((key, at) => down(key, /** @type {Box} */ (runs[at]))),
    // From a run that had ended up to the next key.
    ...[0, 1].map((at) => {
      const [run, key] = [/** @type {Box} */ (runs[at]), /** @type {Box} */ (keys[at + 1])];
      const middle = (run.x + run.w + key.x) / 2;
      return path([
        [run.x + run.w, run.y + run.h / 2],
        [middle, run.y + run.h / 2],
        [middle, key.y + key.h / 2],
        [key.x, key.y + key.h / 2],
      ]);
    }),
    ...[...keys, ...runs].map(draw),
  ];
  return {
    title: 'The chain of idempotency keys of a CI job',
    description:
      'Three keys with a run each. Key 1 is a hash of the pipeline, the job and the body. Its run had ended, so rungate takes key 2, a hash of key 1 and run 1. Its run had ended, too. Key 3 is a hash of key 2 and run 2. Its run is in progress, or new, and the gate waits for it.',
    ...{ width: 860, height: 244, shapes },
  };
}

/** @returns {Diagram} */
function deployedBuild() {
  /** @type {(y: number, from: number, to: number, tone: Tone, text: string) => string} */
  const bar = (y, from, to, tone, text) => draw({ x: from, y, w: to - from, h: 34, tone, lines: [text] });
  /** @type {(x: number, tone: Tone) => string} */
  const read = (x, tone) => `<circle class="${tone}" cx="${x}" cy="175" r="8"/>\n`;
  const phases = /** @type {const} */ ([
    [150, 430, 'before the run', 'a read every second', '--deployed-timeout'],
    [450, 730, 'during the run', 'a read with each status read', '--timeout'],
    [750, 880, 'after the verdict', 'three reads', 'up to 30 s'],
  ]);
  const shapes = [
    ...phases.flatMap(([from, to, name, reads, limit]) => [
      label([(from + to) / 2, 32], name, { kind: 'head' }),
      label([(from + to) / 2, 50], reads, { kind: 'small' }),
      `<polyline class="line" points="${from},72 ${from},64 ${to},64 ${to},72"/>\n`,
      `<polyline class="line" points="${from},272 ${from},280 ${to},280 ${to},272"/>\n`,
      label([(from + to) / 2, 300], limit, { kind: 'small' }),
    ]),
    ...['the page shows', 'rungate reads', 'the run', 'limit'].map((text, row) =>
      label([20, [112, 180, 237, 300][row] ?? 0], text, { anchor: 'start', kind: row === 3 ? 'small' : '' }),
    ),
    bar(90, 150, 318, 'warn', 'old build'),
    bar(90, 318, 880, 'good', 'expected build'),
    bar(215, 450, 730, 'busy', 'in progress'),
    ...[165, 203, 241, 279].map((x) => read(x, 'warn')),
    ...[340, 378, 416, 480, 550, 620, 690, 765, 815, 865].map((x) => read(x, 'good')),
    label([378, 204], '3 in a row', { kind: 'small' }),
    path([
      [416, 183],
      [416, 232],
      [450, 232],
    ]),
  ];
  return {
    title: 'When a gate reads the version page of a deployment',
    description:
      'A timeline. Before the run, rungate reads the page every second while it shows the old build, until three reads in a row show the expected build; --deployed-timeout limits this. Then rungate creates the run, and reads the page with each status read; --timeout limits this. After the verdict it reads the page three more times, for up to 30 seconds.',
    ...{ width: 900, height: 325, shapes },
  };
}

/** @returns {Diagram} */
function hub() {
  /** @type {Box} */
  const service = { x: 20, y: 128, w: 150, h: 84, tone: 'plain', lines: ['service', 'runs the tests'] };
  /** @type {Box} */
  const middle = { ...service, x: 305, tone: 'busy', lines: ['hub', 'wakes gates,', 'shares the limit'] };
  /** @type {Box} */
  const gates = { ...service, x: 580, tone: 'good', lines: ['gates', 'one in each job'] };
  /** @type {Box} */
  const redis = { ...service, x: 305, y: 290, h: 54, lines: ['Redis (optional)', 'for several hubs'] };
  /** @type {readonly (readonly Point[])[]} */
  const arrows = [
    [
      [170, 170],
      [305, 170],
    ],
    [
      [455, 156],
      [580, 156],
    ],
    [
      [580, 184],
      [455, 184],
    ],
    [
      [655, 128],
      [655, 62],
      [95, 62],
      [95, 128],
    ],
    [
      [380, 212],
      [380, 290],
    ],
    [
      [380, 290],
      [380, 212],
    ],
  ];
  return {
    title: 'The hub between the service, the gates and Redis',
    description:
      'The service sends deliveries to the hub by webhook. The hub wakes the gates and grants them requests. The gates create runs and read their status from the service, with their own API key. Several hubs share the budget and the wake-ups in Redis, which is optional.',
    ...{ width: 760, height: 364 },
    shapes: [
      // Behind the first gate are those of other jobs.
      ...[16, 8].map((by) => draw({ ...gates, x: gates.x + by, y: gates.y + by, lines: [] })),
      ...[service, middle, gates, redis].map(draw),
      ...arrows.map(path),
      label([375, 50], 'create the run, read its status, with the API key', { kind: 'small' }),
      label([237, 160], 'delivery', { kind: 'small' }),
      label([517, 146], 'wake-up, grant', { kind: 'small' }),
      label([517, 203], 'request for a grant', { kind: 'small' }),
      label([392, 255], 'budget, wake-ups', { anchor: 'start', kind: 'small' }),
    ],
  };
}

/** @returns {Diagram} */
function detach() {
  const lanes = ['job of the gate', 'run', 'hub', 'resumed job', 'commit status'];
  /** @type {(lane: number) => number} */
  const top = (lane) => 30 + lane * 64;
  /** @type {(lane: number, from: number, to: number, tone: Tone, text: string) => string} */
  const bar = (lane, from, to, tone, text) =>
    draw({ x: from, y: top(lane), w: to - from, h: 36, tone, lines: [text] });
  /** @type {(x: number, from: number, to: number, text: string) => string} */
  const arrow = (x, from, to, text) =>
    path([
      [x, top(from) + 36],
      [x, top(to)],
    ]) + label([x + 8, top(to) - 9], text, { anchor: 'start', kind: 'small' });
  return {
    title: 'The life of a detached gate',
    description:
      'A timeline. A short job with gate --detach gives its state to the hub, sets the commit status to pending, and creates the run. The job ends while the run is in progress. When the run ends, the hub gets a delivery and starts a second short job with gate --resume, which reads the run and sets the commit status to success.',
    ...{ width: 900, height: top(lanes.length) },
    shapes: [
      ...lanes.map((name, lane) => label([20, top(lane) + 23], name, { anchor: 'start' })),
      bar(0, 190, 345, 'busy', 'gate --detach'),
      bar(1, 325, 640, 'busy', 'in progress'),
      bar(2, 235, 880, 'plain', 'keeps the encrypted state'),
      bar(3, 690, 835, 'busy', 'gate --resume'),
      bar(4, 255, 800, 'warn', 'pending'),
      bar(4, 800, 880, 'good', 'success'),
      path([
        [210, top(0) + 36],
        [210, top(4) + 18],
        [255, top(4) + 18],
      ]),
      arrow(265, 0, 2, 'state'),
      arrow(335, 0, 1, 'create'),
      arrow(630, 1, 2, 'delivery'),
      arrow(705, 2, 3, 'start'),
      arrow(815, 3, 4, 'verdict'),
    ],
  };
}

/**
 * Returns a diagram as SVG for light and dark themes, which loads nothing.
 * @param {Diagram} diagram
 */
function svgOf({ title, description, width, height, shapes }) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
<style>${style}</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${shapes.join('')}</svg>
`;
}

/** The text of each file. */
export const diagrams = {
  'docs/reference/verdict.svg': svgOf(verdict()),
  'docs/reference/re-runs.svg': svgOf(rerun()),
  'docs/how-to/deployed-build.svg': svgOf(deployedBuild()),
  'docs/how-to/detach.svg': svgOf(detach()),
  'docs/how-to/hub.svg': svgOf(hub()),
};

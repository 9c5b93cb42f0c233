// Draws docs/how-to/hub.svg: the hub between the service, the gates and Redis. test/docs/picture-hub.test.ts writes the file.
// cspell:ignore labelledby Segoe

/** @typedef {{ x: number, y: number, width: number, height: number, name: string, lines: string[], kind?: 'stack' | 'optional' }} Box */
/** @typedef {{ points: [number, number][], label: string, at: [number, number], anchor?: 'middle' | 'start', kind?: 'optional', both?: boolean }} Arrow */

const size = { width: 760, height: 352 };
const title = 'The hub between the service, the gates and Redis';
const description =
  'The service sends deliveries to the hub by webhook. The hub wakes the gates and grants them requests. The gates create runs and read ' +
  'their status from the service, with their own API key. Several hubs share the budget and the wake-ups in Redis, which is optional.';

/** @type {Box[]} */
const boxes = [
  { x: 20, y: 128, width: 150, height: 84, name: 'service', lines: ['runs the tests'] },
  { x: 305, y: 128, width: 150, height: 84, name: 'hub', lines: ['wakes gates,', 'shares the rate limit'] },
  { x: 580, y: 128, width: 150, height: 84, name: 'gates', lines: ['one in each job'], kind: 'stack' },
  { x: 305, y: 286, width: 150, height: 50, name: 'Redis', lines: ['for several hubs'], kind: 'optional' },
];

/** @type {Arrow[]} */
const arrows = [
  {
    points: [
      [170, 170],
      [305, 170],
    ],
    label: 'delivery',
    at: [237, 160],
  },
  {
    points: [
      [455, 158],
      [580, 158],
    ],
    label: 'wake-up, grant',
    at: [517, 148],
  },
  {
    points: [
      [580, 184],
      [455, 184],
    ],
    label: 'request for a grant',
    at: [517, 203],
  },
  {
    points: [
      [655, 128],
      [655, 62],
      [95, 62],
      [95, 128],
    ],
    label: 'create the run, read its status, with the API key',
    at: [375, 50],
  },
  {
    points: [
      [380, 212],
      [380, 286],
    ],
    label: 'budget, wake-ups',
    at: [392, 253],
    anchor: 'start',
    kind: 'optional',
    both: true,
  },
];

const style = `
text { font: 14px system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', sans-serif; fill: #24292f; text-anchor: middle; }
.name { font-weight: 600; font-size: 16px; } .line { font-size: 12px; fill: #57606a; } .label { font-size: 12px; fill: #0550ae; }
.start { text-anchor: start; }
.paper { fill: #ffffff; stroke: #d0d7de; } .box { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.5; }
.arrow { fill: none; stroke: #0550ae; stroke-width: 1.5; } .head { fill: #0550ae; } .optional { stroke-dasharray: 5 4; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .line { fill: #9198a1; } .label { fill: #79c0ff; }
  .paper { fill: #0d1117; stroke: #30363d; } .box { fill: #161b22; stroke: #9198a1; }
  .arrow { stroke: #79c0ff; } .head { fill: #79c0ff; }
}
`;

/** @param {string | undefined} more */
const withClass = (more) => (more === undefined ? '' : ` ${more}`);

/** @param {Box} box */
function boxText({ x, y, width, height, name, lines, kind }) {
  const rect = (/** @type {number} */ shift) =>
    `<rect class="box${withClass(kind === 'optional' ? kind : undefined)}" x="${x + shift}" y="${y + shift}" width="${width}" height="${height}" rx="8"/>`;
  // The boxes behind the first are those of further gates.
  const rects = (kind === 'stack' ? [16, 8, 0] : [0]).map(rect);
  const [middle, top] = [x + width / 2, y + height / 2 - lines.length * 8 + 5];
  const rows = lines.map(
    (line, index) => `<text class="line" x="${middle}" y="${top + 18 + index * 16}">${line}</text>`,
  );
  return [...rects, `<text class="name" x="${middle}" y="${top}">${name}</text>`, ...rows].join('\n');
}

/** Returns the head of an arrow that ends at a point and comes from another. @param {[number, number]} end @param {[number, number]} from */
function headText([x, y], [fromX, fromY]) {
  const [dx, dy] = [Math.sign(x - fromX), Math.sign(y - fromY)];
  const side = (/** @type {number} */ sign) => `${x - 9 * dx + 5 * sign * dy} ${y - 9 * dy + 5 * sign * dx}`;
  return `<path class="head" d="M${x} ${y}L${side(1)}L${side(-1)}Z"/>`;
}

/** @param {Arrow} arrow */
function arrowText({ points, label, at: [x, y], anchor, kind, both }) {
  const heads = [headText(points.at(-1) ?? [0, 0], points.at(-2) ?? [0, 0])];
  if (both === true) heads.push(headText(points[0] ?? [0, 0], points[1] ?? [0, 0]));
  return [
    `<path class="arrow${withClass(kind)}" d="M${points.map((point) => point.join(' ')).join('L')}"/>`,
    ...heads,
    `<text class="label${withClass(anchor)}" x="${x}" y="${y}">${label}</text>`,
  ].join('\n');
}

/** Returns the SVG, for light and dark themes. It loads nothing. */
export function hubPicture() {
  const { width, height } = size;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${title}</title>
<desc id="desc">${description}</desc>
<style>${style}</style>
<rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${[...boxes.map(boxText), ...arrows.map(arrowText)].join('\n')}
</svg>
`;
}

/** A part of a row in one style. */
export interface Span {
  column: number;
  tone: 'plain' | 'good' | 'bad' | 'warn' | 'busy' | 'dim';
  text: string;
}

/** Snapshots of a terminal at regular intervals. */
export interface Picture {
  columns: number;
  rows: number;
  everyMs: number;
  /** The rows of each snapshot. */
  frames: Span[][][];
}

const cell = { width: 8.4, height: 19 };
const margin = { x: 16, y: 14 };
/** The last frame stays this long before the animation starts again. */
const restMs = 4000;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const round = (value: number) => Math.round(value * 100) / 100;

function rowText(spans: readonly Span[], row: number): string {
  if (spans.length === 0) return '';
  const y = margin.y + (row + 1) * cell.height - 5;
  const parts = spans.map(({ column, tone, text }) => {
    const [x, length] = [margin.x + column * cell.width, text.length * cell.width];
    const style = tone === 'plain' ? '' : ` class="${tone}"`;
    return `<tspan x="${round(x)}" textLength="${round(length)}"${style}>${escaped(text)}</tspan>`;
  });
  return `<text y="${round(y)}">${parts.join('')}</text>\n`;
}

const style = `
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; fill: #24292f; white-space: pre; }
.box { fill: #f6f8fa; stroke: #d0d7de; }
.good { fill: #116329; } .bad { fill: #a40e26; } .warn { fill: #7d4e00; } .busy { fill: #0550ae; } .dim { fill: #57606a; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .box { fill: #0d1117; stroke: #30363d; }
  .good { fill: #56d364; } .bad { fill: #ff7b72; } .warn { fill: #e3b341; } .busy { fill: #79c0ff; } .dim { fill: #9198a1; }
}
.frame { visibility: hidden; } .frame:last-of-type { visibility: visible; }
`;

/** Returns the animation. With `prefers-reduced-motion` only the last frame is visible. */
function motion({ frames, everyMs }: Picture): string {
  const wholeMs = (frames.length - 1) * everyMs + restMs;
  const at = (index: number) => round((index * everyMs * 100) / wholeMs);
  const rules = frames.map((_, index) => {
    const end = index === frames.length - 1 ? '' : ` ${at(index + 1)}% { visibility: hidden; }`;
    const start = index === 0 ? '' : '0% { visibility: hidden; } ';
    return `@keyframes f${index} { ${start}${at(index)}% { visibility: visible; }${end} }\n#f${index} { animation: f${index} ${wholeMs}ms step-end infinite; }\n`;
  });
  return `@media (prefers-reduced-motion: no-preference) {\n${rules.join('')}}\n`;
}

/** Returns an animated SVG of a terminal, for light and dark themes, that loads nothing. */
export function svgOf(picture: Picture, title: string, description: string): string {
  const width = Math.ceil(picture.columns * cell.width + 2 * margin.x);
  const height = Math.ceil(picture.rows * cell.height + 2 * margin.y);
  const frames = picture.frames.map(
    (rows, index) => `<g class="frame" id="f${index}">\n${rows.map(rowText).join('')}</g>\n`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
<style>${style}${motion(picture)}</style>
<rect class="box" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${frames.join('')}</svg>
`;
}

/** Returns the rows of a frame as text. */
export const textOfFrame = (rows: readonly (readonly Span[])[]): string =>
  rows
    .map((spans) => spans.reduce((line, { column, text }) => line.padEnd(column) + text, ''))
    .join('\n')
    .trimEnd();

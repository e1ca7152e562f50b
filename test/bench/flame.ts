/**
 * A flame graph of the engine as SVG: where the processor time of `Exchange.apply` goes. Runs a
 * path of `core-paths.ts` under V8's sampling profiler and merges all calls of `apply`. The width
 * of a function is its share of the samples, including its callees; narrow ones are left out.
 *
 *     node --import tsx test/bench/flame.ts limits 600000 docs/pictures/flame-limits.svg
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = 'apply';
const INTERVAL_US = 250;
const WIDTH = 1000;
const ROW = 17;
/** Narrowest function shown, as a share of all samples. */
const NARROWEST = 0.004;
const CHARACTER = 6.2;
/** Colours by folder of the engine. */
const COLOURS: readonly (readonly [part: RegExp, colour: string])[] = [
  [/chain-hash|rolling-hash/, '#c9a227'],
  [/\/margin\//, '#d1495b'],
  [/\/book\/|slot-index/, '#3a7ca5'],
  [/\/accounts\/|\/num\//, '#66a182'],
  [/\/orders\//, '#8f6bb0'],
  [/\/market\/|\/pricing\//, '#b5838d'],
];
const OTHER = '#9a9a9a';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
}

interface Frame {
  readonly name: string;
  readonly url: string;
  samples: number;
  readonly callees: Map<string, Frame>;
}

const frameOf = ({ functionName, url }: ProfileNode['callFrame']): Frame => ({
  name: functionName === '' ? '(anonymous)' : functionName,
  url,
  samples: 0,
  callees: new Map(),
});

function calleeOf(frame: Frame, callFrame: ProfileNode['callFrame']): Frame {
  const key = `${callFrame.functionName} ${callFrame.url}`;
  const callee = frame.callees.get(key) ?? frameOf(callFrame);
  frame.callees.set(key, callee);
  return callee;
}

function profileOf(path: string, count: string): Profile {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-flame-'));
  try {
    const script = fileURLToPath(new URL('./core-paths.ts', import.meta.url));
    const profiling = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
    const interval = `--cpu-prof-interval=${String(INTERVAL_US)}`;
    const words = [...profiling, interval, '--import', 'tsx', script, path, count];
    execFileSync(process.execPath, words, { stdio: 'inherit' });
    const profiles = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const largest = profiles.toSorted((a, b) => b.length - a.length)[0] ?? '';
    return JSON.parse(largest) as Profile;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All calls of `ROOT` as one tree. */
function merged({ nodes, samples }: Profile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const counts = new Map<number, number>();
  for (const id of samples) counts.set(id, (counts.get(id) ?? 0) + 1);
  const root: Frame = { name: ROOT, url: '', samples: 0, callees: new Map() };
  const rootIf = ({ functionName }: ProfileNode['callFrame']): Frame | null =>
    functionName === ROOT ? root : null;
  const visit = (node: ProfileNode, above: Frame | null): number => {
    const { callFrame } = node;
    const frame = above === null ? rootIf(callFrame) : calleeOf(above, callFrame);
    let total = counts.get(node.id) ?? 0;
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) total += visit(child, frame);
    }
    if (frame !== null) frame.samples += total;
    return total;
  };
  const [first] = nodes;
  if (first !== undefined) visit(first, null);
  if (root.samples === 0) throw new Error(`no sample is in '${ROOT}'`);
  return root;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function drawn(root: Frame): string {
  const boxes: string[] = [];
  let depth = 0;
  const draw = (frame: Frame, x: number, level: number): void => {
    const share = frame.samples / root.samples;
    if (share < NARROWEST) return;
    depth = Math.max(depth, level);
    const width = share * WIDTH;
    const colour = COLOURS.find(([part]) => part.test(frame.url))?.[1] ?? OTHER;
    const y = level * ROW;
    const letters = Math.floor((width - 4) / CHARACTER);
    const label = letters < 3 ? '' : frame.name.slice(0, letters);
    boxes.push(
      `<g><title>${escaped(frame.name)} ${(share * 100).toFixed(1)} %</title>` +
        `<rect x="${x.toFixed(1)}" y="${String(y)}" width="${width.toFixed(1)}" height="16" fill="${colour}"/>` +
        `<text x="${(x + 2).toFixed(1)}" y="${String(y + 12)}">${escaped(label)}</text></g>`,
    );
    let at = x;
    for (const callee of [...frame.callees.values()].toSorted((a, b) => b.samples - a.samples)) {
      draw(callee, at, level + 1);
      at += (callee.samples / root.samples) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = (depth + 1) * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(height)}" font-family="monospace" font-size="10">`,
    ...boxes,
    '</svg>\n',
  ].join('\n');
}

const [path, count, file] = process.argv.slice(2);
if (path === undefined || count === undefined || file === undefined) {
  throw new Error('usage: flame <path> <commands> <file>');
}
writeFileSync(file, drawn(merged(profileOf(path, count))));

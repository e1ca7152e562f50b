/** Alerts and the dashboard name metrics that a server has; promtool accepts rules and metrics. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { ALICE, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

const at = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(at(name), 'utf8');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: Record<string, string>;
      readonly annotations: Record<string, string>;
    }[];
  }[];
}
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { x: number; y: number; w: number; h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
}

const RULES = (parse(read('deploy/alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules);
const PANELS = (JSON.parse(read('deploy/grafana/orrery.json')) as { panels: Panel[] }).panels;
const QUERIES = PANELS.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat = '' }) => ({ title, expr, legendFormat })),
);

let metrics: string;
let scratch: string;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'orrery-'));
  const served = await Served.start();
  await served.sim('deposit', { account: ALICE, amount: '1000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  metrics = (await served.send('GET', '/metrics')).text;
  await served.remove();
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

/** Names and, where it has samples, labels of each metric. */
function known(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = '', type] of metrics.matchAll(/^# TYPE (\w+) (\w+)/gm)) {
    const endings = type === 'histogram' ? ['', '_sum', '_count', '_bucket'] : [''];
    for (const ending of endings) found.set(`${name}${ending}`, new Set(['job', 'instance']));
  }
  for (const [, name = '', labels = ''] of metrics.matchAll(/^(\w+)\{(.*)\} /gm)) {
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) found.get(name)?.add(label);
  }
  return found;
}
/** Counters without a sample yet: their labels. */
const LATER = new Map([
  ['orrery_liquidation_steps_total', ['step']],
  ['orrery_http_requests_total', ['route', 'status']],
]);
const METRIC = /\b(?:orrery|nodejs|process)_\w+/g;

function unknownNames(expr: string): string[] {
  const names = known();
  return [...expr.matchAll(METRIC)].map(([name]) => name).filter((name) => !names.has(name));
}

test('every alert names metrics of /metrics', () => {
  expect(RULES.length).toBeGreaterThan(10);
  for (const { alert, expr } of RULES) expect(unknownNames(expr), alert).toEqual([]);
  // The check can fail.
  expect(unknownNames('orrery_writes_stoped == 1')).toEqual(['orrery_writes_stoped']);
});

test('every panel names metrics and labels of /metrics', () => {
  expect(QUERIES.length).toBeGreaterThan(25);
  const names = known();
  for (const { title, expr, legendFormat } of QUERIES) {
    expect(unknownNames(expr), title).toEqual([]);
    const labels = new Set(['le']);
    for (const [name] of expr.matchAll(METRIC)) {
      for (const label of [...(names.get(name) ?? []), ...(LATER.get(name) ?? [])]) {
        labels.add(label);
      }
    }
    const used = [
      ...[...expr.matchAll(/by \(([\w, ]+)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
      ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name),
    ];
    expect(
      used.filter((name) => !labels.has(name)),
      title,
    ).toEqual([]);
  }
});

test('panels have distinct ids and do not overlap', () => {
  expect(new Set(PANELS.map(({ id }) => id)).size).toBe(PANELS.length);
  const cells = PANELS.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from(
      { length: w * h },
      (_, i) => `${String(x + (i % w))} ${String(y + Math.floor(i / w))}`,
    ),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { gridPos } of PANELS) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});

const promtool = (...args: string[]): string =>
  execFileSync('promtool', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

test('promtool accepts the scrape and the alerts, and the alerts fire as their tests say', () => {
  expect(promtool('check', 'config', at('deploy/prometheus.yaml'))).toContain(
    `${String(RULES.length)} rules found`,
  );
  expect(promtool('test', 'rules', at('test/deploy/alerts-fire.yaml'))).toContain('SUCCESS');
  const tested = read('test/deploy/alerts-fire.yaml');
  for (const { alert } of RULES) expect(tested, alert).toContain(`alertname: ${alert}\n`);
});

test('promtool parses every query of the dashboard', () => {
  const rules = QUERIES.map(({ expr }, i) => ({
    record: `query:${String(i)}`,
    expr: expr.replaceAll('$job', 'orrery'),
  }));
  const file = join(scratch, 'queries.yaml');
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
  expect(promtool('check', 'rules', file)).toContain(`${String(rules.length)} rules found`);
  writeFileSync(
    file,
    stringify({ groups: [{ name: 'x', rules: [{ record: 'x', expr: 'rate(' }] }] }),
  );
  expect(() => promtool('check', 'rules', file)).toThrow();
});

test('promtool finds no fault of form in /metrics', () => {
  const { stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
    input: metrics,
    encoding: 'utf8',
  });
  // Names that Node's own metrics have.
  const ours = stderr.split('\n').filter((line) => line.startsWith('orrery_'));
  expect(ours).toEqual([]);
  expect(status).not.toBe(1);
});

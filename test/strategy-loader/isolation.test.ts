/**
 * No object of this program is reachable from a strategy: hostile strategies find none, and a walk
 * over everything that is reachable, from inside the realm and from outside, finds none.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script, type Context } from 'node:vm';
import { afterAll, expect, test, vi } from 'vitest';
import { bundleHashes } from '../../src/run-plan/bundle-hashes.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { METRICS_DEFAULTS } from '../../src/metrics/options.ts';
import type { DataUpdate } from '../../src/strategy/strategy.ts';
import { runTrial } from '../../src/search/trial.ts';
import { plannedOf, planOf, RECORDED_FROM_US } from '../run-plan/plans.ts';
import { ATTACKS, fileOf, hostileFile, REFUSED, WALK } from './hostile.ts';

/** Realms made by the loader, and what a planted fault puts into the next. */
const realms: Context[] = [];
let planted: Record<string, unknown> = {};
vi.mock('node:vm', async (original) => {
  const vm = await original<typeof import('node:vm')>();
  return {
    ...vm,
    createContext: (object: object, options: object) => {
      const realm = vm.createContext(Object.assign(object, planted), options);
      realms.push(realm);
      return realm;
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'orrery-hostile-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let written = 0;
function file(text: string): string {
  const path = join(folder, `h${(written += 1)}.ts`);
  writeFileSync(path, text);
  return path;
}

const hostile = (attack: string): string => file(hostileFile(attack));

const END_US = { toUs: RECORDED_FROM_US + 15_000_000 };
const ROWS: readonly DataUpdate[] = [
  { feed: 'x', timeUs: RECORDED_FROM_US + 5_000_000, row: { a: 1, ['__proto__']: 'b', c: null } },
];
const lastLine = async (planned: Awaited<ReturnType<typeof plannedOf>>): Promise<string> => {
  const { output } = await executePlan(planOf([planned], END_US), { data: () => ROWS });
  return output.strategies[0]!.log.at(-1)?.text ?? '';
};

test.each(ATTACKS)('a strategy finds nothing of the host by $name', async ({ attack }) => {
  const planned = await plannedOf(hostile(attack));
  expect([await lastLine(planned), await lastLine(planned)]).toEqual(['nothing', 'nothing']);
});

test.each(REFUSED)('$name is refused', async ({ attack, message }) => {
  await expect(plannedOf(hostile(attack)).then(lastLine)).rejects.toThrow(message);
});

test('without the filter of errors, the end of the stack gives an error of the host', async () => {
  const attack = ATTACKS.find(({ name }) => name.includes('while a stack is formatted'))!;
  const planned = await plannedOf(hostile(attack.attack));
  const bundle = planned.bundle!;
  const code = bundle.code.replaceAll(/\w+=\$filter\$*\(\w+\);/g, '');
  expect(code.length).toBeLessThan(bundle.code.length);
  expect(await lastLine({ ...planned, bundle: { ...bundle, code } })).toContain('stack');
});

const WALKER = `${WALK}
const run = (where: string, call: () => unknown): void => {
  try {
    const result: any = see(where, call());
    if (result instanceof Promise) result.catch((error) => see(where + ' rejected', error));
  } catch (error) { see(where + '!', error); }
};
const ask = async (where: string, call: () => Promise<unknown>): Promise<void> => {
  let promise: Promise<unknown> | null = null;
  try { promise = call(); see(where, promise); see(where + ' value', await promise); } catch (error) { see(where + '!', error); }
};
const called = new Set<string>();
let asked = false;
const handler = (name: string) => (...args: any[]): Promise<void> | void => {
  called.add(name);
  see(name, args);
  run(name + ' market', () => args.at(-1).market());
  if (name === 'onStop') args[0].log([...called].sort().join(' ') + ' ' + (walk() > 500) + ' ' + (found.slice(0, 9).join('; ') || 'nothing'));
};
export default defineStrategy({
  name: 'walker',
  keeps: { bars: 10, book: true, equity: true },
  parameters: { n: integer(1, { min: 1, max: 9 }) },
  barsUs: (...args) => { see('barsUs', args); return [1_000_000]; },
  warmUpUs: (...args) => { see('warmUpUs', args); return 0; },
  create: (...args: any[]) => {
    see('create', args);
    see('globals', globalThis);
    see('api', api);
    return {
      onBook: handler('onBook'), onTrade: handler('onTrade'), onBar: handler('onBar'), onFill: handler('onFill'),
      onOrder: handler('onOrder'), onMark: handler('onMark'), onIndex: handler('onIndex'), onAccount: handler('onAccount'),
      onLiquidation: handler('onLiquidation'), onData: handler('onData'), onTimer: handler('onTimer'), onStop: handler('onStop'),
      async onStart(context: any) {
        called.add('onStart');
        see('context', context);
        for (const key of Object.keys(context)) if (typeof context[key] === 'function') run(key, () => context[key](NaN));
        for (const key of ['next', 'below', 'state']) run(key, () => context.random[key](2));
        const { client, account, subaccountIndex, symbol } = context;
        const own = { account, subaccountIndex };
        run('timeout', () => setTimeout((...args: unknown[]) => see('timeout args', args), 5, 1));
        run('interval', () => { const id = setInterval(() => clearInterval(id), 5); return id; });
        run('microtask', () => queueMicrotask((...args: unknown[]) => see('microtask', args)));
        run('console', () => console.log('x', { a: 1 }));
        await ask('sleep', () => context.sleep(2_000_000));
        context.setTimer('a', 1000);
        await ask('submit', () => context.submit({ side: 'buy', size: '0.01', tag: 'walk' }));
        await ask('bad tag', () => context.submit({ side: 'buy', size: '0.01', tag: {} }));
        run('history', () => context.history(1));
        run('history of nonsense', () => context.history({}, { symbol: {} }));
        run('book', () => context.book());
        run('equity', () => context.equity());
        run('plot', () => context.plot('x', 1, { pane: 'below' }));
        run('bad plot', () => context.plot({}, () => 1, { pane: {}, symbol: {} }));
        run('endless plot', () => { const own: any = {}; own.own = own; return context.plot('y', 1, own); });
        await ask('rest', () => context.submit({ side: 'buy', size: '0.01', price: '100' }));
        await ask('position', () => context.position());
        await ask('cancel', () => context.cancel('none'));
        await ask('cancelAll', () => context.cancelAll());
        for (const [name, request] of Object.entries({ getBook: { symbol }, getTrades: { symbol }, getMarkets: {}, getConfig: {}, getTime: {},
          getStats: own, getBalance: { account }, getPositions: own, listOrders: own, getSummary: { symbol }, getPrices: {}, nonsense: {}, submitOrder: {} })) {
          await ask(name, () => client.call(name, request));
          await ask(name + ' page', () => client.page(name, request));
        }
      },
    };
  },
});
`;

test('a walk over everything that a strategy reaches finds no object of the host', async () => {
  realms.length = 0;
  const planned = await plannedOf(file(fileOf(WALKER)));
  expect(await lastLine(planned)).toBe(
    'onAccount onBar onBook onData onFill onIndex onMark onOrder onStart onStop onTimer onTrade true nothing',
  );
  // From outside: every chain of prototypes ends in the realm.
  const [realm] = realms;
  const hosts = reached(new Script('globalThis').runInContext(realm!) as object).filter(
    ([, value]) => endOf(value) === Object.prototype,
  );
  expect(hosts).toEqual([]);

  // A name that the realm's list of globals has, whatever the platform.
  planted = { Float16Array: ['of the host'] };
  try {
    expect(await lastLine(planned)).toContain('globals.Float16Array');
    const leaks = reached(new Script('globalThis').runInContext(realms[1]!) as object);
    expect(leaks.some(([, value]) => endOf(value) === Object.prototype)).toBe(true);
  } finally {
    planted = {};
  }
});

function endOf(value: object): object {
  const next = Object.getPrototypeOf(value) as object | null;
  return next === null ? value : endOf(next);
}

/** Everything that is reachable from a value through properties and prototypes, with its path. */
function reached(root: object): (readonly [string, object])[] {
  const seen = new Map<object, string>();
  const open: [string, unknown][] = [['root', root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, value] = next;
    if (Object(value) !== value || seen.has(value as object)) continue;
    seen.set(value as object, path);
    open.push([`${path}.proto`, Object.getPrototypeOf(value)]);
    for (const key of Reflect.ownKeys(value as object)) {
      const field = Object.getOwnPropertyDescriptor(value, key) ?? {};
      for (const part of Object.values(field)) open.push([`${path}.${String(key)}`, part]);
    }
  }
  return [...seen].map(([value, path]) => [path, value] as const);
}

test('a trial of a sweep learns nothing of another', async () => {
  const attacks = ATTACKS.filter(({ name }) => name.startsWith('a state on'));
  const all = attacks.map(({ attack }) => `{ ${attack} }`).join('\n');
  const planned = await plannedOf(
    hostile(`${all}\nif (found.length > 0) throw new Error('found');`),
  );
  for (const n of [1, 2, 3]) {
    const trial = await runTrial({
      plan: planOf([planned], END_US),
      parameters: { n: String(n) },
      objective: 'sharpe',
      options: METRICS_DEFAULTS,
    });
    expect(trial?.error).toBeNull();
  }
});

test('data that a strategy bundles are listed with their hashes', async () => {
  writeFileSync(join(folder, 'prices.json'), '[1, 2, 3]');
  const planned = await plannedOf(
    file(
      `import prices from './prices.json';\n${hostileFile('context.log(String(prices.length));')}`,
    ),
  );
  expect(bundleHashes([planned])).toEqual({
    'bundle of test': planned.bundle!.sha256,
    'data of test: prices.json': createHash('sha256').update('[1, 2, 3]').digest('hex'),
  });
});

test.each([
  ['numbers', `export default [${'1.5,'.repeat(1200)}];`, true],
  ['a long text', `export default '${'1.5 '.repeat(1500)}';`, true],
  ['little', `export default [${'1.5,'.repeat(100)}];`, false],
])('code that holds %s is listed as data if it is a table', async (_name, table, isListed) => {
  writeFileSync(join(folder, 'table.ts'), table);
  const planned = await plannedOf(
    file(`import table from './table.ts';\n${hostileFile('context.log(String(table.length));')}`),
  );
  expect(planned.bundle!.data.map((one) => one.file)).toEqual(isListed ? ['table.ts'] : []);
});

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { METRICS_DEFAULTS } from '../../src/metrics/options.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { runTrial } from '../../src/search/trial.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { loadStrategy } from '../../src/strategy-loader/sandbox.ts';
import { plannedOf, planOf, RECORDED_FROM_US } from '../run-plan/plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-strategies-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let written = 0;
/** A strategy file with this body of `create`. */
function file(create: string, head = ''): string {
  const path = join(folder, `s${(written += 1)}.ts`);
  writeFileSync(
    path,
    `import { defineStrategy, integer, type Strategy } from 'orrery/strategy';\n${head}
export default defineStrategy({
  name: 'probe',
  parameters: { n: integer(3, { min: 1, max: 9 }) },
  create: ({ n }): Strategy => { ${create} },
  barsUs: () => [1_000_000],
});\n`,
  );
  return path;
}

async function logOf(create: string, head = ''): Promise<readonly string[]> {
  const plan = planOf([await plannedOf(file(create, head))], {
    toUs: RECORDED_FROM_US + 6_000_000,
  });
  const { output } = await executePlan(plan);
  return output.strategies[0]!.log.map(({ text }) => text);
}

/** Message of the error that ends a run. */
const failing = async (create: string, head = ''): Promise<string> =>
  logOf(create, head).then(
    () => 'it ended well',
    (error: unknown) => (error as Error).message,
  );

test('a strategy cannot change the bars of its history', async () => {
  const change = (bar: string): string => `return {
    onBar(_, context) {
      ${bar}.close = 1;
      throw new Error('a bar was changed');
    },
  };`;
  for (const bar of ['_', 'context.history(1)[0]']) {
    const message = await failing(change(bar));
    expect(message).toMatch(/Cannot assign to read only property 'close'/);
  }
});

test('all clocks of a strategy are virtual time', async () => {
  const [line] = await logOf(`return {
    onStart: (context) => context.setTimer('a', 2_500_000),
    onTimer(_name, context) {
      const ms = Math.floor(context.now() / 1000);
      const all = [Date.now(), new Date().getTime(), +new Date(), new Date(0).constructor.now(),
        performance.now(), new (class extends Date {})().getTime(), Reflect.construct(Date, []).getTime()];
      console.log(all.every((one) => one === ms), new Date(0).toISOString(), Date.UTC(1970, 0, 2));
    },
  };`);
  expect(line).toBe('true 1970-01-01T00:00:00.000Z 86400000');
});

test('formats and Date as a function use virtual time, and the real clock is unreachable', async () => {
  const [line] = await logOf(`return {
    onStart: () => {
      const day = new Intl.DateTimeFormat('en', { dateStyle: 'short' });
      const parts = day.formatToParts().map(({ value }) => value).join('');
      console.log(day.format(), parts, day.format(0), Date().slice(0, 15), Object.getPrototypeOf(Date) === Function.prototype,
        new Date() instanceof Date, Date.name);
    },
  };`);
  expect(line).toBe('8/8/24 8/8/24 1/1/70 Thu Aug 08 2024 true true Date');
});

test('API objects give no access to the scheduler, the exchange or code', async () => {
  const [names, ...tries] = await logOf(
    `return {
    onStart: (context) => {
      const seen = new Map();
      const queue = [[context, 'context'], [api, 'api']];
      while (queue.length > 0) {
        const [value, path] = queue.shift();
        if (Object(value) !== value || seen.has(value)) continue;
        seen.set(value, path);
        for (const key of Reflect.ownKeys(value)) {
          try { queue.push([value[key], path + '.' + String(key)]); } catch { /* a getter that wants its object */ }
        }
        queue.push([Object.getPrototypeOf(value), path + '.proto']);
      }
      const attempt = (run) => { try { console.log(run()); } catch (error) { console.log(error.message); } };
      console.log([...seen.values()].filter((path) => /ports|sched|engine|exchange|gateway|tape|heap/i.test(path)).join(' ') || 'none');
      attempt(() => context.now.constructor('return process')());
      attempt(() => Object.getPrototypeOf(context.sleep).constructor('return process')());
      attempt(() => Reflect.set(api.decimal, 'word', 1));
      attempt(() => Reflect.set(Object.getPrototypeOf(context), 'word', 1));
      attempt(() => Reflect.set(Object.getPrototypeOf(context.client.call), 'word', 1));
    },
  };`,
    `import * as api from 'orrery/strategy';`,
  );
  expect(names).toBe('none');
  const refused = 'Code generation from strings disallowed for this context';
  // The objects that it changes are its own (isolation.test.ts).
  expect(tries).toEqual([refused, refused, 'true', 'true', 'true']);
});

test('console prints numbers and errors as they are, and goes on after a circular object', async () => {
  const log = await logOf(`return { onStart: () => {
    console.log('all', NaN, -Infinity, undefined, null, 10n, true, Symbol('s'));
    console.log('failed:', new RangeError('no price'));
    console.log({ a: NaN, b: [Infinity, 7n], error: new Error('inside'), text: 'NaN' });
    const own = {}; own.own = own;
    console.log(own, { toJSON: () => undefined });
  } };`);
  expect(log).toEqual([
    'all NaN -Infinity undefined null 10 true Symbol(s)',
    'failed: RangeError: no price',
    '{"a":"NaN","b":["Infinity","7"],"error":"Error: inside","text":"NaN"}',
    '[circular] undefined',
  ]);
});

test('random numbers come from the seed', async () => {
  const draw = `return { onStart: () => console.log(Math.random(), Math.random()) };`;
  const first = await logOf(draw);
  expect(first[0]).toMatch(/^0\.\d+ 0\.\d+$/);
  expect(await logOf(draw)).toEqual(first);
});

test('timers run in virtual time', async () => {
  const log = await logOf(`return {
    async onStart(context) {
      const from = context.now();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      console.log('timeout', context.now() - from);
      let ticks = 0;
      await new Promise((resolve) => {
        const id = setInterval(() => { ticks += 1; if (ticks === 3) { clearInterval(id); resolve(null); } }, 500);
      });
      console.log('interval', context.now() - from);
      const never = setTimeout(() => console.log('never'), 100);
      clearTimeout(never);
    },
  };`);
  expect(log).toEqual(['timeout 1500000', 'interval 3000000']);
});

test.each([
  'fetch("http://x")',
  'process.exit()',
  'new WebSocket("ws://x")',
  'crypto.randomUUID()',
  'require("fs")',
])('%s is undefined', async (code) => {
  await expect(logOf(`return { onStart: () => { ${code}; } };`)).rejects.toThrow(
    /is not there for a strategy|a strategy has no platform/,
  );
});

test('a platform module cannot be imported, and the error has the place', async () => {
  await expect(
    bundleStrategy(
      file(
        'return { onStart: () => void readFileSync };',
        "import { readFileSync } from 'node:fs';",
      ),
    ),
  ).rejects.toThrow(/s\d+\.ts:2:\d+: .*node:fs.*a strategy has no platform/);
});

test('a package that is not installed is named, with the command that installs it', async () => {
  const importing = (name: string) =>
    bundleStrategy(file('return { onStart: () => void x };', `import { x } from '${name}';`));
  await expect(importing('no-such-package/part')).rejects.toThrow(
    /s\d+\.ts:2:\d+: .*; install it: npm install no-such-package$/,
  );
  await expect(importing('@no-such/package')).rejects.toThrow(/npm install @no-such\/package$/);
  await expect(importing('./missing.ts')).rejects.toThrow(/"\.\/missing\.ts"$/);
});

test('time and chance are not there before the run', async () => {
  const bundle = await bundleStrategy(file('return {};', 'const at = Date.now(); export { at };'));
  expect(() => loadStrategy(bundle)).toThrow(/before the run starts/);
});

test.each([
  ['export default 5;', 'must export a strategy by default'],
  ['export default { name: "x" };', 'no `create` function'],
  ['export const x = 1;', 'must export a strategy by default'],
  ['export default { name: "x", create() {} };', 'no `parameters`'],
])('%s is rejected with a message', async (text, words) => {
  const path = join(folder, 'wrong.ts');
  writeFileSync(path, text);
  await expect(bundleStrategy(path).then(loadStrategy)).rejects.toThrow(words);
});

test('a file of another kind is no strategy', async () => {
  const path = join(folder, 'notes.md');
  writeFileSync(path, '# Notes\n');
  await expect(bundleStrategy(path)).rejects.toThrow(
    /notes\.md: a strategy is a \.ts or \.js file$/,
  );
});

test('the hash of a bundle does not depend on the folder', async () => {
  const path = file('return {};');
  const other = mkdtempSync(join(tmpdir(), 'orrery-elsewhere-'));
  const copy = join(other, basename(path));
  copyFileSync(path, copy);
  const [one, two] = [await bundleStrategy(path), await bundleStrategy(copy)];
  expect(two.sha256).toBe(one.sha256);
  rmSync(other, { recursive: true });
});

test.each([
  [{ n: '12' }, "parameter 'n' is '12': must be a whole number from 1 to 9"],
  [{ n: 'x' }, "parameter 'n' is 'x': must be a whole number from 1 to 9"],
  [{ m: '1' }, "unknown parameter 'm'; the strategy has n"],
])('%o is rejected with the limits', async (parameters, words) => {
  const plan = planOf([await plannedOf(file('return {};'), parameters)]);
  await expect(executePlan(plan)).rejects.toThrow(words);
});

test('an error of a strategy names it, its handler, the time and the place in its file', async () => {
  expect(await failing(`return { onTrade: () => { throw new RangeError('too far'); } };`)).toMatch(
    /^strategy 'test' failed in onTrade at 2024-08-08 23:54:1\d\.\d{6}: RangeError: too far \(s\d+\.ts:6:\d+\)$/,
  );
  const head = `\nfunction deep(text: string): never {\n  throw new Error(text);\n}`;
  expect(
    await failing(
      `return { async onTrade(_trade, context) { await context.sleep(5); deep('in'); } };`,
      head,
    ),
  ).toMatch(/^strategy 'test' failed in onTrade at \S+ \S+: in \(s\d+\.ts:4:9\)$/);
  expect(await failing(`throw new Error('fast 9 must be below slow 8');`)).toMatch(
    /^strategy 'test' failed in create at \S+ \S+: fast 9 must be below slow 8 \(s\d+\.ts:/,
  );
  expect(await failing(`return null as never;`)).toMatch(
    /failed in create at \S+ \S+: StrategyError: `create` must return an object of handlers$/,
  );
  expect(await failing(`return Promise.resolve({}) as never;`)).toMatch(
    /and not a promise of them$/,
  );
  // A rejection by the exchange has no place in the strategy's file.
  expect(
    await failing(
      `return { async onTrade(_trade, context) { await context.submit({ side: 'buy', size: '0.00001' }); } };`,
    ),
  ).toMatch(/failed in onTrade at \S+ \S+: quantity: must be a multiple of the lot size 0\.001/);
  expect(await failing(`return { onStart: () => { throw 5; } };`)).toMatch(
    /failed in onStart at \S+ \S+: it threw 5, which is not an Error$/,
  );
});

test.each([
  ['{ code: 1 }', 'it threw { code: 1 }, which is not an Error'],
  [
    `{ message: 'no', code: [1, { a: null }] }`,
    'it threw { message: "no", code: [1, { a: null }] }',
  ],
  ['{}', 'it threw {}, which is not an Error'],
  [
    `new (class Refused { reason = 'late'; get gone() { throw 1; } })()`,
    'Refused { reason: "late" }',
  ],
  [`'late'`, 'it threw "late", which is not an Error'],
  ['null', 'it threw null, which is not an Error'],
  ['undefined', 'it threw undefined, which is not an Error'],
  [
    `new Error('no route', { cause: new TypeError('no host') })`,
    'no route (cause: TypeError: no host) (',
  ],
  [`new Error('no route', { cause: { code: 7 } })`, 'no route (cause: { code: 7 }) ('],
  [`new RangeError('far', { cause: 'wind' })`, 'RangeError: far (cause: "wind") ('],
  [`new AggregateError([new Error('a'), 'b'], 'all failed')`, 'all failed (errors: a; "b")'],
] as const)('a strategy that throws %s', async (value, text) => {
  const ways = [
    `return { onStart: () => { throw ${value}; } };`,
    `return { async onTrade(_trade, context) { await context.sleep(5); throw ${value}; } };`,
    `return { onStart: () => Promise.reject(${value}) };`,
    // A promise that no handler awaits.
    `return { onStart: () => { void Promise.reject(${value}); } };`,
  ];
  for (const way of ways) expect(await failing(way)).toContain(text);
  expect(await failing(`throw ${value};`)).toContain(text);
});

test('a trial of a search names what its strategy threw', async () => {
  const body = `if (n === 1) throw { code: 1 };
    return { onStart: () => (n === 2 ? Promise.reject(null) : Promise.reject('late')) };`;
  const plan = planOf([await plannedOf(file(body))], { toUs: RECORDED_FROM_US + 6_000_000 });
  const texts = ['threw { code: 1 }', 'threw null', 'threw "late"'];
  for (const [i, text] of texts.entries()) {
    const trial = await runTrial({
      ...{ plan, parameters: { n: String(i + 1) }, objective: 'sharpe', options: METRICS_DEFAULTS },
    });
    expect(trial?.error).toContain(`it ${text}, which is not an Error`);
  }
});

test('a folder that is a link bundles as its target does', async () => {
  const target = join(folder, 'deep', 'strategies');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(folder, 'deep', 'levels.json'), '[1, 2]');
  const imported = `import levels from '../levels.json';`;
  copyFileSync(file('return { onStart: () => void levels };', imported), join(target, 'linked.ts'));
  const link = join(folder, 'link');
  symlinkSync(target, link);
  const [direct, linked] = [
    await bundleStrategy(join(target, 'linked.ts')),
    await bundleStrategy(join(link, 'linked.ts')),
  ];
  expect(direct.data.map(({ file: name }) => name)).toEqual(['../levels.json']);
  expect(linked).toEqual(direct);
});

test('a refusal that ends a run says what the request had in the field that it names', async () => {
  const order = (fields: string): Promise<string> =>
    failing(`return { async onStart(context) {
      await context.sleep(2_000_000);
      await context.submit({ side: 'buy', size: '0.01', ${fields} });
    } };`);
  expect(await order("price: '60000.123'")).toMatch(
    'price: must be a multiple of the tick size 0.1, got 60000.123; context.market().price(number) makes it one',
  );
  expect(await order("price: '60000', size: '0.01234'")).toMatch(
    'quantity: must be a multiple of the lot size 0.001, got 0.01234; context.market().size(number) makes it one',
  );
  expect(await order("price: '60000', takeProfit: '-1'")).toMatch(
    'takeProfit.triggerPrice: must be positive, got -1',
  );
  // A strategy catches the text of the API.
  const lines = await logOf(`return { async onStart(context) {
    await context.sleep(2_000_000);
    await context.submit({ side: 'buy', size: '0.01', price: '1.23' }).catch((error) => {
      context.log(error.message + Object.keys(error));
    });
  } };`);
  expect(lines).toEqual([
    'price: must be a multiple of the tick size 0.1name,code,status,endpoint',
  ]);
});

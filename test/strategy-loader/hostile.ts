/**
 * Strategies that try to reach the program that runs them. Each `attack` runs in `onStart`, with
 * `context`, and returns what it found; '' or an error if nothing. `host(value)` says whether a
 * value is an object of another realm: no prototype chain in a realm ends elsewhere than in its own
 * `Object.prototype`.
 */
export interface Attack {
  readonly name: string;
  /** Body of an async function of `context`, `update` (a book) and `host`. */
  readonly attack: string;
}

const PREAMBLE = `
const OBJECT = Object.prototype;
const found: string[] = [];
const host = (value: unknown): boolean => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  let link: any = value;
  for (let next = Object.getPrototypeOf(link); next !== null; next = Object.getPrototypeOf(link)) link = next;
  return link !== OBJECT && link !== value;
};
const check = (where: string, value: unknown): void => { if (host(value)) found.push(where); };
const tryIt = (where: string, run: () => unknown): void => {
  try { check(where, run()); } catch (error) { check(where + ' error', error); }
};
`;

/** A strategy file; the API is `api`. */
export const fileOf = (text: string): string => `import * as api from 'orrery/strategy';
import { defineStrategy, integer, type StrategyContext, type BookUpdate } from 'orrery/strategy';
void [api, integer];
${PREAMBLE}${text}`;

/** A strategy file that attacks at the first book, and then logs what it found. */
export const hostileFile = (attack: string): string =>
  fileOf(`async function attack(context: StrategyContext, update: BookUpdate): Promise<void> {
${attack}
}
let attacked = false;
export default defineStrategy({
  name: 'hostile',
  parameters: { n: integer(1, { min: 1, max: 9 }) },
  create: () => ({
    async onBook(update, context) {
      if (attacked) return;
      attacked = true;
      await attack(context, update);
      context.log(found.length === 0 ? 'nothing' : found.slice(0, 5).join('; '));
    },
  }),
});
`);

/** Promises that are rejected near the end of the stack, some by an error of the host. */
const REJECTED = `const dive = (left: number): void => { if (left <= 0) void new Error('x').stack; else dive(left - 1); };
      let depth = 0;
      const measure = (n: number): void => { depth = n; measure(n + 1); };
      await Promise.resolve().then(() => { try { measure(0); } catch { /* the end */ } });
      const rejected: Promise<unknown>[] = [];
      for (let left = depth - 200; left < depth + 10; left++) rejected.push((async () => { await null; dive(left); })());
      for (const one of rejected) one.catch(() => undefined);`;

export const ATTACKS: readonly Attack[] = [
  {
    name: 'the prototype of an array of the context',
    attack: `for (const value of [context.symbols, update.bids, update.asks]) check('array', Object.getPrototypeOf(value));`,
  },
  {
    name: 'constructors of functions of the context',
    attack: `for (const value of [context.now, context.submit, context.client.call, context.random.next, context.market().price]) {
      check('function', value);
      tryIt('compiled', () => (value as any).constructor('return globalThis')());
    }`,
  },
  {
    name: 'a state on a constructor of the context',
    attack: `const shared = Object.getPrototypeOf(context.symbols).constructor;
      if (shared.visits !== undefined) found.push('visits');
      shared.visits = 1;`,
  },
  {
    name: 'a state on the API',
    attack: `for (const value of Object.values(api) as any[]) { if (value.visits) found.push('visits'); value.visits = 1; }`,
  },
  {
    name: 'a state on registered symbols and the realm',
    attack: `const key = Symbol.for('visits'); if ((globalThis as any)[key]) found.push('visits'); (globalThis as any)[key] = 1;`,
  },
  {
    name: 'errors of the context',
    attack: `tryIt('market', () => context.market('NONE'));
      tryIt('timer', () => context.setTimer('a', NaN));
      tryIt('timer of an object', () => context.setTimer({} as any, {} as any));
      tryIt('log', () => context.log({ toString() { throw new Error('x'); } } as any));
      try { await context.client.call('constructor' as any, {} as any); } catch (error) { check('endpoint error', error); }
      tryIt('price', () => context.market().price(NaN));
      for (const bad of [{}, { side: 'buy', size: 'x' }, { side: 'buy', size: Symbol('x') }, null, undefined, 1]) {
        try { check('submit', await context.submit(bad as any)); } catch (error) { check('submit error', error); }
      }
      try { await context.sleep(NaN); } catch (error) { check('sleep error', error); }
      try { await context.client.call('getBook', { symbol: 'NONE' } as any); } catch (error) { check('call error', error); check('its class', (error as any).constructor); }`,
  },
  {
    name: 'promises of the context',
    attack: `const all = [context.sleep(1), context.position(), context.cancel('x').catch((error) => error), context.client.call('getTime', {}), context.client.page('listOrders', { account: context.account, subaccountIndex: 0 } as any)];
      for (const one of all) { check('promise', one); check('value', await one); }`,
  },
  {
    name: 'a getter of a request',
    attack: `const request = { get symbol() { check('receiver', this); return context.symbol; } };
      check('reply', await context.client.call('getBook', request as any));
      const proxy = new Proxy({}, { get(...all) { all.forEach((one) => check('trap', one)); return undefined; },
        ownKeys(...all) { all.forEach((one) => check('keys', one)); return []; },
        getPrototypeOf(...all) { all.forEach((one) => check('proto', one)); return null; } });
      try { await context.client.call('getBook', proxy as any); } catch (error) { check('error', error); }
      try { await context.submit(proxy as any); } catch (error) { check('error', error); }`,
  },
  {
    name: 'call sites through Error.prepareStackTrace',
    attack: `const seen: unknown[] = [];
      const hook = (_error: unknown, sites: any) => { seen.push(sites, ...sites); for (const site of sites) { seen.push(site.getThis(), site.getFunction()); } return 'x'; };
      tryIt('set', () => { (Error as any).prepareStackTrace = hook; });
      tryIt('define', () => Object.defineProperty(Error, 'prepareStackTrace', { value: hook }));
      tryIt('delete', () => { delete (Error as any).prepareStackTrace; (Error as any).prepareStackTrace = hook; });
      void new Error('x').stack;
      if (seen.length > 0) found.push('call sites');`,
  },
  {
    name: 'call sites through another Error',
    attack: `const seen: unknown[] = [];
      const other = { prepareStackTrace: (_error: unknown, sites: any) => { seen.push(sites); return 'x'; } };
      tryIt('set', () => { (globalThis as any).Error = other; });
      tryIt('define', () => Object.defineProperty(globalThis, 'Error', { value: other }));
      tryIt('getter', () => Object.defineProperty(globalThis, 'Error', { get: () => other }));
      tryIt('delete', () => { delete (globalThis as any).Error; (globalThis as any).Error = other; });
      void new TypeError('x').stack;
      if (seen.length > 0) found.push('call sites');`,
  },
  {
    name: 'paths of the machine in a stack',
    attack: `const { stack } = new Error('x');
      if (/[/\\\\]|node:|orrery/.test(String(stack).split('\\n').slice(1).join(''))) found.push(String(stack));`,
  },
  {
    name: 'the end of the stack while a stack is formatted',
    attack: `let hits = 0;
      for (let pad = 0; pad < 40 && found.length === 0; pad++) {
        let left = 40;
        const deep = (): void => {
          try { deep(); } catch (error) { check('direct', error); }
          if ((left -= 1) < 0) return;
          try { void new Error('x').stack; } catch (error) { hits += 1; check('stack', error); check('stack', (error as any).constructor); }
        };
        const fill = (k: number): void => { if (k === 0) deep(); else fill(k - 1); };
        try { fill((pad * 7) % 50); } catch (error) { check('outer', error); }
      }
      if (hits === 0) found.push('no overflow: the attack did not work');`,
  },
  {
    name: 'the end of the stack, caught by patterns and promises',
    attack: `let hits = 0;
      const waits: Promise<unknown>[] = [];
      const prober = (probe: () => void) => {
        for (let pad = 0; pad < 8; pad++) {
          let left = 4000;
          const deep = (): void => { try { deep(); } catch { /* deeper */ } if ((left -= 1) >= 0) probe(); };
          const fill = (k: number): void => { if (k === 0) deep(); else fill(k - 1); };
          try { fill((pad * 7) % 50); } catch { /* the end */ }
        }
      };
      prober(() => { try { void new Error('x').stack; } catch ({ constructor: maker, message = 'none' }) { hits += 1; check('pattern', maker); } });
      prober(() => {
        if (waits.length > 3000) return;
        try { waits.push(new Promise(() => void new Error('x').stack)); } catch { return; }
      });
      const rejected = (where: string) => (error: unknown) => { hits += 1; check(where, error); };
      for (const one of waits) {
        void one.then(undefined, rejected('then'));
        void one.catch(rejected('catch'));
        void one.finally(() => undefined).catch(rejected('finally'));
        void (async () => { try { await one; } catch (error) { check('await', error); } })();
      }
      const few = waits.slice(0, 50);
      void Promise.all(waits).catch(rejected('all'));
      void Promise.race(waits).catch(rejected('race'));
      void Promise.allSettled(few).then((all) => all.forEach((one) => check('settled', (one as any).reason)));
      void Promise.any(few).catch((error) => (error.errors ?? []).forEach((one: unknown) => check('any', one)));
      await context.sleep(1000);
      if (hits === 0) found.push('no overflow: the attack did not work');`,
  },
  {
    name: 'the end of the stack in a reaction, for a class that replaces promises',
    attack: `let hits = 0;
      const one: any = Promise.resolve(1);
      const failed: any = Promise.reject(1);
      const kind = function (this: unknown, run: any) { run(() => undefined, (error: any) => { hits += 1; check('species', error); check('class', error?.constructor); }); };
      one.constructor = failed.constructor = { [Symbol.species]: kind };
      const dive = (left: number): void => { if (left <= 0) void new Error('x').stack; else dive(left - 1); };
      let depth = 0;
      const measure = (n: number): void => { depth = n; measure(n + 1); };
      await Promise.resolve().then(() => { try { measure(0); } catch { /* the end */ } });
      for (let left = depth - 80; left < depth + 10; left++) {
        one.then(() => dive(left));
        failed.then(undefined, () => dive(left));
        one.finally(() => dive(left));
      }
      await context.sleep(1000);
      if (hits === 0) found.push('no error: the attack did not work');`,
  },
  {
    name: 'the end of the stack in an asynchronous function, for a class without a reaction',
    attack: `let hits = 0;
      ${REJECTED}
      const kind = function (this: unknown, run: any) { run(() => undefined, (error: any) => { hits += 1; check('species', error); check('class', error?.constructor); }); };
      for (const one of rejected as any[]) {
        one.constructor = { [Symbol.species]: kind };
        one.then();
        one.then(null, null);
        one.then(() => undefined);
        one.then(undefined, 'no function');
      }
      await context.sleep(1000);
      if (hits === 0) found.push('no error: the attack did not work');`,
  },
  {
    name: 'a failure that an asynchronous generator awaits in return',
    attack: `let hits = 0;
      ${REJECTED}
      const given = (value: any) => ({ value, done: false });
      const noted = (error: any) => { hits += 1; check('throw', error); check('class', error?.constructor); return { value: 0, done: true }; };
      const late: any = { [Symbol.asyncIterator]: () => late, next: async () => given(1), throw: async (error: any) => noted(error), return: async (error: any) => noted(error) };
      const plain: any = { [Symbol.iterator]: () => plain, next: () => given(1), throw: noted, return: noted };
      const failing = (left: number): any => ({ get then() { dive(left); return undefined; } });
      for (const [i, one] of (rejected as any[]).entries()) {
        for (const inner of [late, plain]) {
          for (const value of [one, failing(depth - 200 + i)]) {
            const open = (async function* () { yield* inner; })();
            await open.next();
            await open.return(value).catch((error: unknown) => check('rejected', error));
          }
        }
        const replaced = (async function* () { yield* late; })();
        await replaced.next();
        Object.defineProperty(Promise.prototype, 'constructor', { configurable: true, get() { dive(depth - 200 + i); return Promise; } });
        const ended = (async () => { try { await replaced.return(Promise.resolve(1)); } catch (error) { check('caught', error); } })();
        Object.defineProperty(Promise.prototype, 'constructor', { configurable: true, writable: true, value: Promise });
        await ended;
      }
      if (hits === 0) found.push('no error: the attack did not work');`,
  },
  {
    name: 'the end of the stack in functions of Promise, for a class of the strategy',
    attack: `let hits = 0;
      class Own { constructor(run: any) { run(() => undefined, (error: any) => { hits += 1; check('reject', error); check('class', error?.constructor); }); } static resolve(value: any) { return value; } }
      const dive = (left: number): void => { if (left <= 0) void new Error('x').stack; else dive(left - 1); };
      const each = { [Symbol.iterator]() { return { next: () => { dive(left); return { done: true }; } }; } };
      let depth = 0;
      const measure = (n: number): void => { depth = n; measure(n + 1); };
      try { measure(0); } catch { /* the end */ }
      let left = 0;
      for (left = depth - 80; left < depth + 10; left++) {
        for (const name of ['all', 'race', 'any', 'allSettled', 'try']) {
          const run = (Promise as any)[name];
          if (run !== undefined) run.call(Own, name === 'try' ? () => dive(left) : each);
        }
      }
      await context.sleep(1000);
      if (hits === 0) found.push('no error: the attack did not work');`,
  },
  {
    name: 'errors that are handed on by generators and asynchronous iterators',
    attack: `const waits: Promise<unknown>[] = [];
      const dive = (left: number): void => { if (left <= 0) void new Error('x').stack; else dive(left - 1); };
      let depth = 0;
      const measure = (n: number): void => { depth = n; measure(n + 1); };
      try { measure(0); } catch { /* the end */ }
      for (let left = depth - 80; left < depth + 10; left++) {
        const finish = function* () { try { yield 1; } finally { dive(left); } };
        const open = finish();
        open.next();
        tryIt('return', () => open.return(undefined as any));
        try { for (const _one of finish()) throw new TypeError('x'); } catch (error) { check('close', error); }
        const later = (async function* () { yield* [1]; dive(left); })();
        waits.push(later.next(), later.next(), later.return(undefined as any));
        if (left % 9 === 0) waits.push((async () => { for await (const _one of finish()) break; })());
      }
      for (const one of await Promise.allSettled(waits)) check('settled', (one as any).reason);`,
  },
  {
    name: 'the end of the stack in functions of the context',
    attack: `let hits = 0;
      const calls: (() => unknown)[] = [() => context.now(), () => context.market(), () => context.random.state(), () => context.log('x'),
        () => context.warmingUp, () => Math.random(), () => Date.now(), () => context.nextNonce(), () => void context.position().catch((error) => check('reply', error))];
      for (const call of calls) {
        let left = 30;
        const deep = (): void => {
          try { deep(); } catch (error) { check('deep', error); }
          if (left <= 0) return;
          try { check('value', call()); } catch (error) { left -= 1; hits += 1; check('error', error); check('class', (error as any).constructor); }
        };
        try { deep(); } catch (error) { check('outer', error); }
      }
      await context.sleep(10_000_000);
      if (hits === 0) found.push('no overflow: the attack did not work');`,
  },
  {
    name: 'callers of a function',
    attack: `function sloppy(this: unknown) { return [(() => { try { return (sloppy as any).caller; } catch { return null; } })(), this]; }
      for (const one of sloppy()) check('caller', one);
      tryIt('arguments', function (this: unknown) { return (arguments as any).callee; });
      tryIt('this', new Map([[1, function (this: unknown) { return this; }]]).get(1) as () => unknown);`,
  },
  {
    name: 'built-in functions replaced by ones that record',
    attack: `const Objects = Object;
      const record = (owner: any, name: PropertyKey, where: string) => {
        const old = Objects.getOwnPropertyDescriptor(owner, name)?.value;
        if (typeof old !== 'function') return;
        try { owner[name] = function (this: unknown, ...args: unknown[]) {
          if (!busy) { busy = true; check(where + ' this', this); args.forEach((one) => check(where, one)); busy = false; }
          return new.target === undefined ? Reflect.apply(old, this, args) : Reflect.construct(old, args, new.target);
        }; } catch { /* not writable */ }
      };
      let busy = false;
      for (const owner of [Array.prototype, Map.prototype, Set.prototype, Promise.prototype, String.prototype, Function.prototype, Reflect, JSON, Object, Promise, Array, Math, Number]) {
        for (const name of Objects.getOwnPropertyNames(owner)) {
          if (['constructor', 'getPrototypeOf', 'apply', 'construct', 'call', 'push', 'forEach', 'getOwnPropertyNames'].includes(name)) continue;
          record(owner, name, name);
        }
      }
      record(Array.prototype, Symbol.iterator, 'iterator');
      await context.sleep(1);
      try { await context.submit({ side: 'buy', size: '0.01', price: '1' }); } catch (error) { check('error', error); }
      try { context.market(); context.setTimer('x', 5); await context.position(); } catch (error) { check('error', error); }`,
  },
  {
    name: 'setters on the prototype of all objects',
    attack: `for (const name of ['price', 'size', 'symbol', 'parameters', 'resolve', 'reject', '0', 'value', 'then', 'get', 'set', 'cause', 'stack']) {
        try { Object.defineProperty(Object.prototype, name, { configurable: true, get() { check(name, this); return undefined; }, set(value) { check(name + ' this', this); check(name, value); } }); } catch { /* exists */ }
      }
      try { await context.client.call('getBook', { symbol: 'NONE' } as any); } catch (error) { check('error', error); }
      try { await context.sleep(1); } catch (error) { check('error', error); }`,
  },
  {
    name: 'globals of the platform',
    attack: `for (const name of ['process', 'require', 'fetch', 'Buffer', 'global', 'structuredClone', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'DisposableStack', 'AsyncDisposableStack', 'SuppressedError', 'ShadowRealm', 'gc', 'URL', 'TextEncoder', 'MessageChannel']) {
        tryIt(name, () => (globalThis as any)[name]);
        const own = Object.getOwnPropertyDescriptor(globalThis, name);
        if (own !== undefined && 'value' in own && own.value !== undefined) found.push(name);
      }`,
  },
  {
    name: 'the object behind the global object',
    attack: `let behind: any = null;
      Object.defineProperty(globalThis, 'peek', { configurable: true, get() { behind = this; return 1; } });
      void (globalThis as any).peek;
      check('behind', behind);
      if (behind !== null) for (const key of Reflect.ownKeys(behind)) tryIt('behind ' + String(key), () => behind[key]);`,
  },
  {
    name: 'functions that compile text',
    attack: `for (const maker of [Function, Object.getPrototypeOf(async () => 1).constructor, Object.getPrototypeOf(function* () {}).constructor]) {
        try { maker('return 1')(); found.push('compiled'); } catch (error) { check('error', error); }
      }
      try { (0, eval)('1'); found.push('eval'); } catch (error) { check('error', error); }
      try { (setTimeout as any)('found.push("text")', 1e9); } catch (error) { check('error', error); }`,
  },
  {
    name: 'species and thenables',
    attack: `class Own extends Promise<unknown> { static get [Symbol.species]() { return function (executor: any) { executor((...args: unknown[]) => args.forEach((one) => check('resolve', one)), (...args: unknown[]) => args.forEach((one) => check('reject', one))); return this; } as any; } }
      (Promise.prototype as any).constructor = Own;
      const then = { then(resolve: any, reject: any) { check('resolve', resolve); check('reject', reject); resolve(1); } };
      await then;
      try { await context.position(); } catch (error) { check('error', error); }`,
  },
  {
    name: 'the stack of errors of the API',
    attack: `try { await context.client.call('getBook', { symbol: 'NONE' } as any); } catch (error) {
        for (const key of Reflect.ownKeys(error as object)) check(String(key), (error as any)[key]);
        if (/virtual-client|strategy-run|node:|src\\/|dist\\//.test(String((error as any).stack))) found.push('paths');
      }`,
  },
  {
    name: 'the random stream and its state',
    attack: `check('random', context.random); check('state', context.random.state());
      const state: any = context.random.state(); const first = context.random.next();
      if (typeof state === 'object') for (const key of Object.keys(state)) state[key] = 0;
      if (context.random.next() === first) found.push('the stream was rewound');`,
  },
  {
    name: 'a log of objects that convert themselves',
    attack: `console.log({ toJSON(...all: unknown[]) { all.forEach((one) => check('json', one)); return 1; } });
      console.log({ [Symbol.for('nodejs.util.inspect.custom')](...all: unknown[]) { all.forEach((one) => check('inspect', one)); return 'x'; } });
      tryIt('log', () => context.log({ [Symbol.toPrimitive](...all: unknown[]) { all.forEach((one) => check('primitive', one)); return 'x'; } } as any));`,
  },
  {
    name: 'frozen and sealed objects through Object.freeze',
    attack: `const seen: unknown[] = []; const old = Object.freeze;
      (Object as any).freeze = (value: any) => { seen.push(value); return old(value); };
      await context.sleep(1_000_000);
      seen.forEach((one) => check('frozen', one));`,
  },
];

/** Attacks that are refused before they run, with the message. */
export const REFUSED: readonly (Attack & { readonly message: string })[] = [
  {
    name: 'import() of a computed name',
    attack: `const name = ['f', 's'].join(''); check('module', await import(name));`,
    message: 'a strategy cannot import while it runs',
  },
  {
    name: 'import() of a module of the platform',
    attack: `check('module', await import('node:fs'));`,
    message: 'a strategy has no platform',
  },
  {
    name: 'require of a computed name',
    attack: `const name = ['f', 's'].join(''); (require as any)(name);`,
    message: 'cannot be imported by a strategy',
  },
  {
    name: 'a filter of errors of its own name',
    attack: `(globalThis as any).$filter = (error: unknown) => error; try { null!.x; } catch (error) { throw error; }`,
    message: 'Cannot read properties of null',
  },
];

/** Walks everything that is reachable from `roots`; adds the paths of host objects to `found`. */
export const WALK = `
const roots: [string, any][] = [];
const see = (where: string, value: unknown): unknown => { roots.push([where, value]); return value; };
const walk = (): number => {
  const seen = new Set<unknown>();
  while (roots.length > 0) {
    const [where, value] = roots.pop()!;
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
    if (value === roots || value === seen || value === found) continue;
    seen.add(value);
    check(where, value);
    const proto = Object.getPrototypeOf(value);
    roots.push([where + '.[[Prototype]]', proto]);
    for (const key of Reflect.ownKeys(value)) {
      const { get, set, value: held } = Object.getOwnPropertyDescriptor(value, key)!;
      const path = where + '.' + String(key);
      roots.push([path, held], [path + '.get', get], [path + '.set', set]);
      if (get !== undefined) { try { roots.push([path, value[key]]); } catch (error) { roots.push([path + '!', error]); } }
    }
    if (value instanceof Map || value instanceof Set) for (const item of value) roots.push([where + '[]', item]);
  }
  return seen.size;
};
`;

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePredicate } from '../../src/time-machine/expression/compile.ts';
import { ExpressionError } from '../../src/time-machine/expression/expression-error.ts';
import { rational } from '../../src/time-machine/expression/rational.ts';
import { MAX_STEPS } from '../../src/time-machine/expression/steps.ts';
import { FIELDS, LOOKUPS, NAMES } from '../../src/time-machine/expression/value-types.ts';
import type { RecordValue, Scope, Value } from '../../src/time-machine/expression/values.ts';
import { EFFORT } from '../setup/effort.ts';

const record = (fields: Readonly<Record<string, Value>>): RecordValue => ({
  record: 'account',
  get: (field) => (Object.hasOwn(fields, field) ? (fields[field] ?? null) : null),
});
const money = (cents: number): Value => rational(BigInt(cents), 100n);
const rich = record({
  name: 'u1',
  equity: money(12_001),
  maintenance: money(10_000),
  system: false,
});
const poor = record({
  name: 'u2',
  equity: money(12_000),
  maintenance: money(10_000),
  system: true,
});

const scope: Scope = {
  name: (name) => {
    if (name === 'accounts') return [rich, poor];
    if (name === 'events') return [];
    return name === 'seq' ? rational(7n) : null;
  },
  lookup: (kind, key) =>
    kind === 'account' ? (key === 'u1' ? rich : key === 'u2' ? poor : null) : null,
};
const test = (text: string): boolean => compilePredicate(text).test(scope);

describe('expressions', () => {
  it.each([
    ['account(u1).equity < 1.2 * account(u1).maintenance', false],
    ['account(u2).equity < 1.2 * account(u2).maintenance', false],
    ['account("u2").equity <= 1.2 * account(u2).maintenance', true],
    ['account(u1).equity - account(u2).equity == 0.01', true],
    ['0.1 + 0.2 == 0.3', true],
    ['1 / 3 * 3 === 1', true],
    ['1e2 == 100 && 1_000 != 1001 && 2.50 == 2.5', true],
    ['9007199254740993 == 9007199254740992', false],
    ['accounts.some(a => a.equity > 120)', true],
    ['accounts.every(a => a.equity > 120)', false],
    ['accounts.filter(a => a.system).length == 1', true],
    ['sum(accounts.map(a => a.equity)) == 240.01', true],
    ['accounts.some(a => accounts.some(b => a.equity > b.equity))', true],
    ['min(3, 2, 5) == 2 && max(3, 2) == 3 && abs(-2) == 2', true],
    ['seq > 6 ? !false : false', true],
    // An unknown account, a division by 0: unknown, and no comparison with it holds.
    ['account("absent").equity < 5', false],
    ['account("absent").equity >= 5', false],
    ['account("absent").equity == null', true],
    ['1 / 0 > 1', false],
    ['(account("absent").equity ?? 3) == 3', true],
    ['-1 < 0 && +1 > 0', true],
    ['account("absent") == null && account(u1) != null', true],
    ['(account("absent") ?? account(u2)).equity == 120', true],
    ["outcome == 'ok'", false],
    ["events.some(e => (e.reason ?? 'none') == 'none')", false],
    ["events.some(e => (seq > 1 ? e.kind : e.reason) == 'deposit')", false],
  ])('%s is %s', (text, expected) => {
    expect(test(text)).toBe(expected);
  });

  it.each([
    ['', 1, 'Unexpected token'],
    ['1 + ', 5, 'Unexpected token'],
    ['seq', 1, 'must be true or false, this is a number'],
    ['seq > 1 seq', 9, 'the expression has ended'],
    ['account(u1).equty > 1', 13, "no field 'equty'; it has"],
    ['acount(u1).equity > 1', 1, "unknown function 'acount'"],
    ['account(zz).equity > 1', 9, "unknown name 'zz'"],
    ['account(u1) > 1', 1, 'must be a number, is an account'],
    ['"a" < "b"', 1, 'must be a number, is a text'],
    ['1 && true', 1, 'must be a boolean'],
    ['seq == "1"', 1, 'never equals'],
    ["events.some(e => e.kind == 'orderFiled')", 28, 'did you mean "orderFilled"?'],
    ["events.some(e => 'liquidation' != e.kind)", 18, "never 'liquidation'; it is one of order"],
    ["events.some(e => e.step == 'take-over')", 28, 'did you mean "takeover"?'],
    ["events.some(e => e.reason == 'Funding')", 30, 'did you mean "funding"?'],
    ['events.some(e => e.cause == u1)', 29, "never 'u1'"],
    ["command.kind == 'placeorder'", 17, 'did you mean "placeOrder"?'],
    ["outcome == 'nonce_usd'", 12, 'did you mean "nonce_used"?'],
    ["markets.every(m => m.status == 'opened')", 32, 'did you mean "open"?'],
    ["violations.some(v => v.invariant == 'conversation')", 37, '"conservation"'],
    ["account(u1).orders.some(o => o.status == 'canceled')", 42, '"cancelled"'],
    ['(seq > 1 ? account(u1) : market(0)).equity > 1', 2, 'both results of ?: must have the same'],
    ['(account(u1) ?? order(1)).equity > 1', 2, 'both sides of ?? must have the same'],
    ['(seq > 1 ? accounts : markets).some(a => a.equity > 1)', 2, 'both results of ?:'],
    [
      'account(u1) == account(u1)',
      1,
      'an account never equals an account; compare a field of both',
    ],
    ['account(u1) != market(0)', 1, 'an account never equals a market'],
    ['accounts == accounts', 1, 'a list never equals a list'],
    ['null == accounts', 1, 'null never equals a list'],
    ['account(u1)["equity"] > 1', 1, 'with a dot'],
    ['account(u1)?.equity > 1', 1, 'not part of expressions'],
    ['account(u1).constructor == 1', 13, "no field 'constructor'"],
    ['account(u1).__proto__ == 1', 13, "no field '__proto__'"],
    ['accounts.constructor == 1', 10, "has no field 'constructor'"],
    ['constructor == 1', 1, "unknown name 'constructor'"],
    ['toString() == 1', 1, "unknown function 'toString'"],
    ['this.process == 1', 1, 'not part'],
    ['globalThis == 1', 1, 'unknown name'],
    ['import("fs") == 1', 1, 'not part'],
    ['new Function("return 1")() == 1', 1, 'only functions'],
    ['eval("1") == 1', 1, "unknown function 'eval'"],
    ['(() => true)()', 2, 'only functions'],
    ['accounts.some(function (a) { return true })', 1, 'takes one arrow'],
    ['accounts.some(a => { for (;;) ; })', 15, 'arrow function has'],
    ['accounts.some(async a => true)', 15, 'arrow function has'],
    ['accounts.reduce(a => true)', 10, "no function 'reduce'"],
    ['seq = 1', 1, 'not part'],
    ['seq++ > 1', 1, 'not part'],
    ['delete seq', 1, "'delete' is not part"],
    ['typeof seq == "x"', 1, "'typeof' is not part"],
    ['seq ** 99999 > 1', 1, "'**' is not part"],
    ['`${seq}` == "1"', 1, 'not part'],
    ['/(a+)+$/ == 1', 1, 'is not a number'],
    ['0x10 == 16', 1, 'is not a number'],
    ['1e999 == 1', 1, 'is not a number'],
    ['[1, 2].length == 2', 1, 'not part'],
    ['({}).a == 1', 2, 'not part'],
    [`${'('.repeat(100)}true${')'.repeat(100)}`, 61, 'nested too deeply'],
    [`${'!'.repeat(100)}true`, 61, 'nested too deeply'],
    [`true ${'&& true'.repeat(500)}`, 2001, 'at most 2000 characters'],
  ])('refuses %s at column %i', (text, column, message) => {
    let error: unknown = null;
    try {
      compilePredicate(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ExpressionError);
    const { position, message: found } = error as ExpressionError;
    expect(found).toContain(message);
    expect(position + 1).toBe(column);
  });

  it('counts operations on long numbers as many steps', () => {
    let seed = 1n;
    const many = Array.from({ length: 400 }, () => {
      seed = BigInt.asUintN(50, seed * 6_364_136_223_846_793_005n + 1n);
      return record({ equity: rational(seed, 1_000_000n) });
    });
    const of = (accounts: readonly Value[]): Scope => ({ ...scope, name: () => accounts });
    const ratios = compilePredicate('sum(accounts.map((a) => 1 / a.equity)) > 0');
    expect(ratios.test(of(many.slice(0, 50)))).toBe(true);
    expect(() => ratios.test(of(many))).toThrow(`more than ${String(MAX_STEPS)} steps`);
    const difference = `${'('.repeat(50)}1 / 7${' * seq) + 1 / 3'.repeat(50)} > 0`;
    expect(test(difference)).toBe(true);
  });

  it('stops an evaluation that takes too many steps', () => {
    const many: Scope = { ...scope, name: () => new Array<Value>(2000).fill(rich) };
    const { test: run } = compilePredicate(
      'accounts.every(a => accounts.every(b => a.equity >= b.equity))',
    );
    expect(() => run(many)).toThrow(`more than ${String(MAX_STEPS)} steps`);
  });

  it('takes names of the caller as constants', () => {
    const { test: run } = compilePredicate('account(selected).equity == 120 && limit == 5', {
      names: { selected: 'u2', limit: 5 },
    });
    expect(run(scope)).toBe(true);
    expect(() => compilePredicate('x > 1', { names: { x: 0.5 } })).toThrow('not a whole number');
  });

  it('either compiles or refuses hostile text, and never touches anything else', () => {
    const words = [
      ...Object.keys(NAMES),
      ...Object.keys(LOOKUPS),
      ...Object.keys(FIELDS.account),
      ...['constructor', '__proto__', 'prototype', 'globalThis', 'process', 'this', 'a', 'u1'],
      ...['=>', '(', ')', '.', '[', ']', '{', '}', ',', '+', '-', '*', '/', '<', '>', '==', '!'],
      ...['&&', '||', '??', '?', ':', '?.', '...', '`', '"', "'", ';', '=', '1', '0.5', '\\u0061'],
      ...['some', 'map', 'length', 'function', 'async', 'await', 'yield', 'new', 'eval', 'import'],
    ];
    const text = fc.oneof(
      fc.string({ maxLength: 60, unit: 'binary' }),
      fc.array(fc.constantFrom(...words), { maxLength: 14 }).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        try {
          expect(typeof compilePredicate(candidate).test(scope)).toBe('boolean');
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
        }
      }),
      { numRuns: 3000 * EFFORT },
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

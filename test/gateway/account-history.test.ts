/**
 * The history of accounts in random worlds: equity at the end of each minute is what the engine
 * answered then, entries are those of the events, and a replay or a lost command changes nothing.
 */
import { expect, test, vi } from 'vitest';
import { HISTORY_LISTS } from '../../src/contract/history-lists.ts';
import type { Command } from '../../src/engine/commands.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { CommandGenerator } from '../../src/fuzz/generator.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import { AccountHistory } from '../../src/gateway/account-history.ts';
import { money } from '../../src/gateway/encode.ts';
import { historyTotals, readHistory } from '../../src/gateway/history-requests.ts';
import { KeptEntries, KeptTotal } from '../../src/gateway/kept-entries.ts';
import { TrustOrderIds } from '../../src/gateway/order-ids.ts';
import type { Page } from '../../src/gateway/paging.ts';
import { seq as seqOf, timeUs, type Address, type SubaccountId } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const MINUTE_US = 60_000_000;
const COMMANDS = 2000;

type Take = (history: AccountHistory, event: EngineEvent) => void;
const faithful: Take = (history, event) => {
  history.take(event);
};

class Lived {
  readonly engine: Exchange;
  readonly history: AccountHistory;
  readonly commands: Command[] = [];
  readonly events: EngineEvent[] = [];
  /** Equity that the engine answered at the end of a minute, by time in ms. */
  readonly equity = new Map<SubaccountId, Map<number, string>>();
  readonly users: readonly Address[];

  constructor(seed: string, take = faithful) {
    const profile = drawProfile(seed, { name: 'stress', commands: COMMANDS });
    const setup = setUp(profile);
    this.users = setup.users;
    this.engine = new Exchange(setup.config);
    this.history = new AccountHistory(this.engine, () => 0);
    const generator = new CommandGenerator(profile, this.engine, setup);
    const apply = (command: Command): void => {
      this.commands.push(command);
      this.engine.apply(command, (event) => {
        generator.observe(event);
        this.events.push(event);
        take(this.history, event);
      });
    };
    for (let next = generator.next(); next !== null; next = generator.next()) {
      const minute = Math.floor(next.timeUs / MINUTE_US);
      if (minute > Math.floor(this.engine.nowUs / MINUTE_US)) {
        const endUs = minute * MINUTE_US;
        apply({ kind: 'advanceTime', timeUs: timeUs(endUs - 1) });
        this.sample(endUs / 1000);
      }
      apply(next);
    }
  }

  private sample(endMs: number): void {
    for (const user of this.users) {
      for (const { id } of this.engine.subaccountsOf(user)) {
        const known = this.equity.get(id) ?? new Map<number, string>();
        known.set(endMs, money(this.engine.margin(id).accountValueQuanta));
        this.equity.set(id, known);
      }
    }
  }

  /** All pages of a list. */
  read<T>(
    list: keyof typeof HISTORY_LISTS,
    id: SubaccountId,
    query: object = {},
    history = this.history,
  ): T[] {
    const { account, index } = this.engine.subaccount(id);
    const address = this.engine.addressOf(account);
    const found: T[] = [];
    let cursor: string | null = null;
    do {
      const input: object = {
        ...{ account: address, subaccountIndex: String(index), limit: '7' },
        ...query,
        ...(cursor === null ? {} : { cursor }),
      };
      const page: Page = readHistory({ ...this.context, history }, list, input, {
        account: address,
        signer: address,
      });
      found.push(...(page.body as T[]));
      cursor = page.next;
    } while (cursor !== null);
    return found;
  }

  get context() {
    const { engine, history } = this;
    return { engine, history, keccak, ids: new TrustOrderIds(engine, keccak) };
  }

  /** Minutes in which the history differs from the engine. */
  differences(): { readonly wrong: number; readonly checked: number } {
    let wrong = 0;
    let checked = 0;
    for (const [id, expected] of this.equity) {
      const points = this.read<{ time: number; equity: string }>('equity', id, { limit: '1000' });
      const found = new Map(points.map(({ time, equity }) => [time, equity]));
      for (const [ms, equity] of expected) {
        checked += 1;
        if (found.get(ms) !== equity) wrong += 1;
      }
    }
    return { wrong, checked };
  }
}

const SEEDS = ['history-a', 'history-b', 'history-c', 'history-d'];
const worlds = SEEDS.map((seed) => new Lived(seed));

test('equity at the end of each minute is that of the engine', () => {
  let all = 0;
  for (const world of worlds) {
    const { wrong, checked } = world.differences();
    expect(wrong).toBe(0);
    all += checked;
  }
  expect(all).toBeGreaterThan(100);
  // A history that misses one kind of event is noticed.
  for (const kind of ['positionChanged', 'balanceChanged', 'markChanged']) {
    const broken = new Lived('history-a', (history, event) => {
      if (event.kind !== kind) history.take(event);
    });
    expect(broken.differences().wrong, kind).toBeGreaterThan(0);
  }
});

test('fills, funding and liquidations are those of the events, page by page', () => {
  const seen = { fills: 0, funding: 0, liquidations: 0 };
  for (const world of worlds) {
    for (const id of world.equity.keys()) {
      const own = world.events.filter((event) => 'subaccount' in event && event.subaccount === id);
      const transfers = world.events.filter(
        (event) => event.kind === 'positionTransferred' && (event.from === id || event.to === id),
      );
      const fills = world.read<{ fee: string }>('fills', id);
      const filled = own.filter(({ kind }) => kind === 'orderFilled');
      expect(fills).toHaveLength(filled.length + transfers.length);
      const paid = own.flatMap((event) =>
        (event.kind === 'balanceChanged' || event.kind === 'isolatedMarginChanged') &&
        event.reason === 'funding'
          ? [event.deltaQuanta]
          : [],
      );
      const funding = world.read<{ amount: string }>('funding', id);
      expect(funding.map(({ amount }) => amount)).toEqual(paid.map(money).toReversed());
      const steps = own.filter(
        (event) => event.kind === 'liquidationStep' && event.step !== 'safe',
      );
      const liquidations = world.read<object>('liquidations', id);
      expect(liquidations).toHaveLength(steps.length + transfers.length);
      const { account, index } = world.engine.subaccount(id);
      const at = { account: world.engine.addressOf(account), subaccountIndex: String(index) };
      const totals = historyTotals(world.context, at, {
        account: at.account,
        signer: at.account,
      });
      const sum = (values: readonly bigint[]): string => money(values.reduce((a, b) => a + b, 0n));
      expect(totals.since).toBeNull();
      expect(totals.fills).toBe(fills.length);
      expect(totals.funding).toBe(sum(paid));
      expect(totals.fees).toBe(
        sum(
          filled.flatMap((event) =>
            event.kind === 'orderFilled' ? [event.feeQuanta + event.originatorFeeQuanta] : [],
          ),
        ),
      );
      seen.fills += fills.length;
      seen.funding += funding.length;
      seen.liquidations += liquidations.length;
    }
  }
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(5);
});

test('a replay has the same history, and lost commands leave none', () => {
  const [world] = worlds;
  if (world === undefined) throw new Error('no world');
  const { history, engine, commands } = world;
  const text = (): string =>
    JSON.stringify(
      [...world.equity.keys()].map((id) => [
        ...world.read('equity', id),
        ...world.read('fills', id),
        ...world.read('funding', id),
        ...world.read('liquidations', id),
        history.of(id)?.totals.fills,
        String(history.of(id)?.totals.feesQuanta),
      ]),
    );
  const before = text();
  history.rebuild((sink) => {
    const again = new Exchange(engine.config);
    for (const command of commands) again.apply(command, sink);
  });
  expect(text()).toBe(before);
  // Half of the commands are lost; afterwards they are applied again.
  const half = Math.floor(commands.length / 2);
  const earlier = new Exchange(engine.config);
  for (const command of commands.slice(0, half)) earlier.apply(command);
  history.reset(earlier);
  const [id = 0 as SubaccountId] = world.equity.keys();
  expect(history.of(id)?.fills.items.every(({ seq }) => seq <= earlier.seq)).toBe(true);
  for (const command of commands.slice(half)) {
    earlier.apply(command, (event) => {
      history.take(event);
    });
  }
  expect(text()).toBe(before);
  // A reset that loses nothing, as after a failure of the disk between requests.
  history.reset(earlier);
  expect(text()).toBe(before);
});

test('a loss of more entries than a list keeps leaves no part of them in the sums', () => {
  const [world] = worlds;
  const fill = world?.events.find((event) => event.kind === 'orderFilled');
  if (world === undefined || fill === undefined) throw new Error('no fill');
  const { engine } = world;
  const history = new AccountHistory(engine, () => engine.seq);
  const totals = () => ({ ...history.of(fill.subaccount)?.totals });
  history.take({ ...fill, seq: engine.seq });
  const before = totals();
  expect(before.fills).toBe(1);
  // More than its list keeps, so that the first of them are dropped.
  for (let i = 0; i < 5000; i++) history.take({ ...fill, seq: seqOf(engine.seq + 1) });
  expect(totals().fills).toBe(5001);
  history.reset(engine);
  expect(totals()).toEqual(before);
});

test('a history that begins with a later state says since when', () => {
  const [world] = worlds;
  if (world === undefined) throw new Error('no world');
  const late = new AccountHistory(world.engine, () => world.engine.seq);
  expect(late.sinceUs).toBe(world.engine.nowUs);
  const [id = 0 as SubaccountId] = world.equity.keys();
  const { account, index } = world.engine.subaccount(id);
  const address = world.engine.addressOf(account);
  const input = { account: address, subaccountIndex: String(index), from: '1' };
  const context = { ...world.context, history: late };
  const caller = { account: address, signer: address };
  const page = readHistory(context, 'equity', input, caller);
  expect(page.body).toEqual([]);
  expect(page.keptSinceMs).toBe(Math.floor(world.engine.nowUs / 1000));
});

test('a history that begins later has the equity of one from the start', () => {
  let compared = 0;
  for (const world of worlds) {
    const { commands, engine, equity } = world;
    const half = Math.floor(commands.length / 2);
    const again = new Exchange(engine.config);
    for (const command of commands.slice(0, half)) again.apply(command);
    const reads = vi.spyOn(again, 'subaccount');
    const late = new AccountHistory(again, () => again.seq);
    const holders = new Set(again.markets().flatMap(({ id }) => [...again.holdersOf(id)]));
    // An account without a position is not read before its first event.
    const systems =
      1 +
      Array.from({ length: again.subaccountCount }).findIndex(
        (_, id) => !engine.subaccount(id as SubaccountId).system,
      );
    expect(reads.mock.calls.length).toBeLessThanOrEqual(2 * holders.size + systems);
    reads.mockRestore();
    const sinceMs = Math.floor((late.sinceUs ?? 0) / 1000) + 1;
    for (const command of commands.slice(half)) {
      again.apply(command, (event) => {
        late.take(event);
      });
    }
    for (const id of equity.keys()) {
      const query = { from: String(sinceMs), limit: '1000' };
      const points = world.read('equity', id, query, late);
      expect(points).toEqual(world.read('equity', id, query));
      compared += points.length;
    }
  }
  expect(compared).toBeGreaterThan(50);
});

test('equity whose earlier states were all dropped begins with the last change', () => {
  const [world] = worlds.slice(-1);
  if (world === undefined) throw new Error('no world');
  const { engine, history, equity } = world;
  const changedUs = (one: SubaccountId): number => history.of(one)?.now?.timeUs ?? 0;
  const [id = 0 as SubaccountId] = [...equity.keys()].filter(
    (one) => (history.of(one)?.states.items.length ?? 0) > 0,
  );
  const states = history.of(id)?.states;
  while (states?.dropOldest() !== undefined);
  const { account, index } = engine.subaccount(id);
  const address = engine.addressOf(account);
  const input = { account: address, subaccountIndex: String(index), from: '1', limit: '1000' };
  const page = readHistory(world.context, 'equity', input, { account: address, signer: address });
  expect(page.keptSinceMs).toBe(Math.floor(changedUs(id) / 1000));
});

test('lists are bounded each and together, and the oldest entry leaves first', () => {
  const total = new KeptTotal(10);
  const [a, b] = [new KeptEntries(4), new KeptEntries(100)];
  const at = (seq: number) => ({ timeUs: seq, seq });
  for (let seq = 1; seq <= 6; seq++) total.add(a, at(seq));
  expect(a.items.map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
  expect(a.keptSinceUs).toBe(3);
  for (let seq = 7; seq <= 14; seq++) total.add(b, at(seq));
  // Entries 1 to 4 are the oldest of 14; two of them had left already.
  expect(a.items.map(({ seq }) => seq)).toEqual([5, 6]);
  expect(b.keptSinceUs).toBeNull();
  expect(total.cut(b, 12).map(({ seq }) => seq)).toEqual([13, 14]);
  for (let seq = 15; seq <= 100; seq++) total.add(b, at(seq));
  expect(a.items).toEqual([]);
  // Just after the last that was dropped.
  expect(a.keptSinceUs).toBe(7);
  expect(b.items.length).toBeLessThanOrEqual(10);
  expect(b.items.at(-1)).toEqual(at(100));
  expect(b.read(95, 98, 2, at(96)).items.map(({ seq }) => seq)).toEqual([96, 95]);
});

test('entries that a list drops by its own bound count no more for all lists', () => {
  const total = new KeptTotal(10);
  const [idle, busy] = [new KeptEntries(4), new KeptEntries(4)];
  const at = (seq: number) => ({ timeUs: seq, seq });
  total.add(idle, at(1));
  for (let seq = 2; seq <= 100; seq++) total.add(busy, at(seq));
  expect(idle.items).toEqual([at(1)]);
  expect(idle.keptSinceUs).toBeNull();
  expect(busy.items.map(({ seq }) => seq)).toEqual([97, 98, 99, 100]);
  // Nor do those that were cut.
  expect(total.cut(busy, 98)).toEqual([at(99), at(100)]);
  const other = new KeptEntries(100);
  for (let seq = 99; seq <= 105; seq++) total.add(other, at(seq));
  expect([idle, busy, other].map(({ items }) => items.length)).toEqual([1, 2, 7]);
  total.add(other, at(106));
  expect([idle, busy, other].map(({ items }) => items.length)).toEqual([0, 2, 8]);
  expect(total.cut(other, -1)).toHaveLength(8);
  expect(total.cut(idle, -1)).toEqual([]);
  for (let seq = 107; seq <= 114; seq++) total.add(other, at(seq));
  expect([idle, busy, other].map(({ items }) => items.length)).toEqual([0, 2, 8]);
});

/** Shrink passes that simplify commands: fewer accounts, round numbers, no delays, defaults. */
import { must } from '../../base/assert.ts';
import type { Command, NewOrder, PlaceOrder } from '../../engine/commands.ts';
import type { MarketSpec } from '../../engine/config.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../gateway/exchange-config.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import { lots, ppm, priceTicks, quanta, timeUs } from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import { replaceAt } from './drop.ts';
import { OWN } from './opening.ts';
import type { Script } from './script.ts';
import type { Tester } from './tester.ts';

/** Replaces users by one user, and subaccounts by subaccount 0. */
export function mergeAccounts(script: Script, tester: Tester): Script {
  let current = script;
  const users = [...new Set(script.names.subaccounts.slice(OWN).map(({ address }) => address))];
  for (const [i, gone] of users.entries()) {
    for (const kept of users.slice(0, i)) {
      if (tester.cancelled) return current;
      const failing = tester.failing(renamed(current, gone, kept));
      if (failing === null) continue;
      current = failing;
      break;
    }
  }
  return current;
}

/** Moves one subaccount's orders to another; the accounts stay. */
export function mergeSubaccounts(script: Script, tester: Tester): Script {
  let current = script;
  const { subaccounts } = script.names;
  for (let gone = OWN; gone < subaccounts.length; gone += 1) {
    for (let kept = OWN; kept < gone; kept += 1) {
      if (tester.cancelled) return current;
      const known = current.names.subaccounts;
      const into = must(known[kept], 'a subaccount');
      const from = must(known[gone], 'a subaccount');
      if (into.address === from.address && into.index === from.index) continue;
      const merged = known.map((owner, id) => (id === gone ? into : owner));
      const names = { ...current.names, subaccounts: merged };
      const failing = tester.failing({ ...current, names });
      if (failing === null) continue;
      current = failing;
      break;
    }
  }
  return current;
}

function renamed(script: Script, gone: string, kept: string): Script {
  const swap = <T>(value: T): T => (value === gone ? (kept as T) : value);
  const steps = script.steps.map(({ key, command }) => ({
    key,
    command: Object.fromEntries(
      Object.entries(command).map(([name, value]) => [name, swap(value as unknown)]),
    ) as unknown as Command,
  }));
  const { subaccounts, accounts } = script.names;
  const names = {
    ...script.names,
    subaccounts: subaccounts.map(({ address, index }) => ({ address: swap(address), index })),
    accounts: accounts.map(swap),
  };
  return { ...script, names, steps };
}

/** Waits that a failure may keep, in µs: an execution that is short in time has few timers. */
const KEPT_US = [1_000_000, 60_000_000];

/** Shortens long waits of all steps at once, so that later executions are fast. */
export function shortenWaits(script: Script, tester: Tester): Script {
  for (const mostUs of KEPT_US) {
    if (tester.cancelled) break;
    let [recordedUs, atUs] = [script.config.genesisTimeUs, script.config.genesisTimeUs];
    const steps = script.steps.map(({ key, command }) => {
      atUs = timeUs(atUs + Math.min(command.timeUs - recordedUs, mostUs));
      recordedUs = command.timeUs;
      return { key, command: { ...command, timeUs: atUs } };
    });
    if (recordedUs === atUs) break;
    const failing = tester.failing({ ...script, steps });
    if (failing !== null) return failing;
  }
  return script;
}

/** Moves everything to the first instant if possible; otherwise removes or rounds delays. */
export function collapseTime(script: Script, tester: Tester): Script {
  const start = script.config.genesisTimeUs;
  const still = script.steps.map(({ key, command }) => ({
    key,
    command: { ...command, timeUs: start },
  }));
  const failing = tester.failing({ ...script, steps: still });
  if (failing !== null) return failing;
  let current = script;
  for (let i = 0; i < current.steps.length; i += 1) {
    const before = i === 0 ? start : must(current.steps[i - 1], 'a step before').command.timeUs;
    const waitUs = (current.steps[i]?.command.timeUs ?? before) - before;
    for (const shorter of [0, ...roundUp(waitUs)]) {
      if (shorter >= waitUs || tester.cancelled) continue;
      const shifted = tester.failing(shiftFrom(current, i, shorter - waitUs));
      if (shifted === null) continue;
      current = shifted;
      break;
    }
  }
  return current;
}

function shiftFrom(script: Script, from: number, byUs: number): Script {
  const steps = script.steps.map((step, i) =>
    i < from
      ? step
      : { key: step.key, command: { ...step.command, timeUs: timeUs(step.command.timeUs + byUs) } },
  );
  return { ...script, steps };
}

const roundUp = (us: number): number[] =>
  [1_000_000, 1000].filter((unit) => us > unit).map((unit) => us - (us % unit));

/** Removes optional parts of each step and rounds its numbers. */
export function simplifySteps(script: Script, tester: Tester): Script {
  let current = script;
  for (const { key } of script.steps) {
    for (const simpler of SIMPLER) {
      const at = current.steps.findIndex((step) => step.key === key);
      const step = current.steps[at];
      if (step === undefined || tester.cancelled) break;
      for (const command of simpler(step.command)) {
        const failing = tester.failing(replaceAt(current, at, command));
        if (failing === null) continue;
        current = failing;
        break;
      }
    }
  }
  return current;
}

type Simpler = (command: Command) => Iterable<Command>;

const SIMPLER: readonly Simpler[] = [
  // A group of one plain limit order becomes a single order.
  (command) => {
    if (command.kind !== 'placeOrders') return [];
    const [order, second] = command.orders;
    if (order?.orderType !== 'limit' || second !== undefined) return [];
    const { timeUs: atUs, subaccount, delegate } = command;
    const { triggerTicks, trailingPpm, periodMs, parent, attached, ...terms } = order;
    const more = [triggerTicks, trailingPpm, periodMs, parent];
    if (attached || more.some((field) => field !== null)) return [];
    return [
      { kind: 'placeOrder', timeUs: atUs, subaccount, delegate, ...terms, orderType: 'limit' },
    ];
  },
  onTerms((terms) => [{ ...terms, originator: null, originatorFeePpm: ppm(0) }]),
  onTerms((terms) => [{ ...terms, clientId: null }]),
  onTerms((terms) => [{ ...terms, expiresAtMs: NEVER_MS }]),
  onTerms((terms) => [{ ...terms, postOnly: false }]),
  onTerms((terms) => [{ ...terms, ioc: false }]),
  onTerms((terms) => [{ ...terms, reduceOnly: false }]),
  onTerms((terms) => rounder(terms.lots).map((size) => ({ ...terms, lots: lots(size) }))),
  onTerms((terms) =>
    rounder(terms.priceTicks).map((p) => ({ ...terms, priceTicks: priceTicks(p) })),
  ),
  (command) =>
    command.kind === 'placeOrder' || command.kind === 'placeOrders'
      ? command.delegate === null
        ? []
        : [{ ...command, delegate: null }]
      : [],
  (command) =>
    'amount' in command
      ? roundAmounts(command.amount).map((a) => ({ ...command, amount: quanta(a) }))
      : [],
  (command) =>
    command.kind === 'setIndex'
      ? rounder(command.priceTicks).map((p) => ({
          ...command,
          priceTicks: priceTicks(p),
          text: String(p),
        }))
      : [],
  (command) =>
    command.kind === 'setMark'
      ? rounder(command.priceTicks).map((p) => ({ ...command, priceTicks: priceTicks(p) }))
      : [],
];

/** Simplifies the terms of an order, or of each order of a group. */
function onTerms(
  simpler: (terms: PlaceOrder | NewOrder) => readonly (PlaceOrder | NewOrder)[],
): Simpler {
  return function* (command) {
    if (command.kind === 'placeOrder') {
      for (const terms of simpler(command)) if (differs(command, terms)) yield terms as PlaceOrder;
    }
    if (command.kind !== 'placeOrders') return;
    for (const [i, order] of command.orders.entries()) {
      for (const terms of simpler(order)) {
        if (!differs(order, terms)) continue;
        const orders = command.orders.map((other, j) => (j === i ? (terms as NewOrder) : other));
        yield { ...command, orders };
      }
    }
  };
}

function differs(a: object, b: object): boolean {
  return Object.entries(b).some(([name, value]) => a[name as keyof typeof a] !== value);
}

/** Numbers with one to three significant digits, roundest first; without the number itself. */
function rounder(value: number): number[] {
  const sign = Math.sign(value);
  const size = Math.abs(value);
  const digits = String(size).length;
  const found: number[] = [];
  for (const kept of [1, 2, 3]) {
    if (kept >= digits) break;
    const unit = Number(10n ** BigInt(digits - kept));
    found.push(sign * Math.floor(size / unit) * unit, sign * Math.ceil(size / unit) * unit);
  }
  return found.filter((candidate) => candidate !== value);
}

/** Larger powers of ten of the collateral, then round numbers nearby. */
function roundAmounts(amount: bigint): bigint[] {
  const powers = [1n, 100n, 10_000n, 1_000_000n].map((whole) => whole * 1_000_000n);
  const near = amount < 2n ** 52n && amount > 0n ? rounder(Number(amount)).map(BigInt) : [];
  return [...powers, ...near].filter((candidate) => candidate !== amount);
}

/** Sets each parameter of exchange and markets to its default. */
export function defaultParameters(script: Script, tester: Tester): Script {
  let current = script;
  for (const [name, value] of Object.entries(DEFAULT_EXCHANGE_CONFIG)) {
    if (tester.cancelled) return current;
    if (isEqual(current.config[name as keyof Script['config']], value)) continue;
    const config: Script['config'] = { ...current.config, [name]: value as unknown };
    current = tester.failing({ ...current, config }) ?? current;
  }
  for (const { key, command } of current.steps) {
    if (command.kind !== 'listMarket') continue;
    for (const [name, value] of Object.entries(plainSpec(command.spec))) {
      const at = current.steps.findIndex((step) => step.key === key);
      const listing = current.steps[at]?.command;
      if (listing?.kind !== 'listMarket' || tester.cancelled) break;
      if (isEqual(listing.spec[name as keyof MarketSpec], value)) continue;
      const spec: MarketSpec = { ...listing.spec, [name]: value as unknown };
      current = tester.failing(replaceAt(current, at, { ...listing, spec })) ?? current;
    }
  }
  return current;
}

/** Spec of a market with only symbol, tick and lot set. */
function plainSpec({
  symbol,
  feedId,
  tickSize,
  lotSize,
}: MarketSpec): MarketSpec | Record<string, never> {
  const parsed = parseMarketSpec({ symbol, feedId, tickSize, lotSize }, () => feedId.slice(2));
  return parsed.ok ? parsed.value : {};
}

const isEqual = (a: unknown, b: unknown): boolean => textOf(a) === textOf(b);

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? `${String(field)}n` : field,
  );

/** Recorded runs of an exchange for metamorphic tests: their commands and events. */
import { Decimal } from 'decimal.js';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { outcomeCode, type RefusalCode } from '../../src/engine/refusals.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import {
  ACTIONS,
  type Action,
  type FuzzProfile,
  type ProfileName,
} from '../../src/fuzz/profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import type { MarketInput } from '../../src/gateway/market-config.ts';

export interface Lifecycle {
  readonly config: ExchangeConfig;
  readonly commands: readonly Command[];
  /** Number of commands that open the exchange: markets, deposits, first prices. */
  readonly opening: number;
}

export type MarketChange = Partial<MarketInput> & { readonly [field: string]: unknown };

export interface LifeOptions {
  readonly name?: ProfileName;
  readonly commands?: number;
  /** Overrides for every generated market; a function of the generated one, if that matters. */
  readonly market?: MarketChange | ((drawn: MarketInput) => MarketChange);
  readonly config?: Readonly<Record<string, unknown>>;
  readonly openingTicks?: number;
  readonly deposits?: readonly number[];
  /** Actions to exclude. */
  readonly without?: readonly Action[];
  readonly prices?: Partial<FuzzProfile['prices']>;
  readonly faultPermille?: number;
  readonly vault?: number;
}

/** A random run from the fuzzer, within the fixed options. */
export function drawLife(seed: string, options: LifeOptions = {}): Lifecycle {
  const drawn = drawProfile(seed, {
    name: options.name ?? 'swarm',
    commands: options.commands ?? 400,
  });
  const { openingTicks } = options;
  const mix = Object.fromEntries(
    ACTIONS.map((action) => [
      action,
      options.without?.includes(action) === true ? 0 : drawn.mix[action],
    ]),
  ) as FuzzProfile['mix'];
  const profile: FuzzProfile = {
    ...drawn,
    config: { ...drawn.config, ...options.config },
    markets: drawn.markets.map((market) => changed(market, options.market ?? {}, openingTicks)),
    openingTicks:
      openingTicks === undefined ? drawn.openingTicks : drawn.markets.map(() => openingTicks),
    deposits: options.deposits ?? drawn.deposits,
    vault: options.vault ?? drawn.vault,
    mix,
    prices: { ...drawn.prices, ...options.prices },
    faultPermille: options.faultPermille ?? drawn.faultPermille,
    // An episode leads to a state of its own, whatever the options.
    episodeGap: 0,
  };
  const commands: Command[] = [];
  runFuzz(
    profile,
    { after: () => null },
    {
      onCommand: (command) => {
        commands.push(command);
        return false;
      },
    },
  );
  const { config, opening } = setUp(profile);
  return { config, commands, opening: opening.length };
}

/** An initial mark exists only for marks of the market's own trades or quotes. */
function changed(
  drawn: MarketInput,
  change: NonNullable<LifeOptions['market']>,
  openingTicks: number | undefined,
): MarketInput {
  const market = { ...drawn, ...(typeof change === 'function' ? change(drawn) : change) };
  const ownPrices = market['markSource'] === 'last' || market['markSource'] === 'mid';
  if (!ownPrices) return { ...market, initialMark: undefined };
  if (openingTicks === undefined) return market;
  return { ...market, initialMark: new Decimal(market.tickSize).times(openingTicks).toFixed() };
}

/** Effects of one command. */
export interface Happened {
  readonly outcome: 'ok' | RefusalCode;
  readonly events: readonly EngineEvent[];
}

export interface Lived {
  readonly engine: Exchange;
  readonly happened: readonly Happened[];
}

export function live({ config, commands }: Pick<Lifecycle, 'config' | 'commands'>): Lived {
  const engine = new Exchange(config);
  const happened = commands.map((command) => {
    const events: EngineEvent[] = [];
    const outcome = engine.apply(command, (event) => {
      events.push(event);
    });
    return { outcome: outcomeCode(outcome), events };
  });
  return { engine, happened };
}

/** Fields that hold the terms of a market: each property states them itself. */
const TERMS: ReadonlySet<string> = new Set(['spec', 'nextSpec']);

/** Maps every field of a command or an event, at any depth, by a function of its name; terms stay as they are. */
export function mapFields<T>(value: T, change: (name: string, field: unknown) => unknown): T {
  const walk = (field: unknown, name: string): unknown => {
    if (Array.isArray(field)) return field.map((entry) => walk(entry, name));
    if (typeof field === 'object' && field !== null) {
      return Object.fromEntries(
        Object.entries(field).map(([key, inner]) => [
          key,
          TERMS.has(key) ? inner : walk(inner, key),
        ]),
      );
    }
    return change(name, field);
  };
  return walk(value, '') as T;
}

/** Events for comparison: without their position in the journal, and without the named fields. */
export function bare(
  events: readonly EngineEvent[],
  without: readonly string[] = [],
): readonly Readonly<Record<string, unknown>>[] {
  const dropped = ['seq', 'index', ...TERMS, ...without];
  return events.map((event) =>
    Object.fromEntries(Object.entries(event).filter(([key]) => !dropped.includes(key))),
  );
}

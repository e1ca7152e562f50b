/**
 * Parameters of the exchange and of its markets as decimal text, and edits that change them: a
 * market gets other terms in the command that lists it, the exchange another configuration. Terms
 * that a later command of the journal sets are those of that command.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { money } from '../../gateway/encode.ts';
import { parseExchangeConfig } from '../../gateway/exchange-config.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import { termsText, marketText } from '../../gateway/market-text.ts';
import { TimelineError, type Timeline } from '../timeline.ts';
import type { Edit } from './edit.ts';

export interface ParameterChange {
  /** Symbol of a market; null: the exchange. */
  readonly symbol: string | null;
  readonly name: string;
  /** Decimal text; JSON for lists and records, such as `marginTiers`. */
  readonly value: string;
}

/** Values by name. */
export type ParameterTexts = Readonly<Record<string, string>>;

export interface Parameters {
  readonly exchange: ParameterTexts;
  readonly markets: readonly { readonly symbol: string; readonly terms: ParameterTexts }[];
}

const rate = (ppm: number): string => formatDecimal(BigInt(ppm), 6);
const millis = (us: number): string => String(Math.floor(us / 1000));

/** Names of the configuration file, fields of the engine, and the text of a value. */
const EXCHANGE = {
  liquidationFee: ['liquidationFeePpm', (of) => rate(of.liquidationFeePpm)],
  liquidationSlice: ['liquidationSlicePpm', (of) => rate(of.liquidationSlicePpm)],
  liquidationPauseMs: ['liquidationPauseUs', (of) => millis(of.liquidationPauseUs)],
  partialLiquidationNotional: [
    'partialLiquidationNotional',
    (of) => money(of.partialLiquidationNotional),
  ],
  insuranceHourly: ['insuranceHourlyPpm', (of) => rate(of.insuranceHourlyPpm)],
  insuranceFeeShare: ['insuranceFeeSharePpm', (of) => rate(of.insuranceFeeSharePpm)],
  vaultFeeShare: ['vaultFeeSharePpm', (of) => rate(of.vaultFeeSharePpm)],
  vaultLeaveShare: ['vaultLeavePpm', (of) => rate(of.vaultLeavePpm)],
  frozenHaircut: ['frozenHaircutPpm', (of) => rate(of.frozenHaircutPpm)],
  indexStaleMs: ['indexStaleUs', (of) => millis(of.indexStaleUs)],
  termsNoticeMs: ['termsNoticeUs', (of) => millis(of.termsNoticeUs)],
  triggerSource: ['triggerSource', (of) => of.triggerSource],
  selfTradeExpire: ['selfTradeExpire', (of) => String(of.selfTradeExpire)],
} as const satisfies Readonly<
  Record<string, readonly [keyof ExchangeConfig, (of: ExchangeConfig) => string]>
>;

function exchangeTexts(config: ExchangeConfig): ParameterTexts {
  return Object.fromEntries(Object.entries(EXCHANGE).map(([name, [, of]]) => [name, of(config)]));
}

/** The parameters at the first command. */
export function parametersOf(timeline: Timeline): Parameters {
  return {
    exchange: exchangeTexts(timeline.config),
    markets: [...listings(timeline).values()].map(({ command: { spec } }) => ({
      symbol: spec.symbol,
      terms: Object.fromEntries(
        Object.entries(termsText(spec)).map(([name, value]) => [name, textOf(value)]),
      ),
    })),
  };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

type Listing = Extract<Command, { readonly kind: 'listMarket' }>;

/** The commands that list the markets, by symbol. */
function listings(
  timeline: Timeline,
): Map<string, { readonly seq: number; readonly command: Listing }> {
  const found = new Map<string, { readonly seq: number; readonly command: Listing }>();
  const { length } = timeline.seek(timeline.progress.seq).engine.markets();
  const { stream } = timeline.cursorAt(timeline.baseSeq);
  for (let frame = stream.next(); frame !== null && found.size < length; frame = stream.next()) {
    if (frame.kind !== 'command' || frame.command.kind !== 'listMarket') continue;
    const { seq, command } = frame;
    if (!found.has(command.spec.symbol)) found.set(command.spec.symbol, { seq, command });
  }
  return found;
}

/** The changes as edits. Throws `TimelineError` if a name or a value is wrong. */
export function parameterEdits(timeline: Timeline, changes: readonly ParameterChange[]): Edit[] {
  if (changes.length === 0) return [];
  if (timeline.baseSeq > 0) {
    throw new TimelineError('parameters can change only in a journal with its first command');
  }
  const bySymbol = new Map<string | null, ParameterChange[]>();
  for (const change of changes) {
    bySymbol.set(change.symbol, [...(bySymbol.get(change.symbol) ?? []), change]);
  }
  return [...bySymbol].map(([symbol, all]) =>
    symbol === null ? exchangeEdit(timeline, all) : marketEdit(timeline, symbol, all),
  );
}

function exchangeEdit(timeline: Timeline, changes: readonly ParameterChange[]): Edit {
  const texts = exchangeTexts(timeline.config);
  const parsed = parseExchangeConfig({ ...texts, ...changed(texts, changes) });
  if (!parsed.ok) throw new TimelineError(parsed.error);
  const names = changes.map(({ name }) => EXCHANGE[name as keyof typeof EXCHANGE][0]);
  return {
    kind: 'config',
    changes: Object.fromEntries(names.map((name) => [name, parsed.value[name]])),
  };
}

function marketEdit(timeline: Timeline, symbol: string, changes: readonly ParameterChange[]): Edit {
  const listing = listings(timeline).get(symbol);
  if (listing === undefined) throw new TimelineError(`no command lists the market ${symbol}`);
  const { seq, command } = listing;
  const text = marketText(command.spec);
  const parsed = parseMarketSpec({ ...text, ...changed(termsText(command.spec), changes) }, () => {
    throw new TimelineError('a market keeps its feed');
  });
  if (!parsed.ok) throw new TimelineError(parsed.error);
  return { kind: 'replace', seq, command: { ...command, spec: parsed.value } };
}

/** New values in the form of the old ones. Throws for a name that has none. */
function changed(
  before: Readonly<Record<string, unknown>>,
  changes: readonly ParameterChange[],
): Record<string, unknown> {
  const values = changes.map(({ name, value }): [string, unknown] => {
    if (!Object.hasOwn(before, name)) throw new TimelineError(`no parameter is called ${name}`);
    if (typeof before[name] === 'string') return [name, value.trim()];
    try {
      return [name, JSON.parse(value)];
    } catch (error) {
      throw new TimelineError(`${name}: not JSON: ${error instanceof Error ? error.message : ''}`);
    }
  });
  return Object.fromEntries(values);
}

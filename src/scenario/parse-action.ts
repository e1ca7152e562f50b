/**
 * Parses the simulation verbs of a step (prices, deposits, historical tape) to the exchange's
 * units.
 */
import { suggest } from '../base/suggest.ts';
import type { TapeLevel } from '../engine/commands.ts';
import type { MarketSpec } from '../engine/config.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../engine/tape/hash-tape.ts';
import { overPredefined } from '../gateway/market-list.ts';
import { lots, marketId, type Lots, type MarketId, type PriceTicks } from '../num/units.ts';
import { SYSTEM_NAMES } from './language.ts';
import { fieldOf, mapOf, numberOf, textOf } from './node-fields.ts';
import { plainText } from './parse-setting.ts';
import type { Action } from './scenario.ts';
import {
  childPath,
  itemPath,
  type MapNode,
  type SourceNode,
  type Place,
  type Problem,
  type ScalarNode,
} from './source-node.ts';
import { parseMoney, parsePrice, parseRate, parseSize } from './units-text.ts';

/** Declarations of a scenario that precede its steps. */
export interface Names {
  readonly accounts: ReadonlySet<string>;
  readonly markets: readonly MarketSpec[];
}

/** Null on a fault, which is then among the problems. */
export function parseAction(
  step: MapNode,
  verb: string,
  stepPath: string,
  names: Names,
  problems: Problem[],
): Action | null {
  const map = mapOf(step, verb);
  const path = childPath(stepPath, verb);
  if (map === null) return null;
  switch (verb) {
    case 'oracle':
    case 'mark':
      return { kind: verb, prices: parsePrices(map, path, names, problems) };
    case 'fundingRate':
      return { kind: verb, rates: parseRates(map, path, names, problems) };
    case 'deposit':
    case 'withdraw': {
      const account = textOf(map, 'account') ?? '';
      if (!names.accounts.has(account) && !SYSTEM_NAMES.some((name) => name === account)) {
        const hint = suggest(account, names.accounts);
        const message = `"${account}" is not among the accounts of this scenario${hint}`;
        problems.push({ place: map.place, path: childPath(path, 'account'), message });
      }
      const amount = parseMoney(map, 'amount', path, problems);
      const subaccount = numberOf(map, 'subaccount') ?? 0;
      return amount === null ? null : { kind: verb, account, subaccount, amount };
    }
    case 'command':
      return { kind: verb, fields: requestOf(map, []) };
    case 'listMarket':
      return { kind: verb, symbol: '', request: overPredefined(requestOf(map, [])) };
    case 'setMarketTerms':
    case 'setMarketStatus':
    case 'delistMarket': {
      const symbol = operatedSymbol(map, path, names, problems);
      return { kind: verb, symbol, request: requestOf(map, ['symbol']) };
    }
    default:
      return parseTape(map, verb, path, names, problems);
  }
}

/** The named market, which may be listed by a step; without a name, the only one. */
function operatedSymbol(map: MapNode, path: string, names: Names, problems: Problem[]): string {
  const node = fieldOf(map, 'symbol');
  const text = textOf(map, 'symbol');
  if (node !== null && text === null) {
    problems.push({ place: node.place, path: childPath(path, 'symbol'), message: NO_SYMBOL });
  }
  if (node !== null) return text ?? '';
  return findMarket(null, map.place, path, names, problems)?.spec.symbol ?? '';
}

const NO_SYMBOL = 'expected a market symbol';

/**
 * Fields of an operator's request. The exchange decodes them when the step runs, because new terms
 * extend those in force.
 */
function requestOf(map: MapNode, without: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...map.entries]
      .filter(([key]) => !without.includes(key))
      .map(([key, { value }]) => [key, plainText(value)]),
  );
}

function parseTape(
  map: MapNode,
  verb: string,
  path: string,
  names: Names,
  problems: Problem[],
): Action | null {
  const place = fieldOf(map, 'symbol')?.place ?? map.place;
  const found = findMarket(textOf(map, 'symbol'), place, path, names, problems);
  if (found === null) return null;
  const { market, spec } = found;
  switch (verb) {
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes': {
      const levels = [
        ...parseLevels(fieldOf(map, 'bids'), 'bid', spec, childPath(path, 'bids'), problems),
        ...parseLevels(fieldOf(map, 'asks'), 'ask', spec, childPath(path, 'asks'), problems),
      ];
      return { kind: verb, market, levels };
    }
    case 'tapeTrade': {
      const price = scalarOf(map, 'price');
      const quantity = scalarOf(map, 'quantity');
      if (price === null || quantity === null) return null;
      const ticks = parsePrice(price, spec, false, childPath(path, 'price'), problems);
      const size = parseSize(quantity, spec, childPath(path, 'quantity'), problems);
      if (ticks === null || size === null) return null;
      return { kind: verb, market, priceTicks: ticks, lots: size };
    }
    case 'tapeBar':
      return parseBar(map, market, new FieldReader(map, spec, path, problems));
    case 'tapeL3':
      return parseSingleOrder(map, market, new FieldReader(map, spec, path, problems));
    default:
      return { kind: 'tapeGap', market };
  }
}

/** Prices and sizes of a map in a market's units; faults are recorded. */
class FieldReader {
  private readonly map: MapNode;
  private readonly spec: MarketSpec;
  private readonly path: string;
  private readonly problems: Problem[];

  constructor(map: MapNode, spec: MarketSpec, path: string, problems: Problem[]) {
    this.map = map;
    this.spec = spec;
    this.path = path;
    this.problems = problems;
  }

  /** Null if the field is absent or faulty. */
  price(key: string): PriceTicks | null {
    const node = scalarOf(this.map, key);
    if (node === null) return null;
    return parsePrice(node, this.spec, false, childPath(this.path, key), this.problems);
  }

  /** At least 0. */
  size(key: string): Lots | null {
    const node = scalarOf(this.map, key);
    const path = childPath(this.path, key);
    const size = node === null ? null : parseSize(node, this.spec, path, this.problems);
    if (node === null || size === null || size >= 0) return size;
    this.problems.push({ place: node.place, path, message: 'must be 0 or more' });
    return null;
  }
}

function parseBar(map: MapNode, market: MarketId, figures: FieldReader): Action | null {
  const [openTicks, highTicks] = [figures.price('open'), figures.price('high')];
  const [lowTicks, closeTicks] = [figures.price('low'), figures.price('close')];
  if (openTicks === null || highTicks === null) return null;
  if (lowTicks === null || closeTicks === null) return null;
  const volumeLots = figures.size('volume') ?? lots(0);
  return {
    kind: 'tapeBar',
    market,
    openTicks,
    highTicks,
    lowTicks,
    closeTicks,
    volumeLots,
    quoteTicks: figures.price('quote') ?? closeTicks,
    spreadTicks: numberOf(map, 'spreadTicks') ?? 0,
    depthLots: figures.size('depth') ?? volumeLots,
    path: wordOf(map, 'path', BAR_PATHS) ?? 'nearest',
    fill: wordOf(map, 'fill', BAR_FILLS) ?? 'touch',
  };
}

function parseSingleOrder(map: MapNode, market: MarketId, figures: FieldReader): Action | null {
  const [price, size] = [figures.price('price'), figures.size('quantity')];
  const action = wordOf(map, 'action', TAPE_L3_ACTIONS);
  const [ref, side] = [numberOf(map, 'ref'), wordOf(map, 'side', SIDES)];
  if (price === null || size === null || action === null) return null;
  if (ref === null || side === null) return null;
  return { kind: 'tapeL3', market, action, ref, side, priceTicks: price, lots: size };
}

const SIDES = ['bid', 'ask'] as const;

/** The shape allows only these words. */
function wordOf<T extends string>(map: MapNode, key: string, words: readonly T[]): T | null {
  const text = textOf(map, key);
  return words.find((word) => word === text) ?? null;
}

function parsePrices(
  map: MapNode,
  path: string,
  names: Names,
  problems: Problem[],
): Extract<Action, { kind: 'oracle' | 'mark' }>['prices'] {
  return [...map.entries].flatMap(([symbol, { keyPlace, value }]) => {
    const found = findMarket(symbol, keyPlace, path, names, problems);
    if (found === null || value.kind !== 'scalar') return [];
    const ticks = parsePrice(value, found.spec, true, childPath(path, symbol), problems);
    return ticks === null ? [] : [{ market: found.market, priceTicks: ticks, text: value.text }];
  });
}

function parseRates(
  map: MapNode,
  path: string,
  names: Names,
  problems: Problem[],
): Extract<Action, { kind: 'fundingRate' }>['rates'] {
  return [...map.entries].flatMap(([symbol, { keyPlace, value }]) => {
    const found = findMarket(symbol, keyPlace, path, names, problems);
    if (found === null || value.kind !== 'scalar') return [];
    const ratePpb = parseRate(value, childPath(path, symbol), problems);
    return ratePpb === null ? [] : [{ market: found.market, ratePpb }];
  });
}

function parseLevels(
  list: SourceNode | null,
  side: 'bid' | 'ask',
  spec: MarketSpec,
  path: string,
  problems: Problem[],
): TapeLevel[] {
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item, i) => {
    const where = itemPath(path, i);
    const [price, quantity] = item.kind === 'list' ? item.items : [];
    if (price?.kind !== 'scalar' || quantity?.kind !== 'scalar') return [];
    const ticks = parsePrice(price, spec, false, where, problems);
    const size = parseSize(quantity, spec, where, problems);
    if (size !== null && size < 0) {
      const message = 'the size of a level must be 0 or more';
      problems.push({ place: quantity.place, path: where, message });
    }
    return ticks === null || size === null ? [] : [{ side, priceTicks: ticks, lots: size }];
  });
}

/** The named market; without a name, the only one. */
function findMarket(
  symbol: string | null,
  place: Place,
  path: string,
  { markets }: Names,
  problems: Problem[],
): { market: MarketId; spec: MarketSpec } | null {
  const wanted = symbol ?? (markets.length === 1 ? markets[0]?.symbol : undefined);
  const index = markets.findIndex((spec) => spec.symbol === wanted);
  const spec = markets[index];
  if (spec !== undefined) return { market: marketId(index), spec };
  const symbols = markets.map((known) => known.symbol);
  const message =
    wanted === undefined
      ? `"symbol" is required, because there are ${markets.length === 0 ? 'no' : 'several'} markets`
      : `"${wanted}" is not among the markets of this scenario${suggest(wanted, symbols)}`;
  problems.push({ place, path, message });
  return null;
}

function scalarOf(map: MapNode, key: string): ScalarNode | null {
  const node = fieldOf(map, key);
  return node?.kind === 'scalar' ? node : null;
}

/** Checks state: cash, positions, saved orders and books by name against the exchange's views. */
import type { ExchangeView } from '../engine/read/views.ts';
import { money, priceText, sizeText } from '../gateway/encode.ts';
import type { Address } from '../num/units.ts';
import { differences, showNode, type Difference, type MatchOptions } from './match-expectation.ts';
import type { StateExpectation } from './scenario.ts';
import { childPath, type MapNode, type SourceNode } from './source-node.ts';

/** Access of the checks to the exchange. */
export interface StateAccess {
  readonly engine: ExchangeView;
  readonly addressOfName: (name: string) => Address;
  /** Record of the order saved under this name, or the error text of its look-up. */
  readonly recordOf: (saved: string) => unknown;
  /** Records of the open positions of subaccount 0, or an error text. */
  readonly positionsOf: (name: string) => unknown;
}

export function checkState(
  expected: StateExpectation,
  access: StateAccess,
  options: MatchOptions,
): Difference[] {
  return [
    ...checkBalances(expected.balances, access),
    ...checkPositions(expected.positions, access, options),
    ...checkRecords(expected.records, access, options),
    ...checkBooks(expected.book, access, options),
  ];
}

function checkBalances(map: MapNode | null, access: StateAccess): Difference[] {
  return entriesOf(map).flatMap(([owner, expected]) => {
    const [name = owner, index = '0'] = owner.split('/');
    const account = access.addressOfName(name);
    const id = access.engine.subaccountIdOf(account, Number(index));
    const balance = id === undefined ? 0n : access.engine.subaccount(id).balanceQuanta;
    const actual = money(balance);
    return differences(expected, actual, childPath('balances', owner), plain);
  });
}

function checkPositions(
  map: MapNode | null,
  access: StateAccess,
  options: MatchOptions,
): Difference[] {
  return entriesOf(map).flatMap(([name, bySymbol]) => {
    if (bySymbol.kind !== 'map') return [];
    const found = access.positionsOf(name);
    const records: readonly unknown[] = Array.isArray(found) ? found : [];
    return entriesOf(bySymbol).flatMap(([symbol, expected]) => {
      const actual = records.find((record) => hasSymbol(record, symbol)) ?? null;
      const path = childPath(childPath('positions', name), symbol);
      return differences(expected, actual, path, options);
    });
  });
}

function checkRecords(
  map: MapNode | null,
  access: StateAccess,
  options: MatchOptions,
): Difference[] {
  return entriesOf(map).flatMap(([name, expected]) =>
    differences(expected, access.recordOf(name), childPath('records', name), options),
  );
}

/** Compares a named side completely: price and quantity of every level, best first. */
function checkBooks(
  map: MapNode | null,
  { engine }: StateAccess,
  options: MatchOptions,
): Difference[] {
  return entriesOf(map).flatMap(([symbol, sides]) => {
    const id = engine.marketIdOf(symbol);
    if (id === undefined || sides.kind !== 'map') return [];
    const market = engine.market(id);
    return entriesOf(sides).flatMap(([key, expected]) => {
      const side = key === 'bids' ? 'bid' : 'ask';
      const levels = engine
        .depth(id, side, Number.MAX_SAFE_INTEGER)
        .map((level) => [priceText(market, level.priceTicks), sizeText(market, level.lots)]);
      const path = childPath(childPath('book', symbol), key);
      const found = differences(expected, levels, path, options);
      // One line for the full side is more readable than one per number.
      return found.length === 0
        ? []
        : [{ path, expected: showNode(expected), actual: options.show(levels) }];
    });
  });
}

const plain: MatchOptions = {
  exact: false,
  resolve: (text) => text,
  show: String,
};

function entriesOf(map: MapNode | null): [string, SourceNode][] {
  return [...(map?.entries ?? [])].map(([key, { value }]) => [key, value]);
}

const hasSymbol = (record: unknown, symbol: string): boolean =>
  typeof record === 'object' && record !== null && 'symbol' in record && record.symbol === symbol;

/** The table of the fields of updates in docs/BACKTESTING.md has those of their types. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const TYPES = read('src/strategy/strategy.ts');
const TABLE = read('docs/BACKTESTING.md');

function fieldsOf(type: string): string[] {
  const body = TYPES.split(`export interface ${type} {\n`)[1]?.split('\n}')[0] ?? '';
  return [...body.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name!);
}

test.each([
  ['onBook', 'BookUpdate'],
  ['onTrade', 'TradeUpdate'],
  ['onBar', 'BarUpdate'],
  ['onFill', 'FillUpdate'],
  ['onOrder', 'OrderUpdate'],
  ['onFunding', 'FundingUpdate'],
  ['onMark', 'PriceUpdate'],
  ['onLiquidation', 'LiquidationUpdate'],
  ['onAccount', 'AccountUpdate'],
  ['onData', 'DataUpdate'],
])('%s has the documented fields of %s', (handler, type) => {
  const row = TABLE.split('\n').find((line) => line.startsWith(`| of \`${handler}\``)) ?? '';
  const cells = row.split('|')[2] ?? '';
  const named = [...cells.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  const common = ['symbol', 'timeUs'];
  const further = (names: readonly string[]) =>
    names.filter((name) => !common.includes(name)).sort();
  expect(further(named)).toEqual(further(fieldsOf(type)));
  expect(named.length).toBeGreaterThan(0);
});

/** Units of the fields of the ticket. */
import { expect, test } from 'vitest';
import { unitsOf } from '../../src/web/exchange/text.ts';

test.each([
  ['BTC-USD-PERP', 'BTC', 'USD'],
  ['BTC-USDT', 'BTC', 'USDT'],
  ['BTCUSDT', 'BTCUSDT', ''],
  ['A-LONG-NAME-USD-PERP', 'A-LONG-NAME', 'USD'],
])('%s has sizes in %s and prices in %s', (symbol, base, quote) => {
  expect(unitsOf(symbol)).toEqual({ base, quote });
});

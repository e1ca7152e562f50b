import { expect, test } from 'vitest';
import { reasonText } from '../../src/report/reason-text.ts';

test.each([
  ['limit', null, null],
  ['limit', 'breakout', 'breakout'],
  ['stopLoss', 'breakout', 'stop loss (breakout)'],
  ['takeProfit', null, 'take profit'],
  ['trailingStop', 'trailing stop', 'trailing stop'],
])('the reason of an order of type %s with the tag %s is %s', (orderType, tag, text) => {
  expect(reasonText({ orderType, tag })).toBe(text);
});

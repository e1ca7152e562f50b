import { expect, test } from 'vitest';
import { exitText, reasonText } from '../../src/report/reason-text.ts';

test.each([
  ['limit', null, null],
  ['limit', 'breakout', 'breakout'],
  ['stopLoss', 'breakout', 'stop loss (breakout)'],
  ['takeProfit', null, 'take profit'],
  ['trailingStop', 'trailing stop', 'trailing stop'],
])('the reason of an order of type %s with the tag %s is %s', (orderType, tag, text) => {
  expect(reasonText({ orderType, tag })).toBe(text);
});

test.each([
  ['order', null, 'order'],
  ['order', 'cross down', 'cross down'],
  ['stopLoss', 'breakout', 'stop loss (breakout)'],
  ['takeProfit', null, 'take profit'],
  ['trailingStop', null, 'trailing stop'],
  ['liquidation', null, 'liquidation'],
  ['deleveraging', null, 'deleveraging'],
  ['delisting', null, 'delisting'],
  ['endOfRun', null, 'open at the end'],
] as const)('the exit %s with the tag %s is shown as %s', (exitReason, exitTag, text) => {
  expect(exitText({ exitReason, exitTag })).toBe(text);
});

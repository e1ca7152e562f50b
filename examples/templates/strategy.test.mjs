/** Tests of {{name}}.ts: `node --test {{name}}.test.mjs` */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { backtest } from 'orrery/backtest';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const options = { strategy: path('{{name}}.ts'), data: path('{{data}}') };

test('it trades, and ends solvent', async () => {
  const { strategies } = await backtest(options);
  const [{ fills, summary }] = strategies;
  assert.ok(fills.length > 0, 'no fill');
  assert.ok(Number(summary.equityEnd) > 0, `equity ${summary.equityEnd}`);
});

test('a second run is the same', async () => {
  const [first, second] = [await backtest(options), await backtest(options)];
  assert.equal(second.chainHash, first.chainHash);
});

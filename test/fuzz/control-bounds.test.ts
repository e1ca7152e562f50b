/** The twin of a served exchange counts the same commands: `/sim` refuses the same values. */
import { afterAll, expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { Twin } from '../../src/fuzz/twin/twin.ts';
import { userAddress } from '../../src/fuzz/run-setup.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { marketId, ppb, priceTicks, quanta } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { Served } from '../http/served.ts';

const served = await Served.start();
afterAll(() => served.remove());

const twin = new Twin(
  DEFAULT_EXCHANGE_CONFIG,
  served.host.view.markets().map(({ spec }) => spec),
  keccak,
  () => () => undefined,
);
const at = { timeUs: twin.engine.nowUs, market: marketId(0) };
const { symbol, tickSize, maxPriceTicks } = twin.engine.market(at.market).spec;
const price = (ticks: number): string => {
  const [, decimals = ''] = tickSize.split('.');
  return (ticks * Number(tickSize)).toFixed(decimals.length);
};
const index = (ticks: number): Command => ({
  ...{ ...at, kind: 'setIndex', priceTicks: priceTicks(ticks), text: price(ticks) },
});
const rate = (billionths: number): Command => ({
  ...{ ...at, kind: 'settleFunding', ratePpb: ppb(billionths) },
});

test.each([
  ['oracle', { price: price(0) }, index(0)],
  ['oracle', { price: price(1) }, index(1)],
  ['oracle', { price: price(maxPriceTicks) }, index(maxPriceTicks)],
  ['oracle', { price: price(maxPriceTicks + 1) }, index(maxPriceTicks + 1)],
  ['funding', { rate: '1' }, rate(1_000_000_000)],
  ['funding', { rate: '1.000000001' }, rate(1_000_000_001)],
  ['funding', { rate: '-2' }, rate(-2_000_000_000)],
] as const)('%s %o', async (verb, fields, command) => {
  const { engine } = served.host.exchange;
  const before = { host: engine.seq, twin: twin.engine.seq };
  const { status } = await served.sim(verb, { symbol, ...fields });
  expect(twin.apply(command).status).toBe(status);
  expect(twin.engine.seq - before.twin).toBe(engine.seq - before.host);
});

test('a withdrawal of a wallet without a deposit', async () => {
  const account = userAddress(0);
  const money = { account, subaccountIndex: 0, amount: quanta(5_000_000n) };
  const compare = async (kind: 'deposit' | 'withdraw'): Promise<unknown> => {
    const reply = await served.sim(kind, { account, subaccountIndex: 0, amount: '5' });
    const { status } = twin.apply({ kind, timeUs: twin.engine.nowUs, ...money });
    expect(status).toBe(reply.status);
    return status;
  };
  expect(await compare('withdraw')).toBe(404);
  expect(await compare('deposit')).toBe(200);
  expect(await compare('withdraw')).toBe(200);
});

/**
 * A command leaves no check of risk to the next one. Such a rest is in no snapshot, so the live
 * exchange would notice a change of equity before a restored one.
 */
import { expect, test } from 'vitest';
import { quanta } from '../../../src/num/units.ts';
import type { Command } from '../../../src/engine/commands.ts';
import { RiskWorld, usd } from '../risk-world.ts';

const MARKETS = [{}, { symbol: 'N' }];
const CONFIG = {
  partialLiquidationNotional: '0',
  liquidationSlice: '0.2',
  liquidationPauseMs: 30_000,
};

/** Ann in M and cat in N have each sold a slice and wait for the next. */
function paused(): RiskWorld {
  const world = new RiskWorld(MARKETS, CONFIG);
  world.fund({ ann: '100', bob: '1000', cat: '100', dan: '10000' });
  for (const symbol of ['M', 'N']) world.price('1000', symbol);
  world.trade('ann', 'bob', '1', '1000', 'M');
  world.trade('cat', 'bob', '1', '1000', 'N');
  for (const symbol of ['M', 'N']) {
    world.order('dan', '0.2', '935', { symbol });
    world.price('935', symbol);
  }
  return world;
}

const steps = (world: RiskWorld, from: number): string[] =>
  world.events
    .slice(from)
    .flatMap((event) => (event.kind === 'liquidationStep' ? [event.step] : []));

test('a position that closes during its pause leaves no check to the next command', () => {
  const world = paused();
  expect(steps(world, 0)).toEqual(['order', 'order']);
  const from = world.events.length;
  world.price('900', 'M');
  expect(steps(world, from)).toEqual(['adl']);

  const restored = world.engine.fork();
  const deposit: Command = {
    kind: 'deposit',
    timeUs: world.now,
    account: world.addressOf('cat'),
    subaccountIndex: 0,
    amount: quanta(usd('50')),
  };
  restored.apply(deposit);
  world.apply(deposit);
  expect(world.engine.chainHash()).toBe(restored.chainHash());
});

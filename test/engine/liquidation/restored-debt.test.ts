/**
 * A restored exchange keeps debts (D-32): a debt without positions is paid as soon as insurance can
 * pay it.
 */
import { expect, test } from 'vitest';
import { credit } from '../../../src/engine/accounts/ledger.ts';
import type { Command } from '../../../src/engine/commands.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { State } from '../../../src/engine/state.ts';
import { drawProfile } from '../../../src/fuzz/draw-profile.ts';
import { setUp, userAddress } from '../../../src/fuzz/run-setup.ts';
import { address, marketId, priceTicks, quanta } from '../../../src/num/units.ts';

const { config, specs } = setUp(drawProfile('debt', { name: 'stress' }));
const timeUs = config.genesisTimeUs;

test('a debt without positions is paid by insurance after a restore as before it (D-32)', () => {
  const state = new State(config);
  const exchange = new Exchange(config, state);
  const apply = (to: Exchange, command: Command): void => {
    expect(to.apply(command)).toBe('ok');
  };
  apply(exchange, { kind: 'listMarket', timeUs, spec: specs[0]! });
  const deposit = { kind: 'deposit', timeUs, subaccountIndex: 0, amount: quanta(1000n) } as const;
  apply(exchange, { ...deposit, account: userAddress(0) });
  // As an auto-deleveraging may leave it.
  const owner = state.accounts.findSubaccount(userAddress(0), 0)!;
  credit(state, owner, quanta(-1500n), 'adl');
  state.hash.commit();
  state.markForRiskCheck(owner);

  const restored = exchange.fork();
  const after = [exchange, restored].map((one) => {
    apply(one, { ...deposit, account: address(config.insuranceAccount) });
    const market = marketId(0);
    apply(one, { kind: 'setIndex', timeUs, market, priceTicks: priceTicks(500), text: '500' });
    return one.subaccount(owner.id).balanceQuanta;
  });
  expect(after).toEqual([0n, 0n]);
  expect(restored.chainHash()).toBe(exchange.chainHash());
});

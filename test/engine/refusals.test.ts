/**
 * The engine's own refusals of risk and authority, bypassing the gateway, and end reasons from
 * liquidation.
 */
import { expect, test } from 'vitest';
import { MAX_SIGNERS } from '../../src/engine/accounts/authority.ts';
import type { Command } from '../../src/engine/commands.ts';
import { accountId, ppb, ppm, timeUs, type Address } from '../../src/num/units.ts';
import { RISK_CODES } from './refusal-cases.ts';
import { nameAddress, RiskWorld } from './risk-world.ts';

const NEVER = 9_007_199_254_741n;

function opened(
  market: Record<string, unknown> = {},
  config: Record<string, unknown> = {},
): RiskWorld {
  const world = new RiskWorld([market], config);
  world.fund({ ann: '1000', bob: '1000000', cat: '1000000' });
  world.price('100');
  return world;
}

function margin(world: RiskWorld, marginPpm: number, delegate: number | null = null): Command {
  return {
    kind: 'updateMargin',
    timeUs: timeUs(world.atUs),
    subaccount: world.idOf('ann'),
    market: world.marketOf('M'),
    isolated: true,
    marginPpm: ppm(marginPpm),
    nonce: 900n,
    expiresAtMs: NEVER,
    delegate: delegate === null ? null : accountId(delegate),
  };
}

function delegate(world: RiskWorld, to: Address): Command {
  return {
    kind: 'updateDelegate',
    timeUs: timeUs(world.atUs),
    account: world.addressOf('ann'),
    subaccountIndex: 0,
    delegate: to,
    delegated: true,
    nonce: 900n,
    expiresAtMs: NEVER,
  };
}

function signers(world: RiskWorld, names: readonly string[], quorum: number): Command {
  return {
    kind: 'updateSigners',
    timeUs: timeUs(world.atUs),
    account: world.addressOf('ann'),
    signers: names.map(nameAddress),
    quorum,
    nonce: 900n,
    expiresAtMs: NEVER,
  };
}

const settle = (world: RiskWorld, rate: number): Command => ({
  kind: 'settleFunding',
  timeUs: timeUs(world.atUs),
  market: world.marketOf('M'),
  ratePpb: ppb(rate),
});

/** Start of the contract's text for the code, after the status. */
const VAULT_TEXTS: Readonly<Record<string, string>> = {
  'amount: is below': 'vault_deposit_too_small',
  'amount: exceeds': 'vault_shares_insufficient',
  'amount: is worth': 'vault_shares_zero',
  'Vault shares are locked': 'vault_shares_locked',
  'The vault has no value': 'vault_value_not_positive',
};

function vaultCode(answer: string): string {
  const found = Object.keys(VAULT_TEXTS).find((text) => answer.includes(text));
  return found === undefined ? answer : VAULT_TEXTS[found]!;
}

const PROVOKED: Readonly<Record<string, () => string>> = {
  not_delegated: () => {
    const world = opened();
    return world.apply(margin(world, 500_000, 6));
  },
  margin_out_of_range: () => {
    const world = opened();
    return world.apply(margin(world, 1_000_001));
  },
  margin_below_initial: () => {
    const world = opened();
    return world.apply(margin(world, 99_999));
  },
  margin_mode_in_use: () => {
    const world = opened();
    world.order('ann', '1', '90');
    return world.apply(margin(world, 500_000));
  },
  margin_insufficient: () => {
    const world = opened();
    world.setMargin('ann', true, '0.1');
    world.trade('ann', 'bob', '90', '100');
    return world.apply(margin(world, 500_000));
  },
  delegate_not_allowed: () => {
    const world = opened();
    return world.apply(delegate(world, world.addressOf('ann')));
  },
  too_many_delegates: () => {
    const world = opened();
    for (let i = 0; i < 16; i++) world.delegate('ann', `d${String(i)}`);
    return world.apply(delegate(world, nameAddress('one more')));
  },
  signers_count: () => {
    const world = opened();
    return world.apply(
      signers(
        world,
        Array.from({ length: MAX_SIGNERS + 1 }, (_, i) => String(i)),
        1,
      ),
    );
  },
  signers_not_distinct: () => {
    const world = opened();
    return world.apply(signers(world, ['a', 'a'], 1));
  },
  quorum_out_of_range: () => {
    const world = opened();
    return world.apply(signers(world, ['a', 'b'], 3));
  },
  vault_deposit_too_small: () => vaultCode(opened().transfer('ann', 'vault', '1')),
  vault_shares_insufficient: () => vaultCode(opened().transfer('vault', 'ann', '1')),
  vault_shares_locked: () => {
    const world = opened();
    world.transfer('ann', 'vault', '100');
    return vaultCode(world.transfer('vault', 'ann', '1'));
  },
  vault_value_not_positive: () => {
    const world = opened({}, { vaultLockupMs: 0 });
    world.transfer('cat', 'vault', '1000');
    world.fund({ eve: '900' });
    world.trade('eve', 'bob', '90', '100');
    world.price('94');
    // At the index the vault's position of 90, taken at 94, has lost its whole equity.
    world.price('94', 'M', '70');
    return vaultCode(world.transfer('vault', 'cat', '1'));
  },
  vault_shares_zero: () => {
    const world = opened(
      { takerFee: '0.01' },
      { vaultFeeShare: '1', insuranceFeeShare: '0', minVaultDeposit: '0.000001' },
    );
    world.transfer('cat', 'vault', '10');
    world.trade('bob', 'cat', '100', '100');
    return vaultCode(world.transfer('ann', 'vault', '0.000001'));
  },
  funding_source_not_external: () => {
    const world = opened({ funding: {} });
    return world.apply(settle(world, 1));
  },
  funding_rate_out_of_range: () => {
    const world = opened();
    return world.apply(settle(world, 1_000_000_001));
  },
  index_not_fresh: () => {
    const world = opened({ markSource: 'index' }, { indexStaleMs: 1000 });
    world.wait(1001);
    return world.apply(settle(world, 1));
  },
  liquidation: () => endReasons('liquidation'),
  adl: () => endReasons('adl'),
};

/** A crash that cancels ann's bid, and bob's reduce-only bid when he is deleveraged. */
function endReasons(reason: string): string {
  const world = new RiskWorld();
  world.fund({ ann: '110', bob: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  world.order('ann', '0.5', '80');
  world.order('bob', '10', '70', { flags: { ioc: false, postOnly: false, reduceOnly: true } });
  world.price('85');
  const ended = world.events.flatMap((event) =>
    event.kind === 'orderEnded' ? [event.reason] : [],
  );
  expect(ended).toEqual([null, null, 'liquidation', 'adl']);
  return ended.includes(reason as never) ? reason : '';
}

test.each(RISK_CODES)('%s', (code) => {
  expect(PROVOKED[code]!()).toBe(code);
});

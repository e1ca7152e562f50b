/**
 * Vault shares: mint, burn, lock-up, snapshots, value with open positions; and
 * attacks on them.
 */
import { describe, expect, test } from 'vitest';
import type { VaultSharesChanged } from '../../../src/engine/events.ts';
import { sharesValue, vaultValue } from '../../../src/engine/vault/vault.ts';
import { quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld, dollars, usd } from '../risk-world.ts';

const DAY = 86_400_000;

function opened(config: Record<string, unknown> = {}): RiskWorld {
  const world = new RiskWorld([{}], config);
  world.fund({ ann: '1000000', bob: '1000000', cat: '1000000' });
  world.price('100');
  return world;
}

interface Snapshot {
  readonly shares: string;
  readonly usdValue: string;
  readonly netDeposits: string;
  readonly lockupEndsAt: number;
  readonly timestamp: number;
  readonly subaccountIndex: number;
}

function history(world: RiskWorld, who: string, query: Record<string, unknown> = {}): Snapshot[] {
  return world.ask('getClsHistory', query, who) as Snapshot[];
}

const sharesOf = (world: RiskWorld, who: string): string => history(world, who)[0]?.shares ?? '0';

/** Income without a deposit: fees of a trade that go to the vault. */
function gain(world: RiskWorld, amount: number): void {
  const before = world.balance('vault');
  world.trade('bob', 'cat', String(amount), '100');
  world.trade('bob', 'cat', String(-amount), '100');
  expect(world.balance('vault')).not.toBe(before);
}

test('a transfer to the vault mints, one from it burns; both sides are recorded as such', () => {
  const world = opened();
  expect(world.transfer('ann', 'vault', '1000')).toBe('ok');
  expect(world.balance('vault')).toBe('1000');
  expect(history(world, 'ann')).toMatchObject([
    { shares: '1000', usdValue: '1000', netDeposits: '1000', subaccountIndex: 0 },
  ]);
  world.wait(4 * DAY);
  expect(world.transfer('vault', 'ann', '400')).toBe('ok');
  expect(history(world, 'ann')[0]).toMatchObject({
    shares: '600',
    usdValue: '600',
    netDeposits: '600',
  });
  const query = { account: world.addressOf('ann'), subaccountIndex: 0 };
  expect(world.ask('getTransfers', query, 'ann')).toMatchObject([
    { transferType: 'clsWithdrawal', amount: '400', counterpartyAccount: world.addressOf('vault') },
    { transferType: 'clsDeposit', amount: '1000' },
    { transferType: 'deposit' },
  ]);
});

test('income of the vault belongs to its shares: later deposits buy fewer', () => {
  const world = new RiskWorld([{ takerFee: '0.01' }], {
    vaultFeeShare: '1',
    insuranceFeeShare: '0',
  });
  world.fund({ ann: '1000000', bob: '1000000', cat: '1000000', dan: '1000000' });
  world.price('100');
  world.transfer('ann', 'vault', '1000');
  gain(world, 500);
  expect(world.balance('vault')).toBe('2000');
  world.transfer('dan', 'vault', '1000');
  // 1,000 × (1,000 + 1) ÷ (2,000 + 1) shares.
  expect(sharesOf(world, 'dan')).toBe('500.249875');
});

test('each deposit locks all shares for four days from it', () => {
  const world = opened();
  world.transfer('ann', 'vault', '100');
  world.wait(3 * DAY);
  world.transfer('ann', 'vault', '100');
  world.wait(DAY);
  expect(world.transfer('vault', 'ann', '1')).toBe(
    '400 Vault shares are locked until lockupEndsAt',
  );
  world.wait(3 * DAY - 1);
  expect(world.transfer('vault', 'ann', '1')).toMatch(/locked/);
  world.wait(1);
  expect(world.transfer('vault', 'ann', '1')).toBe('ok');
});

test('snapshots: at each change and each 00:00 UTC, newest first, from inclusive to exclusive', () => {
  const world = opened();
  world.wait(DAY / 2);
  world.transfer('ann', 'vault', '100');
  world.wait(2 * DAY);
  const all = history(world, 'ann');
  const start = 1_704_067_200_000;
  expect(all.map(({ timestamp }) => (timestamp - start) / DAY)).toEqual([2, 1, 0.5]);
  expect(history(world, 'ann', { from: start + DAY, to: start + 2 * DAY })).toEqual([all[1]]);
  expect(history(world, 'ann', { limit: 1 })).toEqual([all[0]]);
  expect(world.answer('getClsHistory', { limit: 10_001 }, 'ann')).toBe(
    '400 Limit must be between 1 and 10000, got 10001',
  );
  expect(history(world, 'bob')).toEqual([]);
});

test('open positions count at the worse price for the requester', () => {
  const world = new RiskWorld();
  world.fund({ ann: '1000000', bob: '1000000', eve: '100' });
  world.price('100');
  world.transfer('ann', 'vault', '1000');
  world.trade('eve', 'bob', '10', '100');
  world.price('94');
  // The vault received half of the requirement: it has 10 at 94 and 1,023.5 of cash; now
  // mark 110, index 104.
  expect(world.balance('vault')).toBe('1023.5');
  world.price('110', 'M', '104');
  world.transfer('bob', 'vault', '1000');
  const minted = world.events
    .filter((event) => event.kind === 'vaultSharesChanged')
    .at(-1) as VaultSharesChanged;
  // At mark for a deposit: (1,000 + 1) ÷ (1,023.5 + 160 + 1).
  expect(minted.change).toBe((usd('1000') * 1_001_000_000n) / 1_184_500_000n);
  // At index for a redemption.
  expect(history(world, 'bob')[0]!.usdValue).toBe(
    dollars((minted.shares * 2_124_500_000n) / (minted.totalShares + 1_000_000n)),
  );
});

const REFUSED: readonly (readonly [string, (world: RiskWorld) => string, string])[] = [
  [
    'a deposit below the minimum',
    (w) => w.transfer('ann', 'vault', '9.999999'),
    '400 amount: is below the smallest deposit to the vault',
  ],
  [
    'a withdrawal without shares',
    (w) => w.transfer('vault', 'bob', '1'),
    '400 amount: exceeds the value of the vault shares held',
  ],
  [
    'a withdrawal of more than the shares are worth',
    (w) => {
      w.wait(4 * DAY);
      return w.transfer('vault', 'ann', '100.000001');
    },
    '400 amount: exceeds the value of the vault shares held',
  ],
  ['a negative amount', (w) => w.transfer('ann', 'vault', '-10'), '400 amount must be positive'],
  [
    'more than is withdrawable',
    (w) => w.transfer('ann', 'vault', '2000000'),
    '400 Transfer amount exceeds available balance',
  ],
  [
    'another subaccount of the vault',
    (w) => w.transfer('ann', 'vault', '10', { subaccountIndexTo: 1 }),
    '403 Transfer between these accounts is not allowed',
  ],
  [
    'from the vault to the vault',
    (w) => w.answer('transfer', w.transferBody('vault', 'vault', '10'), 'ann'),
    '403 Delegation not allowed for request',
  ],
  [
    'from insurance',
    (w) =>
      w.answer(
        'transfer',
        w.transferBody('insurance', 'ann', '1', { target: w.addressOf('ann') }),
        'ann',
      ),
    '403 target must be accountFrom, or accountTo for a transfer from the vault',
  ],
  [
    'to the treasury',
    (w) => w.transfer('ann', 'treasury', '1'),
    '403 Transfer between these accounts is not allowed',
  ],
  [
    'another holder’s shares',
    (w) => w.answer('transfer', w.transferBody('vault', 'ann', '1'), 'bob'),
    '403 Delegation not allowed for request',
  ],
];

describe('a refusal by the vault changes nothing', () => {
  test.each(REFUSED)('%s', (_name, attempt, words) => {
    const world = opened();
    world.transfer('ann', 'vault', '100');
    expect(attempt(world)).toBe(words);
    const hash = world.engine.stateHash();
    expect(attempt(world)).toBe(words);
    // Apart from the waits of a second attempt, a refused transfer changes nothing.
    if (!words.includes('exceeds the value')) expect(world.engine.stateHash()).toBe(hash);
  });

  test('a vault without value accepts no deposit and pays nothing out', () => {
    const world = new RiskWorld([{ initialMargin: '0.5', maintenanceMargin: '0' }], {
      vaultLockupMs: 0,
    });
    world.fund({ ann: '10000', bob: '10000', eve: '1000' });
    world.price('100');
    world.transfer('ann', 'vault', '520');
    world.trade('eve', 'bob', '20', '100');
    world.deposit('insurance', '1000');
    // From the next hour on it may pay a quarter of that.
    world.wait(3_600_000);
    world.price('49');
    expect(world.steps()).toEqual(['eve insurance', 'eve takeover']);
    // It has 20 from 49 with 520 of cash: worth nothing at 23.
    world.price('23');
    expect(world.margin('vault').accountValueQuanta).toBe(0n);
    const words = '400 The vault has no value above its losses now';
    expect(world.transfer('bob', 'vault', '10')).toBe(words);
    expect(world.transfer('vault', 'ann', '1')).toBe(words);
    // A holder without shares has none to redeem, whatever they are worth.
    expect(world.transfer('vault', 'bob', '1')).toBe(
      '400 amount: exceeds the value of the vault shares held',
    );
    const state = stateOf(world.engine);
    expect(vaultValue(state, 'burn')).toBe(0n);
    expect(sharesValue(state, state.vaultShares)).toBe(0n);
    state.vault.cash = quanta(state.vault.cash - 1n);
    expect(sharesValue(state, state.vaultShares)).toBe(0n);
    state.vault.cash = quanta(state.vault.cash + 2n);
    // 520 shares × (0.000001 + 1) ÷ (520 + 1): the virtual dollar is one of the shares' assets.
    expect(sharesValue(state, state.vaultShares)).toBe(998_081n);
  });

  test('a vault without shares accepts deposits unless it has lost more than it had', () => {
    const world = opened();
    world.checks = false;
    const state = stateOf(world.engine);
    state.vault.cash = quanta(-1n);
    expect(world.transfer('ann', 'vault', '10')).toBe(
      '400 The vault has no value above its losses now',
    );
    state.vault.cash = quanta(0n);
    expect(world.transfer('ann', 'vault', '10')).toBe('ok');
    expect(sharesOf(world, 'ann')).toBe('10');
  });

  test('a withdrawal of more than the vault’s own positions leave free', () => {
    const world = new RiskWorld([{}], { vaultLockupMs: 0, vaultLeaveShare: '0' });
    world.fund({ ann: '1000000', bob: '1000000', eve: '100' });
    world.price('100');
    world.transfer('ann', 'vault', '1000');
    world.trade('eve', 'bob', '10', '100');
    world.price('94');
    expect(world.engine.positions(world.idOf('vault'))[0]?.lots).toBe(10_000);
    const { withdrawableQuanta } = world.margin('vault');
    const [{ usdValue } = { usdValue: '0' }] = history(world, 'ann');
    expect(withdrawableQuanta).toBeLessThan(usd(usdValue));
    expect(world.transfer('vault', 'ann', dollars(quanta(withdrawableQuanta + 1n)))).toBe(
      '400 Transfer amount exceeds available balance',
    );
    expect(world.transfer('vault', 'ann', dollars(withdrawableQuanta))).toBe('ok');
    expect(world.margin('vault').withdrawableQuanta).toBe(0n);
  });
});

test('the snapshots of the day end with the last holder, and begin again with the next one', () => {
  const world = opened({ vaultLockupMs: 0 });
  const state = stateOf(world.engine);
  world.transfer('ann', 'vault', '100');
  expect(state.vaultSnapshotUs).not.toBe(Infinity);
  expect(world.transfer('vault', 'ann', '100')).toBe('ok');
  expect(state.vaultShares).toBe(0n);
  world.wait(DAY);
  expect(state.vaultSnapshotUs).toBe(Infinity);
  const count = history(world, 'ann').length;
  world.wait(DAY);
  expect(history(world, 'ann')).toHaveLength(count);
  world.transfer('ann', 'vault', '100');
  world.wait(DAY);
  expect(history(world, 'ann')).toHaveLength(count + 2);
});

describe('attacks', () => {
  test('dust: no sequence of small deposits and withdrawals takes more out than it puts in', () => {
    const world = opened({ vaultLockupMs: 0, minVaultDeposit: '0.000001' });
    world.transfer('ann', 'vault', '333.333333');
    const before = usd(world.balance('bob'));
    for (let i = 1; i <= 60; i++) {
      const paid = `0.00000${String((i % 7) + 1)}`;
      if (world.transfer('bob', 'vault', paid) !== 'ok') continue;
      const worth = history(world, 'bob')[0]!.usdValue;
      if (worth !== '0') world.transfer('vault', 'bob', worth);
    }
    expect(usd(world.balance('bob'))).toBeLessThanOrEqual(before);
    const left = history(world, 'ann')[0]!;
    expect(usd(left.usdValue)).toBeGreaterThanOrEqual(usd('333.333333'));
  });

  test('first depositor: an attacker loses the money that inflates the share before a victim’s deposit', () => {
    const world = new RiskWorld([{ takerFee: '0.01' }], {
      vaultFeeShare: '1',
      insuranceFeeShare: '0',
      vaultLockupMs: 0,
    });
    world.fund({ eve: '1000000', bob: '1000000', cat: '1000000', vic: '20000' });
    world.price('100');
    world.transfer('eve', 'vault', '10');
    gain(world, 5000);
    expect(world.balance('vault')).toBe('10010');
    expect(world.transfer('vic', 'vault', '10000')).toBe('ok');
    const [mine] = history(world, 'vic');
    expect(usd(mine!.usdValue)).toBeGreaterThan(usd('9999.99'));
    const [hers] = history(world, 'eve');
    // 10 of 11 shares of the donation, virtual one included; never a cent of the victim's.
    expect(usd(hers!.usdValue)).toBeLessThanOrEqual(usd('9100.909091'));
  });

  test('donation: a plain deposit to the vault’s account is refused', () => {
    const world = opened();
    expect(world.deposit('vault', '1000')).toBe('transfer_not_allowed');
  });

  test('a sandwich around a gain of the vault fails because of the lock', () => {
    const world = new RiskWorld([{ takerFee: '0.01' }], {
      vaultFeeShare: '1',
      insuranceFeeShare: '0',
    });
    world.fund({ ann: '1000000', eve: '1000000', bob: '1000000', cat: '1000000' });
    world.price('100');
    world.transfer('ann', 'vault', '1000');
    world.transfer('eve', 'vault', '100000');
    gain(world, 100);
    expect(world.transfer('vault', 'eve', '100000')).toMatch(/locked/);
  });
});

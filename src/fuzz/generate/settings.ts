/** Draws margin settings, delegates, signers, self-trade modes and late listings. */
import type { Command } from '../../engine/commands.ts';
import { accountId, address, lots, ppm, priceTicks, subaccountId } from '../../num/units.ts';
import type { Context } from './draw-context.ts';
import { delegateOf } from './terms.ts';

export function makeMargin(context: Context): Command {
  const { dice } = context;
  const roll = dice.below(10);
  const found = roll < 4 ? context.holder() : roll < 8 ? context.idler() : null;
  const owner = found?.owner ?? context.subaccount();
  const market = found?.market ?? context.market();
  // With an open position the mode usually stays: only the rate may change.
  const held = (owner.positions[market.id] ?? 0) !== 0 && dice.chance(900);
  const min = market.spec.tiers[0]?.initialMarginPpm ?? 50_000;
  return {
    kind: 'updateMargin',
    timeUs: context.nowUs,
    subaccount: context.faulty && dice.chance(300) ? subaccountId(1) : owner.id,
    market: market.id,
    isolated: held ? owner.isolated[market.id] === true : dice.chance(600),
    marginPpm: ppm(
      context.faulty
        ? dice.pick([0, 1, 1_000_001])
        : dice.chance(500)
          ? Math.min(1_000_000, min * dice.between(1, 2))
          : dice.pick([20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]),
    ),
    nonce: context.lateNonce(),
    expiresAtMs: context.expiresAtMs(),
    delegate:
      context.faulty && dice.chance(200) ? accountId(dice.below(8)) : delegateOf(context, owner),
  };
}

/** Grants and revocations, also for unknown accounts; used grants are revoked half the time. */
export function makeDelegate(context: Context): Command {
  const { dice, world } = context;
  const grant = world.grants.length > 0 && dice.chance(330) ? dice.pick(world.grants) : null;
  const stranger = address(`0x${String(dice.below(20)).padStart(40, 'd')}`);
  const common = {
    kind: 'updateDelegate',
    timeUs: context.nowUs,
    nonce: context.lateNonce(),
    expiresAtMs: context.expiresAtMs(),
  } as const;
  if (grant !== null) {
    return {
      ...common,
      account: world.view.addressOf(grant.account),
      subaccountIndex: grant.index,
      delegate: world.view.addressOf(grant.delegate),
      delegated: false,
    };
  }
  // A revoked delegate returns, with its used nonces.
  const back = world.revoked.length > 0 && dice.chance(300) ? dice.pick(world.revoked) : null;
  if (back !== null) {
    return {
      ...common,
      account: world.view.addressOf(back.account),
      subaccountIndex: back.index,
      delegate: world.view.addressOf(back.delegate),
      delegated: true,
    };
  }
  // One subaccount is preferred, so that it can exceed the delegate limit.
  const owner = dice.chance(500) ? dice.pick(world.subaccounts.slice(0, 1)) : context.subaccount();
  return {
    ...common,
    account: context.faulty ? stranger : owner.address,
    subaccountIndex: context.faulty ? 77 : owner.index,
    delegate: dice.chance(200) ? context.user() : stranger,
    delegated: dice.chance(900),
  };
}

export function makeSigners(context: Context): Command {
  const { dice, setup } = context;
  const count = dice.between(context.faulty ? 0 : 1, Math.min(3, setup.users.length));
  const first = dice.below(setup.users.length);
  const signers = Array.from({ length: count }, (_, i) => {
    const place = context.faulty ? first : (first + i) % setup.users.length;
    return setup.users[place] ?? context.user();
  });
  return {
    kind: 'updateSigners',
    timeUs: context.nowUs,
    account: context.user(),
    signers,
    quorum: context.faulty ? dice.pick([0, count + 1]) : dice.between(1, count),
    nonce: context.lateNonce(),
    expiresAtMs: context.expiresAtMs(),
  };
}

export function makeSelfTrade(context: Context): Command {
  return {
    kind: 'setSelfTradeMode',
    timeUs: context.nowUs,
    account: context.faulty ? address(`0x${'e'.repeat(40)}`) : context.user(),
    mode: context.dice.pick([null, 0, 1, 2]),
  };
}

/** Lists another market like the first, or the first symbol again. */
export function makeListing(context: Context): Command {
  const { dice, world, setup } = context;
  const spec = dice.pick(setup.specs);
  // At most a few: the timers of each market cost time at every time jump.
  const fresh = !context.faulty && world.markets.length < setup.specs.length + 2;
  const symbol = fresh ? `L${String(world.markets.length)}` : spec.symbol;
  // An invalid listing: fees that pay more than they take, contradictory sizes, or no margin.
  const spoiled = context.faulty || (!fresh && dice.chance(500));
  const unsound = spoiled
    ? dice.pick([
        { makerFeePpm: ppm(-spec.takerFeePpm - 1), symbol: 'X' },
        { minLots: lots(spec.maxLots + 1), symbol: 'X' },
        { tiers: [], symbol: 'X' },
        { initialMarkTicks: priceTicks(1), markSource: 'index' as const, symbol: 'X' },
      ])
    : {};
  return { kind: 'listMarket', timeUs: context.nowUs, spec: { ...spec, symbol, ...unsound } };
}

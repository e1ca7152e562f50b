/** Margin settings, delegates, signers, self-trade modes, and markets that open late. */
import type { Command } from '../../engine/commands.ts';
import { address, lots, ppm, priceTicks, subaccountId } from '../../num/units.ts';
import type { Context } from './draw-context.ts';

export function makeMargin(context: Context): Command {
  const { dice } = context;
  const roll = dice.below(10);
  const found = roll < 4 ? context.holder() : roll < 8 ? context.idler() : null;
  const owner = found?.owner ?? context.subaccount();
  const market = found?.market ?? context.market();
  // Whoever holds something keeps its mode, mostly: only the rate may change then.
  const held = (owner.positions[market.id] ?? 0) !== 0 && dice.chance(900);
  const least = market.spec.tiers[0]?.initialMarginPpm ?? 50_000;
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
          ? Math.min(1_000_000, least * dice.between(1, 2))
          : dice.pick([20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]),
    ),
    nonce: context.lateNonce(),
    expiresAtMs: context.expiresAtMs(),
    delegate: null,
  };
}

/** Grants and revocations, among users and strangers; a used grant is revoked as often as a new one is given. */
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
  // Who was revoked comes back, with the nonces that it used.
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
  // One subaccount is favoured: there may be too many in the end.
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

/** One more market, like the first; or its symbol once more. */
export function makeListing(context: Context): Command {
  const { dice, world, setup } = context;
  const spec = dice.pick(setup.specs);
  // A few more at most: each costs every jump of time its timers.
  const fresh = !context.faulty && world.markets.length < setup.specs.length + 2;
  const symbol = fresh ? `L${String(world.markets.length)}` : spec.symbol;
  // A listing is refused whose fees would pay more than they take, whose sizes contradict each other, or that asks no margin.
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

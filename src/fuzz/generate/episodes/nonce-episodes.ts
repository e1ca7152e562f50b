/** Episodes about nonces: windows that are full, their edges, and revoked delegates. */
import type { Command } from '../../../engine/commands.ts';
import { accountId, address, PPM, ppm, type AccountId } from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import { NEVER_MS } from '../../run-setup.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import { groupOrder, placeOrder } from './stage.ts';

/** so many used nonces of an identity are known. */
const WINDOW = 1024;
const BATCH = 100;
/** Places from the highest used nonce: those around the edge of a window, and inside it. */
const RANKS = [WINDOW + 2, WINDOW + 1, WINDOW, WINDOW - 1, WINDOW - 9, WINDOW / 2, 2, 1];

interface Identity {
  readonly owner: KnownSubaccount;
  readonly market: KnownMarket;
  readonly delegate: AccountId | null;
}

/** Uses more nonces than a window keeps, with gaps; then nonces at its edges. */
export function nonceWindow(context: Context): readonly Planned[] {
  const { world } = context;
  const market = context.market();
  if (market.status !== 'open') return [];
  const full = world.fullWindow();
  const owner = world.subaccounts.find(({ id }) => id === full?.owner);
  if (full !== null && owner !== undefined) {
    return probes(context, { owner, market, delegate: full.delegate });
  }
  const identity = { market, ...drawSigner(context) };
  const used = world.noncesOf(identity.owner.id, identity.delegate);
  const missing = Math.max(0, WINDOW + 10 - used.length);
  return [
    ...Array.from({ length: Math.ceil(missing / BATCH) }, () => batch(identity)),
    ...probes(context, identity),
  ];
}

/** A subaccount, and sometimes a delegate that signs for it. */
function drawSigner(context: Context): Omit<Identity, 'market'> {
  const { dice, world } = context;
  const grant = world.grants.length > 0 && dice.chance(400) ? dice.pick(world.grants) : null;
  const owner = world.subaccounts.find(
    ({ account, index }) => account === grant?.account && index === grant.index,
  );
  return owner === undefined || grant === null
    ? { owner: context.subaccount(), delegate: null }
    : { owner, delegate: grant.delegate };
}

/** Orders that rest nowhere; each uses a nonce. The gaps between nonces stay free. */
const batch =
  ({ owner, market, delegate }: Identity): Planned =>
  (context) => {
    const plain = groupOrder(context, market, market.spec.minLots, 1, { ioc: true });
    const orders = Array.from({ length: BATCH }, (_, i) =>
      i === 0 ? plain : { ...plain, nonce: context.spacedNonce() },
    );
    return {
      kind: 'placeOrders',
      timeUs: context.nowUs,
      subaccount: owner.id,
      delegate,
      orders,
    };
  };

/** Used and free nonces from below the window to its top, in a drawn order and one again. */
function probes({ dice }: Context, identity: Identity): readonly Planned[] {
  const { owner, delegate } = identity;
  const beside = [...RANKS, ...RANKS].map((rank) => ({ rank, by: dice.pick([0, 0, 1, 1, 2, -1]) }));
  const turned = dice.below(beside.length);
  const inOrder = [...beside.slice(turned), ...beside.slice(0, turned), ...beside.slice(0, 3)];
  return inOrder.map(({ rank, by }) => (context) => {
    const used = context.world.noncesOf(owner.id, delegate);
    const edge = used[used.length - Math.min(rank, used.length)];
    return edge === undefined ? null : probe(context, identity, edge + BigInt(by));
  });
}

const probe = (context: Context, { owner, market, delegate }: Identity, nonce: bigint) =>
  placeOrder(context, { owner, market }, market.spec.minLots, 1, {
    ioc: true,
    nonce: nonce < 0n ? 0n : nonce,
    delegate,
  });

/** A margin setting as it is: its nonce is one of the account, not of the subaccount. */
const settingProbe = (
  { nowUs }: Context,
  { owner, market, delegate }: Identity,
  nonce: bigint,
): Command => ({
  kind: 'updateMargin',
  timeUs: nowUs,
  subaccount: owner.id,
  market: market.id,
  isolated: owner.isolated[market.id] === true,
  marginPpm: ppm(PPM),
  nonce: nonce < 0n ? 0n : nonce,
  expiresAtMs: NEVER_MS,
  delegate,
});

/**
 * A delegate sends orders or margin settings, is revoked, returns, and sends nonces at and beside
 * its last one.
 */
export function revokedDelegate(context: Context): readonly Planned[] {
  const { dice } = context;
  const market = context.market();
  if (market.status !== 'open') return [];
  const owner = context.subaccount();
  const delegateAddress = address(`0x${String(dice.below(20)).padStart(40, 'd')}`);
  const change =
    (delegated: boolean): Planned =>
    (now) => ({
      kind: 'updateDelegate',
      timeUs: now.nowUs,
      account: owner.address,
      subaccountIndex: owner.index,
      delegate: delegateAddress,
      delegated,
      nonce: now.nonce(),
      expiresAtMs: NEVER_MS,
    });
  const identityOf = ({ world }: Context): Identity => {
    const known = world.grants.find(
      (grant) =>
        grant.account === owner.account &&
        grant.index === owner.index &&
        world.view.addressOf(grant.delegate) === delegateAddress,
    );
    return { owner, market, delegate: known?.delegate ?? accountId(0) };
  };
  const send = dice.chance(500) ? probe : settingProbe;
  let highest = 0n;
  const uses =
    (by: number, spaced = false): Planned =>
    (now) => {
      const identity = identityOf(now);
      const nonce = spaced ? now.spacedNonce() : highest + BigInt(by);
      if (nonce > highest && spaced) highest = nonce;
      return send(now, identity, nonce);
    };
  return [
    change(true),
    uses(0, true),
    uses(0, true),
    change(false),
    uses(-1),
    change(true),
    ...[-1, 0, 1, -2, 0].map((by) => uses(by)),
    // The owner sends those of the delegate, and another identity in between.
    (now) => send(now, { owner, market, delegate: null }, highest + BigInt(dice.pick([-1, 0, 1]))),
    uses(1),
  ];
}

/** Nonces that orders have used, by subaccount and signing identity, for draws at window edges. */
import type { OrderAccepted, OrderRejected } from '../engine/events.ts';
import { accountId, type AccountId, type SubaccountId } from '../num/units.ts';
import type { Dice } from './dice.ts';

/** a window keeps so many nonces. */
const WINDOW = 1024;
const KEPT = 2 * WINDOW;
/** So many more show what lies below the window. */
const MARGIN = 8;
/** In place of a delegate. */
const OWNER = -1;

export class UsedNonces {
  /** Ascending, by owner and delegate. */
  private readonly used = new Map<SubaccountId, Map<number, bigint[]>>();

  note({
    subaccount,
    delegate,
    nonce,
  }: Pick<OrderAccepted | OrderRejected, 'subaccount' | 'delegate' | 'nonce'>): void {
    let byIdentity = this.used.get(subaccount);
    if (byIdentity === undefined) {
      byIdentity = new Map();
      this.used.set(subaccount, byIdentity);
    }
    const identity = delegate ?? OWNER;
    const nonces = byIdentity.get(identity) ?? [];
    byIdentity.set(identity, nonces);
    let place = nonces.length;
    while (place > 0 && (nonces[place - 1] ?? 0n) > nonce) place -= 1;
    nonces.splice(place, 0, nonce);
    if (nonces.length > KEPT) nonces.shift();
  }

  /** The nonces of an identity, ascending; null as delegate: the owner's. */
  of(owner: SubaccountId, delegate: number | null): readonly bigint[] {
    return this.used.get(owner)?.get(delegate ?? OWNER) ?? [];
  }

  /** An identity that has used more nonces than a window keeps; null if there is none. */
  fullest(): { readonly owner: SubaccountId; readonly delegate: AccountId | null } | null {
    for (const [owner, byIdentity] of this.used) {
      for (const [identity, { length }] of byIdentity) {
        if (length <= WINDOW + MARGIN) continue;
        return { owner, delegate: identity === OWNER ? null : accountId(identity) };
      }
    }
    return null;
  }

  /** A nonce at an edge of a window, or beside it; null if none was used. */
  edge(owner: SubaccountId, dice: Dice): bigint | null {
    const byIdentity = this.used.get(owner);
    if (byIdentity === undefined) return null;
    const nonces = dice.pick([...byIdentity.values()]);
    const { length } = nonces;
    const backs = [1, 1, 2, 3, WINDOW - 1, WINDOW, WINDOW + 1, WINDOW + 2, 1 + dice.below(length)];
    const fitting = backs.filter((back) => back <= length);
    const edge = nonces[length - dice.pick(fitting)] ?? 0n;
    const beside = edge + BigInt(dice.pick([0, 0, 0, -1, 1]));
    return beside < 0n ? edge : beside;
  }
}

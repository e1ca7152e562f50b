/**
 * Keeps an exchange alive: one whose users have no money left, or whose markets are all delisted,
 * refuses nearly everything and reaches no further states.
 */
import type { Command } from '../../engine/commands.ts';
import { quanta } from '../../num/units.ts';
import type { Context } from './draw-context.ts';
import { makeListing } from './settings.ts';

/** One command in so many looks for users without money. */
const LOOKS_PERMILLE = 150;
/** Quanta with which a user can still trade. */
const ENOUGH = 1_000_000n;

/** A deposit of a user who cannot trade, or a listing; null if most users can. */
export function reviving(context: Context): Command | null {
  const { dice, world, profile } = context;
  if (!dice.chance(LOOKS_PERMILLE)) return null;
  const open = world.markets.filter(({ status }) => status !== 'delisted');
  if (open.length === 0) return makeListing(context);
  if (world.view.markets().some(({ markTicks }) => markTicks === null)) return null;
  const users = world.subaccounts.filter(({ index }) => index === 0);
  if (users.length === 0) return null;
  const poor = users.filter(({ id }) => {
    const { crossEquityQuanta, crossInitialQuanta } = world.view.margin(id);
    return crossEquityQuanta - crossInitialQuanta < ENOUGH;
  });
  if (2 * poor.length <= users.length) return null;
  const { address: account, index: subaccountIndex } = dice.pick(poor);
  const whole = BigInt(Math.min(dice.pick(profile.deposits), MOST_WHOLE));
  return {
    kind: 'deposit',
    timeUs: context.nowUs,
    account,
    subaccountIndex,
    amount: quanta(whole * 1_000_000n + BigInt(dice.below(1_000_000))),
  };
}

/** In whole collateral: the sum of all stays below the limit of the exchange. */
const MOST_WHOLE = 1_000_000_000;

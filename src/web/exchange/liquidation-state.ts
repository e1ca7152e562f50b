/** Liquidations of the account in use; the public feed of liquidations names no account. */
import { effect, signal, untracked } from '@preact/signals';
import { ownLiquidations, type OwnLiquidation } from './account-history.ts';
import { spread } from './frames.ts';
import { liquidations } from './markets.ts';
import { account, subaccountIndex, token } from './session.ts';

const PAUSE_MS = 1000;
/** Pause after a read that failed. */
const REPEAT_MS = 2000;

export interface Shown {
  readonly last: OwnLiquidation;
  /** Own positions were liquidated; otherwise one was closed against those of another account. */
  readonly isOwn: boolean;
}

/** One login to one subaccount. */
interface Followed {
  /**
   * The last row that the person knows, as text: a virtual clock may have one time for many. null
   * until a read has succeeded; rows of that read are old.
   */
  known: string | null;
  /** A read has to begin after now. */
  isAsked: boolean;
  isReading: boolean;
}

/** Of the account in use, since the person dismissed the last notice; null if there are none. */
export const newest = signal<Shown | null>(null);
/** null without a login; another object after each change of token, account or subaccount. */
let followed: Followed | null = null;

const textOf = (row: OwnLiquidation | undefined): string => JSON.stringify(row ?? null);

function compare(of: Followed, rows: readonly OwnLiquidation[]): void {
  if (of.known === null) {
    of.known = textOf(rows[0]);
    return;
  }
  const at = rows.findIndex((row) => textOf(row) === of.known);
  const added = at < 0 ? rows : rows.slice(0, at);
  const [last] = added;
  if (last === undefined) return;
  newest.value = { last, isOwn: added.some(({ event }) => event === 'step') };
}

/** Reads until a read has succeeded that began after the last question. */
async function follow(of: Followed): Promise<void> {
  of.isAsked = true;
  if (of.isReading) return;
  of.isReading = true;
  while (of.isAsked) {
    of.isAsked = false;
    const isRead = await ownLiquidations.load().catch(() => false);
    if (followed !== of) return;
    if (isRead) {
      compare(of, ownLiquidations.rows.value);
    } else {
      await new Promise((resolve) => setTimeout(resolve, REPEAT_MS));
      if (followed !== of) return;
      of.isAsked = true;
    }
  }
  of.isReading = false;
}

const askWhether = spread(() => {
  if (followed !== null) void follow(followed);
}, PAUSE_MS);

export function followLiquidations(): void {
  effect(() => {
    const isIn = [token.value, account.value, subaccountIndex.value][0] !== null;
    newest.value = null;
    followed = isIn ? { known: null, isAsked: false, isReading: false } : null;
    const of = followed;
    if (of !== null) untracked(() => void follow(of));
  });
  effect(() => {
    if (liquidations.value.length > 0 && token.peek() !== null) askWhether();
  });
}

/** The person knows of the liquidation that is shown. */
export function dismiss(): void {
  if (followed !== null && newest.value !== null) followed.known = textOf(newest.value.last);
  newest.value = null;
}

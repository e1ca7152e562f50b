/** Says that the account in use was liquidated; the public feed of liquidations names no account. */
import { effect, signal, untracked } from '@preact/signals';
import { ownLiquidations, type OwnLiquidation } from './account-history.ts';
import { spread } from './frames.ts';
import { exchangeTime, liquidations } from './markets.ts';
import { account, subaccountIndex, token } from './session.ts';
import { timeText } from './text.ts';

const PAUSE_MS = 1000;

const newest = signal<OwnLiquidation | null>(null);
/** Liquidations up to this time of the exchange are known to the person, ms. */
let knownMs = Infinity;

const askWhether = spread(() => {
  void ownLiquidations.load().then(
    () => {
      const [last] = ownLiquidations.rows.value;
      if (last !== undefined && last.time > knownMs) newest.value = last;
    },
    () => undefined,
  );
}, PAUSE_MS);

export function followLiquidations(): void {
  effect(() => {
    const isIn = [token.value, account.value, subaccountIndex.value][0] !== null;
    newest.value = null;
    knownMs = isIn ? untracked(() => exchangeTime.value?.ms ?? Infinity) : Infinity;
  });
  effect(() => {
    if (liquidations.value.length > 0 && token.peek() !== null) askWhether();
  });
}

export function LiquidationNotice({ onShow }: { readonly onShow: () => void }) {
  const { value: last } = newest;
  if (last === null) return null;
  const dismiss = (): void => {
    knownMs = last.time;
    newest.value = null;
  };
  return (
    <p class="notice danger" role="alert">
      <strong>This account was liquidated</strong> at {timeText(last.time)} UTC
      {last.symbol === null ? '' : ` in ${last.symbol}`}: its equity fell below the maintenance
      margin.{' '}
      <button
        type="button"
        class="button"
        onClick={() => {
          dismiss();
          onShow();
        }}
      >
        Show the steps
      </button>{' '}
      <button type="button" class="button" onClick={dismiss}>
        Dismiss
      </button>
    </p>
  );
}

/** Says that the account in use was liquidated; the public feed of liquidations names no account. */
import { effect, signal, untracked } from '@preact/signals';
import { ownLiquidations, type OwnLiquidation } from './account-history.ts';
import { spread } from './frames.ts';
import { liquidations } from './markets.ts';
import { account, subaccountIndex, token } from './session.ts';
import { timeText } from './text.ts';

const PAUSE_MS = 1000;

interface Shown {
  readonly last: OwnLiquidation;
  /** Own positions were liquidated; otherwise one was closed against those of another account. */
  readonly isOwn: boolean;
}

const newest = signal<Shown | null>(null);
/** The last one that the person knows, as text; a virtual clock may have one time for many. */
let known = '';
let began = Promise.resolve();

const read = async (): Promise<readonly OwnLiquidation[]> => {
  await ownLiquidations.load();
  return ownLiquidations.rows.value;
};

const textOf = (row: OwnLiquidation | undefined): string => JSON.stringify(row ?? null);

const ignored = (): void => undefined;

const askWhether = spread(() => {
  const of = token.peek();
  void began
    .then(read)
    .then((rows) => {
      const at = rows.findIndex((row) => textOf(row) === known);
      const added = at < 0 ? rows : rows.slice(0, at);
      const [last] = added;
      if (token.peek() !== of || last === undefined) return;
      newest.value = { last, isOwn: added.some(({ event }) => event === 'step') };
    })
    .catch(ignored);
}, PAUSE_MS);

export function followLiquidations(): void {
  effect(() => {
    const isIn = [token.value, account.value, subaccountIndex.value][0] !== null;
    newest.value = null;
    if (!isIn) return;
    began = untracked(read).then(([last]) => {
      known = textOf(last);
    }, ignored);
  });
  effect(() => {
    if (liquidations.value.length > 0 && token.peek() !== null) askWhether();
  });
}

export function LiquidationNotice({ onShow }: { readonly onShow: () => void }) {
  const { value: shown } = newest;
  if (shown === null) return null;
  const { last, isOwn } = shown;
  const dismiss = (): void => {
    known = textOf(last);
    newest.value = null;
  };
  return (
    <p class="notice danger" role="alert">
      <strong>
        {isOwn ? 'This account was liquidated' : 'A position was closed by auto-deleveraging'}
      </strong>{' '}
      at {timeText(last.time)} UTC{last.symbol === null ? '' : ` in ${last.symbol}`}:{' '}
      {isOwn
        ? 'its equity fell below the maintenance margin.'
        : 'an account on the other side could not pay.'}{' '}
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

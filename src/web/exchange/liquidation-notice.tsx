/** Says that the account in use was liquidated. */
import { dismiss, newest } from './liquidation-state.ts';
import { timeText } from './text.ts';

export function LiquidationNotice({ onShow }: { readonly onShow: () => void }) {
  const { value: shown } = newest;
  if (shown === null) return null;
  const { last, isOwn } = shown;
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

/** The keys of the screen. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export const helpOpen = signal(false);

const KEYS = [
  ['B / S', 'buy or sell: the cursor goes to the price'],
  ['P / Q', 'price, size'],
  ['Enter', 'in the ticket: send the order'],
  ['C', 'close the position of this market'],
  ['X', 'cancel all orders of this market'],
  ['M', 'list of markets'],
  ['O / A', 'orders, account'],
  ['L', 'log in'],
  ['Esc', 'close a dialog; leave a field, so that keys work again'],
  ['?', 'this list'],
] as const;

export function HelpDialog() {
  useEffect(() => {
    const dialog = document.getElementById('help');
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }, []);
  const close = (): void => {
    helpOpen.value = false;
  };
  return (
    <dialog id="help" aria-labelledby="help-title" onClose={close}>
      <div class="bar">
        <h2 id="help-title">Keys</h2>
        <span class="space" />
        <button type="button" class="button plain" onClick={close}>
          Close
        </button>
      </div>
      <dl class="rows form">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="small form">No key works while the cursor is in a field.</p>
    </dialog>
  );
}

/** Login by an injected wallet, or by a private key of a test account. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { forgetAccount, loadAccount } from './account-state.ts';
import { answerOf, Withdrawn } from './delivery.ts';
import { everySecond, nowMs } from './market-bar.tsx';
import { messageOf } from './requests.ts';
import {
  account,
  loggedIn,
  logIn,
  logOut,
  sessionEnded,
  subaccountIndex,
  tokenEndsMs,
  wallet,
} from './session.ts';
import { indexOf, shortAddress } from './text.ts';
import {
  addressesOf,
  injectedAccounts,
  injectedProvider,
  injectedWallet,
  walletOfKey,
  type PageWallet,
} from './wallet.ts';

export const loginOpen = signal(false);
const problem = signal<string | null>(null);
/** The login that waits, as for a wallet. The close of the dialog ends the wait. */
const waiting = signal<AbortController | null>(null);
const key = signal('');
const actFor = signal('');
const accounts = signal<readonly string[]>([]);
/** A token that ends within this time is announced. */
const SOON_MS = 600_000;

export function LoginButton() {
  if (!loggedIn.value) {
    return (
      <button
        type="button"
        class="button primary"
        onClick={() => {
          loginOpen.value = true;
        }}
      >
        Log in
      </button>
    );
  }
  return (
    <button
      type="button"
      class="button"
      title={account.value ?? ''}
      onClick={() => {
        loginOpen.value = true;
      }}
    >
      {shortAddress(account.value ?? '')}
    </button>
  );
}

/** Warnings that stay: a key in the page, and the end of the session. */
export function SessionNotices() {
  everySecond();
  const left = tokenEndsMs.value === null ? null : tokenEndsMs.value - nowMs();
  if (left !== null && left <= 0 && loggedIn.value) {
    queueMicrotask(() => {
      logOut(true);
    });
  }
  return (
    <>
      {wallet.value?.kind === 'key' && loggedIn.value ? (
        <p class="notice warn">
          <strong>A private key is in this page.</strong> Use keys of test accounts only: this page
          signs without asking.
        </p>
      ) : null}
      {left !== null && left < SOON_MS && left > 0 ? (
        <p class="notice warn" role="status">
          The session ends in {Math.ceil(left / 60_000)} min. Log in again to extend it.
        </p>
      ) : null}
      {sessionEnded.value ? (
        <p class="notice danger" role="alert">
          The session has ended. Orders on the exchange stay; requests that wait are sent after the
          next login.{' '}
          <button
            type="button"
            class="button"
            onClick={() => {
              loginOpen.value = true;
            }}
          >
            Log in again
          </button>
        </p>
      ) : null}
    </>
  );
}

/** Without a wallet, the person has to choose one of its accounts. */
async function attempt(make: () => Promise<PageWallet | null>): Promise<void> {
  const own = new AbortController();
  waiting.value = own;
  problem.value = null;
  try {
    const by = await answerOf(make(), own.signal);
    if (by === null) return;
    if (
      account.value !== null &&
      account.value !== (actFor.value.trim().toLowerCase() || by.address)
    )
      forgetAccount();
    await logIn(by, actFor.value, own.signal);
    key.value = '';
    loginOpen.value = false;
    await loadAccount();
  } catch (error) {
    if (!(error instanceof Withdrawn)) problem.value = messageOf(error);
  } finally {
    if (waiting.value === own) waiting.value = null;
  }
}

let watched = false;

/** Follows the wallet: another account ends the session, so that no order is signed by surprise. */
function watchProvider(): void {
  const provider = injectedProvider();
  if (provider?.on === undefined || watched) return;
  watched = true;
  provider.on('accountsChanged', (changed) => {
    const list = addressesOf(changed);
    accounts.value = list;
    const { value: by } = wallet;
    if (by?.kind === 'injected' && !list.includes(by.address)) {
      logOut(false);
      forgetAccount();
      problem.value =
        list.length === 0
          ? 'The wallet is locked, or shows this page no account; connect it again'
          : 'The wallet changed its account; log in with the new one';
      loginOpen.value = true;
    }
  });
}

function connect(): void {
  const provider = injectedProvider();
  if (provider === null) {
    problem.value = 'This browser has no wallet extension (EIP-1193)';
    return;
  }
  watchProvider();
  void attempt(async () => {
    accounts.value = await injectedAccounts(provider);
    const [only, ...others] = accounts.value;
    if (only === undefined) throw new Error('The wallet shows no account: unlock it and allow one');
    return others.length === 0 ? injectedWallet(provider, only) : null;
  });
}

function logInInjected(address: string): Promise<void> {
  return attempt(() => {
    const provider = injectedProvider();
    if (provider === null) throw new Error('The wallet is gone');
    return Promise.resolve(injectedWallet(provider, address));
  });
}

export function LoginDialog() {
  useEffect(() => {
    const dialog = document.getElementById('login');
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }, []);
  const close = (): void => {
    waiting.value?.abort();
    loginOpen.value = false;
  };
  return (
    <dialog id="login" aria-labelledby="login-title" onClose={close}>
      <div class="bar">
        <h2 id="login-title">{loggedIn.value ? 'Account' : 'Log in'}</h2>
        <span class="space" />
        <button type="button" class="button plain" onClick={close}>
          Close
        </button>
      </div>
      <div class="form">
        {loggedIn.value ? (
          <LoggedIn />
        ) : (
          <>
            <button
              type="button"
              class="button primary"
              autofocus
              disabled={waiting.value !== null}
              onClick={connect}
            >
              Connect a wallet
            </button>
            {accounts.value.length > 1
              ? accounts.value.map((address) => (
                  <button
                    key={address}
                    type="button"
                    class="button mono"
                    disabled={waiting.value !== null}
                    onClick={() => void logInInjected(address)}
                  >
                    {address}
                  </button>
                ))
              : null}
            <form
              class="form"
              onSubmit={(event) => {
                event.preventDefault();
                void attempt(() => Promise.resolve().then(() => walletOfKey(key.value.trim())));
              }}
            >
              <p class="notice warn" id="key-warning">
                <strong>Test accounts only.</strong> Whoever sees a private key owns its money. The
                page keeps it in memory and forgets it on reload.
              </p>
              <label for="login-key">Private key of a test account</label>
              <input
                id="login-key"
                type="password"
                autocomplete="off"
                spellcheck={false}
                aria-describedby="key-warning"
                value={key.value}
                onInput={({ currentTarget }) => {
                  key.value = currentTarget.value;
                }}
              />
              <label for="login-for">Act for another account (optional)</label>
              <input
                id="login-for"
                autocomplete="off"
                placeholder="0x…"
                value={actFor.value}
                onInput={({ currentTarget }) => {
                  actFor.value = currentTarget.value;
                }}
              />
              <button type="submit" class="button" disabled={waiting.value !== null}>
                Log in with the key
              </button>
            </form>
          </>
        )}
        {waiting.value === null ? null : (
          <p class="small" role="status">
            Waiting for an answer. A wallet asks in a window of its own.
          </p>
        )}
        {problem.value === null ? null : (
          <p class="fault-text" role="alert">
            {problem.value}
          </p>
        )}
      </div>
    </dialog>
  );
}

function LoggedIn() {
  return (
    <>
      <p class="mono">{account.value}</p>
      {wallet.value?.address === account.value ? null : (
        <p class="small">signed by {wallet.value?.address}</p>
      )}
      <label for="login-sub">Subaccount</label>
      <input
        id="login-sub"
        inputMode="numeric"
        value={String(subaccountIndex.value)}
        onChange={({ currentTarget }) => {
          const index = indexOf(currentTarget.value);
          // The field has the index in use.
          if (index === null) currentTarget.value = String(subaccountIndex.value);
          else subaccountIndex.value = index;
        }}
      />
      <button
        type="button"
        class="button"
        onClick={() => {
          logOut(false);
          forgetAccount();
        }}
      >
        Log out
      </button>
    </>
  );
}

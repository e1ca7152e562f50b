/** Signers and quorum, delegates, and requests that collect signatures of several wallets. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ResponseOf } from '../../contract/endpoints.ts';
import {
  accountOf,
  collected,
  counted,
  drop,
  merge,
  nameOf,
  readText,
  STRUCTS,
  textOf,
  type Collected,
} from './collecting.ts';
import { config } from './markets.ts';
import { outbox, send, sendCollected } from './outbox.ts';
import { call, messageOf } from './requests.ts';
import {
  account,
  loadSigners,
  loggedIn,
  mustConfig,
  signers,
  subaccountIndex,
  token,
  wallet,
} from './session.ts';
import { shortAddress } from './text.ts';
import { signedFields } from './wallet.ts';

const delegates = signal<ResponseOf<'getDelegates'>>([]);
const problem = signal<string | null>(null);
const given = signal('');
const newDelegate = signal('');
/** Text of the form; null: the signers in force. */
const newSigners = signal<string | null>(null);
const newQuorum = signal<string | null>(null);

/** Takes a request from a link; true if the address has one. */
export function receiveLink(hash: string): boolean {
  if (!hash.startsWith('#sign=')) return false;
  history.replaceState(null, '', location.pathname);
  receive(hash);
  return true;
}

function receive(text: string): void {
  try {
    collected.value = merge(collected.value, readText(text));
    problem.value = null;
    given.value = '';
  } catch (error) {
    problem.value = messageOf(error);
  }
}

async function load(): Promise<void> {
  await loadSigners();
  if (account.value === null || token.value === null) return;
  const read = call('getDelegates', { account: account.value }, token.value);
  delegates.value = await read.catch(() => []);
}

export function Signers() {
  const done = outbox.value.filter(({ state }) => state === 'done').length;
  useEffect(() => void load(), [account.value, token.value, done]);
  return (
    <div class="columns">
      <div>
        <h2>Requests that collect signatures</h2>
        {problem.value === null ? null : (
          <p class="notice danger" role="alert">
            {problem.value}
          </p>
        )}
        {collected.value.length === 0 ? (
          <p class="empty">
            No request waits for signatures. If the quorum is above 1, what you send appears here.
          </p>
        ) : (
          collected.value.map((of) => <Request key={nameOf(of)} of={of} />)
        )}
        <form
          class="row-form"
          onSubmit={(event) => {
            event.preventDefault();
            receive(given.value);
          }}
        >
          <label for="handed-over">A request that another signer handed over</label>
          <textarea
            id="handed-over"
            class="mono"
            placeholder="orrery-request:…"
            value={given.value}
            onInput={({ currentTarget }) => {
              given.value = currentTarget.value;
            }}
          />
          <button type="submit" class="button" disabled={given.value.trim() === ''}>
            Take it
          </button>
        </form>
      </div>
      {loggedIn.value ? (
        <div>
          <SignersForm />
          <Delegates />
        </div>
      ) : (
        <p class="empty">Log in to see signers and delegates</p>
      )}
    </div>
  );
}

async function sign(of: Collected): Promise<void> {
  const struct = STRUCTS[of.endpoint];
  const { value: by } = wallet;
  if (by === null || struct === undefined) return;
  try {
    const parts = [];
    for (const part of of.parts) {
      const signature = await by.sign(mustConfig(), struct, part);
      parts.push({ ...part, signatures: [...(part['signatures'] as string[]), signature] });
    }
    collected.value = merge(collected.value, { ...of, parts });
    problem.value = null;
  } catch (error) {
    problem.value = messageOf(error);
  }
}

/** The fields that a wallet signs; none while the exchange's parameters are not read. */
function SignedFields({ of }: { readonly of: Collected }) {
  const settings = config.value;
  const struct = STRUCTS[of.endpoint];
  if (settings === null || struct === undefined) return null;
  return (
    <dl class="rows small">
      {of.parts.flatMap((part, i) =>
        signedFields(settings, struct, part).map(([name, value]) => (
          <div key={`${String(i)} ${name}`}>
            <dt>{of.parts.length > 1 ? `${String(i + 1)}. ${name}` : name}</dt>
            {value === '' ? <dd class="quiet">empty</dd> : <dd class="mono">{value}</dd>}
          </div>
        )),
      )}
    </dl>
  );
}

function Request({ of: held }: { readonly of: Collected }) {
  const owner = accountOf(held);
  const isOwn = loggedIn.value && account.value === owner;
  const known = isOwn ? signers.value : null;
  const settings = config.value;
  const { by: signed, of } = useMemo(
    () =>
      known === null || settings === null
        ? { by: [], of: held }
        : counted(settings, held, known.signers),
    [held, known, settings],
  );
  const by = wallet.value?.address ?? '';
  const isComplete = known !== null && signed.length >= known.quorum;
  const text = textOf(of);
  return (
    <article class="request">
      <h3>{STRUCTS[of.endpoint]}</h3>
      <SignedFields of={of} />
      <p role="status">
        {known === null
          ? `Log in for ${owner} to sign it`
          : `${String(signed.length)} of ${String(known.quorum)} signatures: ${
              signed.map(shortAddress).join(', ') || 'none'
            }`}
      </p>
      <label>
        Text to hand over
        <textarea
          class="mono"
          readOnly
          value={text}
          onFocus={({ currentTarget }) => {
            currentTarget.select();
          }}
        />
      </label>
      <p class="bar-of-buttons">
        {isComplete ? (
          <button
            type="button"
            class="button primary"
            onClick={() => {
              const what = `${STRUCTS[of.endpoint] ?? ''} with ${String(signed.length)} signatures`;
              void sendCollected(of, what).then((isDone) => {
                if (isDone) drop(of);
              });
            }}
          >
            Send
          </button>
        ) : (
          <button
            type="button"
            class="button primary"
            disabled={known?.signers.includes(by) !== true || signed.includes(by)}
            onClick={() => void sign(of)}
          >
            {signed.includes(by) ? 'Signed by you' : 'Sign'}
          </button>
        )}{' '}
        <a class="link" href={`${location.pathname}#sign=${text}`}>
          Link
        </a>{' '}
        <button
          type="button"
          class="button"
          onClick={() => {
            drop(of);
          }}
        >
          Discard
        </button>
      </p>
    </article>
  );
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const addressesOf = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '');

function SignersForm() {
  const { value: known } = signers;
  if (known === null) return <p class="empty">Only signers of the account see its signers</p>;
  const text = newSigners.value ?? known.signers.join('\n');
  const quorum = newQuorum.value ?? String(known.quorum);
  const list = addressesOf(text);
  const wrong = list.find((one) => !ADDRESS.test(one));
  const count = Number(quorum);
  const isLockedOut = !list.some((one) => one.toLowerCase() === wallet.value?.address);
  const fault =
    wrong !== undefined
      ? `${wrong} is not an address`
      : !Number.isInteger(count) || count < 1 || count > list.length
        ? 'The quorum must be from 1 to the number of signers'
        : null;
  return (
    <form
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (fault !== null) return;
        const body = {
          account: known.account,
          signers: list.map((one) => one.toLowerCase()),
          quorum: count,
        };
        const what = `Signers: ${quorum} of ${String(list.length)}`;
        void send('updateSigners', 'Signers', body, what).then((isDone) => {
          if (!isDone) return;
          newSigners.value = null;
          newQuorum.value = null;
        });
      }}
    >
      <h2>Signers</h2>
      <p class="small quiet">
        In force: {known.quorum} of {known.signers.length}. They sign what moves money or rights,
        and orders that no delegate signs.
      </p>
      <label for="signers-text">Addresses, one a line</label>
      <textarea
        id="signers-text"
        class="mono"
        value={text}
        onInput={({ currentTarget }) => {
          newSigners.value = currentTarget.value;
        }}
      />
      <label for="signers-quorum">Quorum</label>
      <input
        id="signers-quorum"
        class="short"
        inputMode="numeric"
        value={quorum}
        onInput={({ currentTarget }) => {
          newQuorum.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button" disabled={fault !== null}>
        Change signers
      </button>
      {fault === null ? null : <p class="fault-text">{fault}</p>}
      {fault === null && isLockedOut ? (
        <p class="notice warn">This wallet is not in the list: it loses its rights.</p>
      ) : null}
    </form>
  );
}

function Delegates() {
  const change = (delegate: string, index: number, delegated: boolean): void => {
    const body = {
      account: account.value,
      delegate: delegate.toLowerCase(),
      delegated,
      subaccountIndex: index,
    };
    const what = `${delegated ? 'Add' : 'Remove'} delegate ${shortAddress(delegate)}`;
    void send('updateDelegates', 'Delegate', body, what);
  };
  return (
    <form
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        change(newDelegate.value.trim(), subaccountIndex.value, true);
        newDelegate.value = '';
      }}
    >
      <h2>Delegates</h2>
      <p class="small quiet">A delegate trades for one subaccount and moves no money.</p>
      <ul class="delegates">
        {delegates.value.map(({ delegate, subaccountIndex: index }) => (
          <li key={`${delegate} ${String(index)}`}>
            <span class="mono">{delegate}</span> subaccount {index}{' '}
            <button
              type="button"
              class="button"
              aria-label={`Remove ${delegate}`}
              onClick={() => {
                change(delegate, index, false);
              }}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <label for="new-delegate">New delegate of subaccount {subaccountIndex.value}</label>
      <input
        id="new-delegate"
        class="mono"
        placeholder="0x…"
        autocomplete="off"
        value={newDelegate.value}
        onInput={({ currentTarget }) => {
          newDelegate.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button" disabled={!ADDRESS.test(newDelegate.value.trim())}>
        Add
      </button>
    </form>
  );
}

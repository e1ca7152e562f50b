/** The login of this tab: wallet, token and its end. Nothing is stored: a reload logs out. */
import { batch, computed, signal } from '@preact/signals';
import { dropToken, subscribe, unsubscribeAccounts, useToken } from './feeds.ts';
import { config, exchangeTime } from './markets.ts';
import type { ResponseOf } from '../../contract/endpoints.ts';
import { answerOf } from './delivery.ts';
import { call, Refused } from './requests.ts';
import type { PageWallet } from './wallet.ts';

export const wallet = signal<PageWallet | null>(null);
/** Account that the wallet acts for: its own, or one that made it a signer or delegate. */
export const account = signal<string | null>(null);
export const subaccountIndex = signal(0);
export const token = signal<string | null>(null);
/** End of the token in ms of exchange time. */
export const tokenEndsMs = signal<number | null>(null);
/** Set when a token ended while the page was open. */
export const sessionEnded = signal(false);
/** Signers in force of the account; null if they are not known. */
export const signers = signal<ResponseOf<'getSigners'> | null>(null);
/** Whether requests need more signatures than that of this wallet, which is one of the signers. */
export const needsQuorum = computed(
  () =>
    signers.value !== null &&
    signers.value.quorum > 1 &&
    signers.value.signers.includes(wallet.value?.address ?? ''),
);
export const loggedIn = computed(() => token.value !== null);
/** Tokens of the operator and of simulation control, typed by the person. */
export const operatorToken = signal<string | null>(null);
export const simToken = signal<string | null>(null);

/** Requests that wait for a login. */
const resumed = new Set<() => void>();

/** Logs in by a signature. Throws `Refused`, `NoAnswer`, `Withdrawn`, or the wallet's error. */
export async function logIn(
  by: PageWallet,
  forAccount: string,
  withdrawn: AbortSignal,
): Promise<void> {
  const of = forAccount.trim() === '' ? by.address : forAccount.trim().toLowerCase();
  const challenge = await call('getAuth', { account: of });
  const signature = await answerOf(by.signMessage(challenge.signing_payload), withdrawn);
  const { message, server_signature } = challenge;
  const answer = await call('postAuth', { message, signature, server_signature });
  const { time } = await call('getTime', {});
  batch(() => {
    exchangeTime.value = { ms: time, atMs: Date.now() };
    wallet.value = by;
    account.value = of;
    token.value = answer.token;
    tokenEndsMs.value = answer.claims.exp * 1000;
    sessionEnded.value = false;
  });
  await loadSigners();
  await useToken(answer.token).catch(() => undefined);
  followAccount();
  for (const go of resumed) go();
  resumed.clear();
}

/** Reads the signers in force. A delegate may not, and signs alone. */
export async function loadSigners(): Promise<void> {
  if (account.value === null || token.value === null) return;
  signers.value = await call('getSigners', { account: account.value }, token.value).catch(
    () => null,
  );
}

/** Private feeds of the account in use. */
export function followAccount(): void {
  for (const source of ['order', 'fill', 'position', 'balance', 'stats']) {
    subscribe({ source, account: account.value, subaccountIndices: [subaccountIndex.value] });
  }
}

/** Ends the private feeds, before those of another subaccount. */
export const dropPrivate = unsubscribeAccounts;

/** Forgets the token. `ended`: it expired, or its wallet lost its rights. */
export function logOut(ended: boolean): void {
  dropToken();
  batch(() => {
    token.value = null;
    tokenEndsMs.value = null;
    sessionEnded.value = ended;
    if (ended) return;
    signers.value = null;
    wallet.value = null;
    account.value = null;
  });
}

/** Resolves at the next login. */
export const nextLogin = (): Promise<void> =>
  new Promise((resolve) => {
    resumed.add(resolve);
  });

/** A refusal of the token itself. */
export const isTokenRefusal = (error: unknown): boolean =>
  error instanceof Refused && error.status === 401;

let lastNonce = 0;

/** Microseconds since 1970, above the last one. */
export function nextNonce(): number {
  lastNonce = Math.max(lastNonce + 1, Date.now() * 1000);
  return lastNonce;
}

/** The parameters of the exchange; requests are signed for them. */
export function mustConfig() {
  if (config.value === null) throw new Error('The parameters of the exchange are not read yet');
  return config.value;
}

/**
 * Wallet login: a challenge with a single-use nonce, an EIP-191 signature over it, and a
 * JWT. A challenge is not stored: its signature by the server proves it, and its time ends it.
 * Only used nonces are stored. The token names the account and, in a private claim, the signing
 * wallet. Each request checks that the wallet may still act (R-9.5a, gateway).
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { jwtVerify, SignJWT, type JWTPayload } from 'jose';
import { invalidField, MESSAGES } from '../contract/messages.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import type { Caller } from '../gateway/context.ts';
import { Fields } from '../gateway/fields.ts';
import { RequestError } from '../gateway/request-error.ts';
import type { NonceStore } from '../journal-files/used-nonces.ts';
import { address, type Address, type TimeUs } from '../num/units.ts';
import { keccak } from '../wallet/crypto-ports.ts';
import { personalDigest } from '../wallet/personal-message.ts';
import { recover } from '../wallet/recover-signer.ts';

const NONCE_LIFE_MS = 5 * 60 * 1000;
const TOKEN_LIFE_S = 24 * 3600;
const MAX_CACHED_TOKENS = 100_000;

export interface Claims {
  readonly account: string;
  readonly exp: number;
  readonly iat: number;
}

export interface Verified {
  readonly caller: Caller;
  readonly claims: Claims;
}

/** Keys of challenges and tokens, each of at least 32 bytes. */
export interface Secrets {
  /** Signs. */
  readonly current: Uint8Array;
  /** Are accepted too, until the tokens that they signed expire. */
  readonly previous: readonly Uint8Array[];
}

export interface AuthOptions {
  readonly view: () => ExchangeView;
  readonly nowUs: () => TimeUs;
  readonly secrets: Secrets;
  readonly nonces: NonceStore;
  /** True if the nonce store must fail now; for client tests. */
  readonly nonceStoreFails: () => boolean;
}

export class WalletAuth {
  private readonly options: AuthOptions;
  private readonly tokens = new Map<string, Verified>();
  private secrets: Secrets;
  /** Number of changes of the secrets; tokens verified before one are verified again. */
  generation = 0;

  constructor(options: AuthOptions) {
    this.options = options;
    this.secrets = options.secrets;
  }

  /** Replaces the secrets. A token stays valid while its secret is among them. */
  rotate(secrets: Secrets): void {
    this.secrets = secrets;
    this.generation += 1;
    this.tokens.clear();
  }

  /** GET /auth */
  challenge(input: unknown): unknown {
    const account = new Fields(input, ['account'], true).address('account', keccak);
    if (this.options.nonceStoreFails()) throw new RequestError(MESSAGES.nonceStoreFailed);
    const message = {
      account,
      nonce: randomUUID(),
      timestamp: new Date(Math.floor(this.options.nowUs() / 1000)).toISOString(),
    };
    const payload = payloadOf(message);
    const server_signature = signature(payload, this.secrets.current);
    return { message, server_signature, signing_payload: payload };
  }

  /** POST /auth */
  async login(input: unknown): Promise<unknown> {
    const fields = new Fields(input, ['message', 'signature', 'server_signature'], false);
    const message = fields.object('message', ['account', 'nonce', 'timestamp']);
    const account = message.address('account', keccak);
    const nonce = message.text('nonce');
    const timestamp = message.text('timestamp');
    const payload = payloadOf({ account: message.text('account'), nonce, timestamp });
    const signed = fields.text('signature');
    const proof = fields.text('server_signature');
    if (!this.accepted.some((secret) => equalText(proof, signature(payload, secret)))) {
      throw new RequestError(invalidField('server_signature', 'does not match the message'));
    }
    const signer = recover(personalDigest(payload), signed);
    if (signer === null || !this.mayActFor(account, signer)) {
      throw new RequestError(MESSAGES.invalidSignature);
    }
    const nowUs = this.options.nowUs();
    const expiresMs = Date.parse(timestamp) + NONCE_LIFE_MS;
    if (nowUs > expiresMs * 1000 || !(await this.useNonce(nonce, expiresMs, nowUs))) {
      throw new RequestError(MESSAGES.nonceConsumeFailed);
    }
    const iat = Math.floor(nowUs / 1_000_000);
    const claims: Claims = { account, exp: iat + TOKEN_LIFE_S, iat };
    const token = await new SignJWT({ account, signer })
      .setProtectedHeader({ alg: 'HS512', typ: 'JWT' })
      .setIssuedAt(claims.iat)
      .setExpirationTime(claims.exp)
      .sign(this.secrets.current);
    return { token, claims };
  }

  /** A token that was verified before and has not expired; otherwise null. */
  cached(token: string): Verified | null {
    const known = this.tokens.get(token);
    return known !== undefined && known.claims.exp * 1_000_000 > this.options.nowUs()
      ? known
      : null;
  }

  /** Account and wallet of a bearer token; throws 401 `Invalid token`. */
  async verify(token: string): Promise<Verified> {
    const nowUs = this.options.nowUs();
    const known = this.cached(token);
    if (known !== null) return known;
    try {
      const { generation } = this;
      const payload = await this.payloadOfToken(token, new Date(Math.floor(nowUs / 1000)));
      const { account, signer, iat, exp } = payload;
      if (typeof account !== 'string' || typeof signer !== 'string') throw new Error('claims');
      if (iat === undefined || exp === undefined) throw new Error('claims');
      const verified: Verified = {
        caller: { account: address(account), signer: address(signer) },
        claims: { account, exp, iat },
      };
      if (this.tokens.size >= MAX_CACHED_TOKENS) this.tokens.clear();
      if (generation === this.generation) this.tokens.set(token, verified);
      return verified;
    } catch {
      throw new RequestError(MESSAGES.invalidToken);
    }
  }

  /** R-9.5a: a current signer, or a delegate of one of the account's subaccounts. */
  private mayActFor(account: Address, signer: Address): boolean {
    const view = this.options.view();
    if (view.signersOf(account).signers.includes(signer)) return true;
    return view.delegatesOf(account).some((held) => view.addressOf(held.delegate) === signer);
  }

  private get accepted(): readonly Uint8Array[] {
    return [this.secrets.current, ...this.secrets.previous];
  }

  /** Throws if no accepted secret has signed the token. */
  private async payloadOfToken(token: string, currentDate: Date): Promise<JWTPayload> {
    let failure: unknown;
    for (const secret of this.accepted) {
      try {
        return (await jwtVerify(token, secret, { algorithms: ['HS512'], currentDate })).payload;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  private async useNonce(nonce: string, expiresMs: number, nowUs: TimeUs): Promise<boolean> {
    try {
      return await this.options.nonces.use(nonce, expiresMs, Math.floor(nowUs / 1000));
    } catch {
      throw new RequestError(MESSAGES.nonceStoreFailed);
    }
  }
}

function signature(payload: string, secret: Uint8Array): string {
  return createHmac('sha256', secret).update(payload).digest('base64url');
}

/** The message as compact JSON with its keys in order. */
function payloadOf(message: {
  readonly account: string;
  readonly nonce: string;
  readonly timestamp: string;
}): string {
  const { account, nonce, timestamp } = message;
  return JSON.stringify({ account, nonce, timestamp });
}

function equalText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Wallet login: a challenge with a single-use nonce, an EIP-191 signature over it, and a
 * JWT. The token names the account and, in a private claim, the signing wallet. Each request checks
 * that the wallet may still act (R-9.5a, gateway).
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { invalidField, MESSAGES } from '../contract/messages.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import type { Caller } from '../gateway/context.ts';
import { Fields } from '../gateway/fields.ts';
import { RequestError } from '../gateway/request-error.ts';
import { address, type Address, type TimeUs } from '../num/units.ts';
import { keccak } from '../wallet/crypto-ports.ts';
import { personalDigest } from '../wallet/personal-message.ts';
import { recover } from '../wallet/recover-signer.ts';

const NONCE_LIFE_US = 5 * 60 * 1_000_000;
const TOKEN_LIFE_S = 24 * 3600;
/** Max unanswered challenges; the oldest is evicted. */
const MAX_NONCES = 100_000;
const MAX_CACHED_TOKENS = 100_000;

export interface Claims {
  readonly account: string;
  readonly exp: number;
  readonly iat: number;
}

interface Verified {
  readonly caller: Caller;
  readonly claims: Claims;
}

export interface AuthOptions {
  readonly view: () => ExchangeView;
  readonly nowUs: () => TimeUs;
  /** At least 32 bytes. */
  readonly secret: Uint8Array;
  /** True if the nonce store must fail now; for client tests. */
  readonly nonceStoreFails: () => boolean;
}

export class WalletAuth {
  private readonly options: AuthOptions;
  private readonly nonces = new Map<
    string,
    { readonly account: Address; readonly endsUs: number }
  >();
  private readonly tokens = new Map<string, Verified>();

  constructor(options: AuthOptions) {
    this.options = options;
  }

  /** GET /auth */
  challenge(input: unknown): unknown {
    const account = new Fields(input, ['account'], true).address('account', keccak);
    if (this.options.nonceStoreFails()) throw new RequestError(MESSAGES.nonceStoreFailed);
    const nowUs = this.options.nowUs();
    const nonce = randomUUID();
    this.forgetOld(nowUs);
    this.nonces.set(nonce, { account, endsUs: nowUs + NONCE_LIFE_US });
    const message = {
      account,
      nonce,
      timestamp: new Date(Math.floor(nowUs / 1000)).toISOString(),
    };
    const payload = payloadOf(message);
    return { message, server_signature: this.sign(payload), signing_payload: payload };
  }

  /** POST /auth */
  async login(input: unknown): Promise<unknown> {
    const fields = new Fields(input, ['message', 'signature', 'server_signature'], false);
    const message = fields.object('message', ['account', 'nonce', 'timestamp']);
    const account = message.address('account', keccak);
    const payload = payloadOf({
      account: message.text('account'),
      nonce: message.text('nonce'),
      timestamp: message.text('timestamp'),
    });
    const signature = fields.text('signature');
    if (!equalText(fields.text('server_signature'), this.sign(payload))) {
      throw new RequestError(invalidField('server_signature', 'does not match the message'));
    }
    const signer = recover(personalDigest(payload), signature);
    if (signer === null || !this.mayActFor(account, signer)) {
      throw new RequestError(MESSAGES.invalidSignature);
    }
    const nonce = message.text('nonce');
    const issued = this.nonces.get(nonce);
    this.nonces.delete(nonce);
    const nowUs = this.options.nowUs();
    if (issued?.account !== account || nowUs > issued.endsUs) {
      throw new RequestError(MESSAGES.nonceConsumeFailed);
    }
    const iat = Math.floor(nowUs / 1_000_000);
    const claims: Claims = { account, exp: iat + TOKEN_LIFE_S, iat };
    const token = await new SignJWT({ account, signer })
      .setProtectedHeader({ alg: 'HS512', typ: 'JWT' })
      .setIssuedAt(claims.iat)
      .setExpirationTime(claims.exp)
      .sign(this.options.secret);
    return { token, claims };
  }

  /** Account and wallet of a bearer token; throws 401 `Invalid token`. */
  async verify(token: string): Promise<Verified> {
    const nowUs = this.options.nowUs();
    const known = this.tokens.get(token);
    if (known !== undefined && known.claims.exp * 1_000_000 > nowUs) return known;
    try {
      const { payload } = await jwtVerify(token, this.options.secret, {
        algorithms: ['HS512'],
        currentDate: new Date(Math.floor(nowUs / 1000)),
      });
      const { account, signer, iat, exp } = payload;
      if (typeof account !== 'string' || typeof signer !== 'string') throw new Error('claims');
      if (iat === undefined || exp === undefined) throw new Error('claims');
      const verified: Verified = {
        caller: { account: address(account), signer: address(signer) },
        claims: { account, exp, iat },
      };
      if (this.tokens.size >= MAX_CACHED_TOKENS) this.tokens.clear();
      this.tokens.set(token, verified);
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

  private sign(payload: string): string {
    return createHmac('sha256', this.options.secret).update(payload).digest('base64url');
  }

  private forgetOld(nowUs: number): void {
    for (const [nonce, { endsUs }] of this.nonces) {
      if (endsUs >= nowUs && this.nonces.size < MAX_NONCES) return;
      this.nonces.delete(nonce);
    }
  }
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

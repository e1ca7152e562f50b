/**
 * Hand-written decoding of request fields; commands do not pay for schema interpretation. Each
 * reader returns one field by name, or throws a `RequestError` with the field and the limit.
 * Property tests prove that the readers accept what the contract's schemas accept.
 *
 * Only own properties count: `__proto__` and `constructor` are unknown fields.
 */
import { suggest } from '../base/suggest.ts';
import { invalidField } from '../contract/messages.ts';
import { parseDecimal, type Decimal } from '../num/decimal.ts';
import { address, type Address } from '../num/units.ts';
import { isChecksumRight } from './checksum.ts';
import type { Keccak } from './ports.ts';
import { RequestError } from './request-error.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** Addresses with correct checksums, by their text: the same ones come again and again. */
const checked = new Map<string, Address>();
const MAX_CHECKED = 16_384;
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_SUBACCOUNT_INDEX = 2 ** 31 - 1;

export class Fields {
  /** The request as it was sent: what its signatures are over. */
  readonly body: Readonly<Record<string, unknown>>;
  private readonly prefix: string;
  /** Query parameters are text, so integers may be digits. */
  private readonly query: boolean;

  constructor(input: unknown, known: readonly string[], query: boolean, prefix = '') {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new RequestError(invalidField(prefix === '' ? 'body' : prefix, 'must be an object'));
    }
    this.body = input as Readonly<Record<string, unknown>>;
    this.prefix = prefix;
    this.query = query;
    for (const name of Object.keys(input)) {
      if (known.includes(name)) continue;
      // Settings are typed by people; requests are made by programs.
      const hint = query && prefix !== '' ? suggest(name, known) : '';
      this.fail(name, `unknown field${hint}`);
    }
  }

  /** Raw value of the field; undefined if it is absent. */
  get(name: string): unknown {
    return Object.hasOwn(this.body, name) ? this.body[name] : undefined;
  }

  /** True if the field is present and not null. */
  has(name: string): boolean {
    const value = this.get(name);
    return value !== undefined && value !== null;
  }

  /** Canonical text of all other fields: independent of order and of integers as text. */
  canonicalText(without: readonly string[]): string {
    return Object.keys(this.body)
      .filter((name) => this.has(name) && !without.includes(name))
      .sort()
      .map((name) => `${name}=${String(this.body[name])}`)
      .join('\n');
  }

  fail(name: string, problem: string): never {
    throw new RequestError(invalidField(this.path(name), problem));
  }

  /** A query parameter that is repeated is an array. */
  private failKind(name: string, value: unknown, problem: string): never {
    const isRepeated = this.query && Array.isArray(value);
    return this.fail(name, isRepeated ? 'is given more than once' : problem);
  }

  private path(name: string): string {
    const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
    return this.prefix === '' ? shown : `${this.prefix}.${shown}`;
  }

  /** An array of any values. */
  list(name: string): readonly unknown[] {
    const value = this.get(name);
    if (value === undefined) this.fail(name, 'is required');
    if (!Array.isArray(value)) this.fail(name, 'must be an array');
    return value;
  }

  text(name: string): string {
    const value = this.get(name);
    if (value === undefined) this.fail(name, 'is required');
    if (typeof value !== 'string') this.failKind(name, value, 'must be a string');
    return value;
  }

  symbol(name: string): string {
    const value = this.text(name);
    if (value.length === 0 || value.length > 64) this.fail(name, 'must have 1 to 64 characters');
    return value;
  }

  /** Lower-cased address. With `keccak`, a mixed-case address needs a correct checksum. */
  address(name: string, keccak?: Keccak): Address {
    return this.addressOf(name, this.text(name), keccak);
  }

  private addressOf(name: string, value: string, keccak: Keccak | undefined): Address {
    const known = checked.get(value);
    if (known !== undefined) return known;
    if (!ADDRESS.test(value)) {
      this.fail(name, 'must be an address: 0x and 40 hex digits');
    }
    const lower = address(value.toLowerCase());
    if (keccak === undefined) return lower;
    if (!isChecksumRight(value, keccak)) {
      this.fail(name, 'has a wrong checksum (EIP-55); send it in lower case to skip the check');
    }
    if (checked.size >= MAX_CHECKED) checked.clear();
    checked.set(value, lower);
    return lower;
  }

  feedId(name: string): string {
    const value = this.text(name);
    if (!/^0x[0-9a-fA-F]{64}$/.test(value)) {
      this.fail(name, 'must be a feed id: 0x and 64 hex digits');
    }
    return value.toLowerCase();
  }

  /** 64 lower-case hex digits without 0x. */
  orderId(name: string): string {
    const value = this.text(name);
    const match = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(value);
    if (match?.[1] === undefined) this.fail(name, 'must be an order id: 64 hex digits');
    return match[1].toLowerCase();
  }

  clientId(name: string): string {
    const value = this.text(name);
    if (!/^[ -~]{1,64}$/.test(value)) {
      this.fail(name, 'must have 1 to 64 printable ASCII characters');
    }
    return value;
  }

  decimal(name: string): Decimal {
    const value = this.text(name);
    const decimal = parseDecimal(value);
    if (decimal === null) {
      this.fail(
        name,
        value.length > 38
          ? `must have at most 38 characters, got ${String(value.length)}`
          : 'must be a decimal: optional -, digits, optional point and digits',
      );
    }
    return decimal;
  }

  boolean(name: string): boolean {
    const value = this.get(name);
    if (value === undefined) this.fail(name, 'is required');
    if (typeof value !== 'boolean') this.fail(name, 'must be true or false');
    return value;
  }

  /**
   * An exact int64 ≥ 0. A number beyond 2^53 − 1 is rejected, because it may already be rounded.
   */
  int64(name: string): bigint {
    const value = this.integer(name);
    if (value < 0n || value > MAX_INT64) {
      this.fail(name, 'must be an integer from 0 to 9223372036854775807');
    }
    return value;
  }

  subaccountIndex(name: string): number {
    const value = this.integer(name);
    if (value < 0n || value > BigInt(MAX_SUBACCOUNT_INDEX)) {
      this.fail(name, `must be an integer from 0 to ${String(MAX_SUBACCOUNT_INDEX)}`);
    }
    return Number(value);
  }

  /** `range` is the error for a value of another kind. */
  integer(name: string, range?: string): bigint {
    const value = this.get(name);
    if (value === undefined || value === null) this.fail(name, 'is required');
    if (typeof value === 'bigint') return value;
    if (typeof value === 'number') {
      if (!Number.isInteger(value)) this.fail(name, range ?? 'must be an integer');
      if (!Number.isSafeInteger(value)) {
        this.fail(name, range ?? 'must be given as a bigint beyond 9007199254740991');
      }
      return BigInt(value);
    }
    if (this.query && typeof value === 'string' && /^-?[0-9]{1,38}$/.test(value)) {
      return BigInt(value);
    }
    return this.failKind(name, value, range ?? 'must be an integer');
  }

  /** Array of at most `max` strings. */
  texts(name: string, max: number): readonly string[] {
    const value = this.get(name);
    if (value === undefined) this.fail(name, 'is required');
    if (!Array.isArray(value)) this.fail(name, 'must be an array of strings');
    if (value.length > max) this.fail(name, `must have at most ${String(max)} entries`);
    const items: readonly unknown[] = value;
    return items.map((item, i) => {
      if (typeof item !== 'string') this.fail(`${name}[${String(i)}]`, 'must be a string');
      return item;
    });
  }

  /** Array of 1 to `max` addresses. */
  addresses(name: string, max: number, keccak?: Keccak): readonly Address[] {
    const items = this.texts(name, max);
    if (items.length === 0) this.fail(name, 'must have at least one entry');
    return items.map((item, i) => this.addressOf(`${name}[${String(i)}]`, item, keccak));
  }

  /** Array of at most `max` subaccount indices. */
  subaccountIndices(name: string, max: number): readonly number[] {
    const items = this.list(name);
    if (items.length > max) this.fail(name, `must have at most ${String(max)} entries`);
    return items.map((item, i) => {
      const at = `${name}[${String(i)}]`;
      return new Fields({ [at]: item }, [at], this.query, this.prefix).subaccountIndex(at);
    });
  }

  /** One text, comma-separated texts, or an array of them. */
  words(name: string): readonly string[] {
    const value = this.get(name);
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return items.flatMap((item) => {
      if (typeof item !== 'string') return this.fail(name, 'must be a string');
      return item.split(',');
    });
  }

  object(name: string, known: readonly string[]): Fields {
    if (this.get(name) === undefined) this.fail(name, 'is required');
    return new Fields(this.get(name), known, this.query, this.path(name));
  }
}

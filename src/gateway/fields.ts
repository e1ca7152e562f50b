/**
 * Hand-written decoding of request fields: no schema is interpreted on a command's path. Each reader takes one field by
 * name and answers its value or throws a `RequestError` that names the field and the limit. The property tests prove that these accept
 * what the contract's schemas accept.
 *
 * Only own properties count, so `__proto__` and `constructor` are unknown fields like any other.
 */
import { invalidField } from '../contract/messages.ts';
import { parseDecimal, type Decimal } from '../num/decimal.ts';
import { address, type Address } from '../num/units.ts';
import { isChecksumRight } from './checksum.ts';
import type { Keccak } from './ports.ts';
import { RequestError } from './request-error.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_SUBACCOUNT_INDEX = 2 ** 31 - 1;

export class Fields {
  /** The request as it was sent: what its signatures are over. */
  readonly body: Readonly<Record<string, unknown>>;
  private readonly prefix: string;
  /** Query parameters are text: integers may be given as digits. */
  private readonly query: boolean;

  constructor(input: unknown, known: readonly string[], query: boolean, prefix = '') {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new RequestError(invalidField(prefix === '' ? 'body' : prefix, 'must be an object'));
    }
    this.body = input as Readonly<Record<string, unknown>>;
    this.prefix = prefix;
    this.query = query;
    for (const name of Object.keys(input)) {
      if (!known.includes(name)) this.fail(name, 'unknown field');
    }
  }

  /** The field as given; undefined when it is absent. */
  get(name: string): unknown {
    return Object.hasOwn(this.body, name) ? this.body[name] : undefined;
  }

  /** Whether the field is there and not null. */
  has(name: string): boolean {
    const value = this.get(name);
    return value !== undefined && value !== null;
  }

  /** All fields but these, in one text that does not depend on their order, nor on integers being text in a query. */
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

  private path(name: string): string {
    const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
    return this.prefix === '' ? shown : `${this.prefix}.${shown}`;
  }

  /** An array of anything. */
  list(name: string): readonly unknown[] {
    const value = this.get(name);
    if (value === undefined) this.fail(name, 'is required');
    if (!Array.isArray(value)) this.fail(name, 'must be an array');
    return value;
  }

  text(name: string): string {
    const value = this.get(name);
    if (value === undefined) this.fail(name, 'is required');
    if (typeof value !== 'string') this.fail(name, 'must be a string');
    return value;
  }

  symbol(name: string): string {
    const value = this.text(name);
    if (value.length === 0 || value.length > 64) this.fail(name, 'must have 1 to 64 characters');
    return value;
  }

  /** Lower-cased. With `keccak` given, the checksum of one in mixed case must be right. */
  address(name: string, keccak?: Keccak): Address {
    return this.addressOf(name, this.text(name), keccak);
  }

  private addressOf(name: string, value: string, keccak: Keccak | undefined): Address {
    if (!ADDRESS.test(value)) {
      this.fail(name, 'must be an address: 0x and 40 hex digits');
    }
    if (keccak !== undefined && !isChecksumRight(value, keccak)) {
      this.fail(name, 'has a wrong checksum (EIP-55); send it in lower case to skip the check');
    }
    return address(value.toLowerCase());
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

  /** An int64 ≥ 0, exactly. A number beyond 2^53 − 1 is refused, since it may have been rounded before it got here. */
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

  integer(name: string): bigint {
    const value = this.get(name);
    if (value === undefined || value === null) this.fail(name, 'is required');
    if (typeof value === 'bigint') return value;
    if (typeof value === 'number') {
      if (!Number.isInteger(value)) this.fail(name, 'must be an integer');
      if (!Number.isSafeInteger(value)) {
        this.fail(name, 'must be given as a bigint beyond 9007199254740991');
      }
      return BigInt(value);
    }
    if (this.query && typeof value === 'string' && /^-?[0-9]{1,38}$/.test(value)) {
      return BigInt(value);
    }
    return this.fail(name, 'must be an integer');
  }

  /** Array of strings; of at most `max`. */
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

  /** Array of addresses; of 1 to `max`. */
  addresses(name: string, max: number, keccak?: Keccak): readonly Address[] {
    const items = this.texts(name, max);
    if (items.length === 0) this.fail(name, 'must have at least one entry');
    return items.map((item, i) => this.addressOf(`${name}[${String(i)}]`, item, keccak));
  }

  /** Array of subaccount indices; of at most `max`. */
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

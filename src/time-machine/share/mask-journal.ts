/**
 * A journal without the identities in it, to be shared. Every address of a user becomes another
 * one by its order of appearance, every client id and reference a number, and client-visible order
 * ids (which contain addresses and client ids) are left out. The journal is executed again, so its
 * hashes are its own; sizes, prices, times and the structure of all events stay.
 *
 * Kept: names and parameters of the exchange and its markets, and the sampling seed, without which
 * marks and funding differ. A served exchange that is still in use should not share its seed.
 */
import { must } from '../../base/assert.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import { schemaOf } from '../../engine/schema/command-schema.ts';
import type { RecordShape, Shape } from '../../engine/schema/field-types.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../gateway/exchange-config.ts';
import { JournalWriter } from '../../journal/format/frames.ts';
import { address, type Address } from '../../num/units.ts';
import { FrameStream } from '../source/frame-stream.ts';
import type { JournalBytes } from '../source/journal-bytes.ts';
import { TimelineError } from '../timeline.ts';

export interface MaskedJournal {
  readonly bytes: Uint8Array;
  readonly commands: number;
  readonly chainHash: string;
  /** Addresses and client ids that were replaced. */
  readonly addresses: number;
  readonly clientIds: number;
}

const CHECKPOINT_EVERY = 10_000;

/** Throws `JournalError`, or `TimelineError` for a journal without its first command. */
export function maskJournal(parts: readonly JournalBytes[]): MaskedJournal {
  const stream = new FrameStream(parts);
  const { config, after } = stream.header;
  if (after.seq > 0) {
    throw new TimelineError('only a journal with its first command can be masked');
  }
  const masks = new Masks(config);
  const masked = masks.config(config);
  const writer = new JournalWriter(masked);
  const engine = new Exchange(masked);
  for (let frame = stream.next(); frame !== null; frame = stream.next()) {
    if (frame.kind !== 'command') continue;
    const command = masks.command(frame.command);
    writer.append(frame.seq, command);
    engine.apply(command);
    if (engine.seq % CHECKPOINT_EVERY === 0) {
      writer.checkpoint(engine.seq, engine.nowUs, engine.stateHash());
    }
  }
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  return {
    bytes: writer.bytes(),
    commands: engine.seq,
    chainHash: engine.chainHash(),
    addresses: masks.addressCount,
    clientIds: masks.clientIdCount,
  };
}

/** Addresses that every exchange has by default identify no user. */
const PUBLIC: ReadonlySet<string> = new Set([
  DEFAULT_EXCHANGE_CONFIG.verifyingContract,
  DEFAULT_EXCHANGE_CONFIG.clsAccount,
  DEFAULT_EXCHANGE_CONFIG.insuranceAccount,
  DEFAULT_EXCHANGE_CONFIG.treasuryAccount,
  DEFAULT_EXCHANGE_CONFIG.shortfallAccount,
  '0x0000000000000000000000000000000000000000',
]);
/** First digits of masked addresses. */
const MASK = '0xaaaa';

class Masks {
  private readonly addresses = new Map<string, Address>();
  private readonly clientIds = new Map<string, string>();
  private readonly references = new Map<string, string>();

  constructor(config: ExchangeConfig) {
    for (const value of Object.values<unknown>({ ...config })) {
      if (typeof value === 'string' && PUBLIC.has(value)) this.addresses.set(value, address(value));
    }
  }

  get addressCount(): number {
    return [...this.addresses].filter(([from, to]) => from !== to).length;
  }
  get clientIdCount(): number {
    return this.clientIds.size;
  }

  config(config: ExchangeConfig): ExchangeConfig {
    return {
      ...config,
      verifyingContract: this.address(config.verifyingContract),
      clsAccount: this.address(config.clsAccount),
      insuranceAccount: this.address(config.insuranceAccount),
      treasuryAccount: this.address(config.treasuryAccount),
      shortfallAccount: this.address(config.shortfallAccount),
    };
  }

  command(command: Command): Command {
    return this.record(schemaOf(command).body, command);
  }

  private record<T extends object>({ fields }: RecordShape, record: T): T {
    const masked = new Map<string, unknown>(Object.entries(record));
    for (const { name, shape } of fields) {
      const value = masked.get(name);
      masked.set(name, this.field(name, shape, value));
    }
    return Object.fromEntries(masked) as T;
  }

  private field(name: string, shape: Shape, value: unknown): unknown {
    if (name === 'clientId') return this.clientId(value);
    return name === 'reference' ? this.reference(String(value)) : this.value(shape, value);
  }

  private value(shape: Shape, value: unknown): unknown {
    if (value === null || value === undefined) return value;
    switch (shape.type) {
      case 'text':
        return shape.isAddress ? this.address(value as string) : value;
      case 'optional':
        return this.value(shape.of, value);
      case 'list':
        return (value as readonly unknown[]).map((item) => this.value(shape.of, item));
      case 'record':
        return this.record(shape, value);
      default:
        return value;
    }
  }

  private address(of: string): Address {
    if (PUBLIC.has(of)) return of as Address;
    const known = this.addresses.get(of);
    if (known !== undefined) return known;
    const number = (this.addresses.size + 1).toString(16);
    const masked = address(`${MASK}${number.padStart(36, '0')}`);
    this.addresses.set(of, masked);
    return must(this.addresses.get(of), 'it was just set');
  }

  private reference(of: string): string {
    const known = this.references.get(of) ?? `r${String(this.references.size + 1)}`;
    this.references.set(of, known);
    return known;
  }

  private clientId(of: unknown): string | null {
    if (typeof of !== 'string') return null;
    const known = this.clientIds.get(of) ?? `c${String(this.clientIds.size + 1)}`;
    this.clientIds.set(of, known);
    return known;
  }
}

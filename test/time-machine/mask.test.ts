import { expect, it } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { JournalReader, JournalWriter } from '../../src/journal/format/frames.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { userAddress } from '../../src/fuzz/run-setup.ts';
import { quanta, seq } from '../../src/num/units.ts';
import { maskJournal } from '../../src/time-machine/share/mask-journal.ts';
import { bytesInMemory } from '../../src/time-machine/source/journal-bytes.ts';
import { randomJournal } from './journals.ts';

/** Outcome-relevant shape of a run: kinds, causes and numbers of all events, without identities. */
function shapeOf(bytes: Uint8Array): string[] {
  const lines: string[] = [];
  replay(bytes, {
    verify: true,
    onEvent: (event) => {
      const fields = Object.entries(event).map(([name, value]: [string, unknown]) =>
        typeof value === 'number' || typeof value === 'bigint' ? `${name} ${String(value)}` : name,
      );
      lines.push(`${event.kind} ${event.cause} ${fields.join(' ')}`);
    },
  });
  return lines;
}

/** Bytes as text, one character for each. */
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

it.each(PROFILE_NAMES)('a masked journal has the same structure and no identity: %s', (profile) => {
  const { bytes, commands } = randomJournal('mask', 250, { profile });
  const masked = maskJournal([bytesInMemory(bytes)]);
  expect(masked.commands).toBe(commands);
  expect(masked.addresses).toBeGreaterThan(0);
  const { ended, mismatch, engine } = replay(masked.bytes, { verify: true });
  expect({ ended, mismatch }).toEqual({ ended: true, mismatch: null });
  expect(engine.chainHash()).toBe(masked.chainHash);
  expect(masked.chainHash).not.toBe(replay(bytes, { verify: true }).engine.chainHash());
  expect(shapeOf(masked.bytes)).toEqual(shapeOf(bytes));

  const text = textOf(masked.bytes);
  const original = textOf(bytes);
  const reader = new JournalReader(bytes);
  const clientIds = new Set<string>();
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind !== 'command') continue;
    const { command } = frame;
    const orders = command.kind === 'placeOrders' ? command.orders : [];
    const own = command.kind === 'placeOrder' ? [command] : [];
    for (const { clientId } of [...orders, ...own]) if (clientId !== null) clientIds.add(clientId);
  }
  for (let i = 0; i < 12; i++) {
    const digits = userAddress(i).slice(2);
    expect(text).not.toContain(digits);
    expect(text).not.toContain(Buffer.from(digits, 'hex').toString('latin1'));
  }
  // The search above would find them in the journal as it was.
  expect(original).toContain(userAddress(0).slice(2));
  for (const clientId of clientIds) if (clientId.length > 4) expect(text).not.toContain(clientId);
});

it('refuses a file that is not a journal', () => {
  expect(() => maskJournal([bytesInMemory(new TextEncoder().encode('no journal'))])).toThrow(
    'not a journal',
  );
});

it('a masked journal has a number for each reference of the operator', () => {
  const writer = new JournalWriter(DEFAULT_EXCHANGE_CONFIG);
  const engine = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  for (const reference of ['invoice of Ann', 'invoice of Bob', 'invoice of Ann']) {
    const command = {
      kind: 'deposit',
      timeUs: engine.nowUs,
      account: userAddress(0),
      subaccountIndex: 0,
      amount: quanta(1n),
      reference,
    } as const;
    writer.append(seq(engine.seq + 1), command);
    engine.apply(command);
  }
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  const masked = maskJournal([bytesInMemory(writer.bytes())]);
  const log = replay(masked.bytes, { verify: true }).engine.operatorLog();
  expect(log.map(({ detail }) => detail)).toEqual(['r1', 'r2', 'r1']);
  expect(textOf(masked.bytes)).not.toContain('invoice');
});

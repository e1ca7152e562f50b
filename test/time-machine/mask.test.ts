import { expect, it } from 'vitest';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { userAddress } from '../../src/fuzz/run-setup.ts';
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

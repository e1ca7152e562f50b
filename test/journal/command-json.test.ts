/** Commands as JSON: what `describeCommand` prints reads back, and faults name their field. */
import { expect, test } from 'vitest';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { describeCommand } from '../../src/journal/format/codec.ts';
import { parseCommand } from '../../src/journal/format/command-json.ts';
import { timeUs } from '../../src/num/units.ts';

test('every kind of command reads back from its JSON', () => {
  const kinds = new Set<string>();
  for (const name of PROFILE_NAMES) {
    const profile = drawProfile('json', { name, commands: 400 });
    const { failure } = runFuzz(profile, {
      after: (_engine, command) => {
        kinds.add(command.kind);
        const text = JSON.stringify(describeCommand(command));
        expect(parseCommand(JSON.parse(text), timeUs(0))).toEqual(command);
        return null;
      },
    });
    expect(failure).toBeNull();
  }
  expect(kinds.size).toBeGreaterThan(20);
});

test.each([
  [{ kind: 'nothing' }, 'kind: must be one of placeOrder, '],
  [{ kind: 'cancelOrder' }, 'orderId: must be a whole number from 0 to 9007199254740991'],
  [{ kind: 'cancelOrder', orderId: -1 }, 'orderId: must be a whole number from 0'],
  [{ kind: 'cancelOrder', orderId: 1, more: 2 }, 'more: unknown field'],
  [{ kind: 'advanceTime', timeUs: 4 }, 'timeUs: must not be before now, 5'],
  [
    { kind: 'deposit', account: '0x1', subaccountIndex: 0, amount: '1' },
    'account: must be an address: 0x and 40 lower-case hex digits',
  ],
  [
    { kind: 'deposit', account: `0x${'1'.repeat(40)}`, subaccountIndex: 0, amount: 2n ** 63n },
    'amount: must be a whole number of 64 bits',
  ],
  [{ kind: 'setMarketStatus', market: 0, status: 'shut' }, 'status: must be one of open, '],
  [{ kind: 'tapeDepth', market: 0, levels: 7 }, 'levels: must be a list'],
  [[], 'command: must be a map'],
])('%s is refused', (value, message) => {
  expect(() => parseCommand(value, timeUs(5))).toThrow(message);
});

/**
 * A copy without history takes commands as its original would: equal chain hashes, which cover every
 * event, and equal state hashes.
 */
import { expect, it } from 'vitest';
import { ArchiveError } from '../../src/base/archive.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import type { Engine } from '../../src/engine/read/views.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';

const COMMANDS = 1500;
function exchangeOf(engine: Engine): Exchange {
  if (!(engine instanceof Exchange)) throw new Error('a run without an exchange');
  return engine;
}

/** Between copies. */
const EVERY = 97;

it.each<readonly [ProfileName, string]>([
  ['stress', 'live-1'],
  ['stress', 'live-2'],
  ['crisis', 'live-3'],
  ['tape', 'live-4'],
])('copies without history follow their original (%s, %s)', (name, seed) => {
  let copy: Exchange | null = null;
  let compared = 0;
  const { engine: last } = runFuzz(
    drawProfile(seed, { name, commands: COMMANDS }),
    { after: () => null },
    {
      onCommand: (command, _outcome, running) => {
        if (copy !== null) {
          copy.apply(command);
          expect(copy.chainHash()).toBe(running.chainHash());
          compared += 1;
        }
        if (running.seq % EVERY !== 0) return false;
        if (copy !== null) {
          expect(copy.stateHash()).toBe(running.stateHash());
          expect(copy.checkInvariants()).toEqual([]);
        }
        copy = Exchange.restoreLive(exchangeOf(running).liveSnapshot());
        return false;
      },
    },
  );
  expect(compared).toBeGreaterThan(COMMANDS - 2 * EVERY);
  const engine = exchangeOf(last);
  expect(engine.liveSnapshot().length).toBeLessThan(engine.snapshot().length);
  expect(() => Exchange.restore(engine.liveSnapshot())).toThrow(ArchiveError);
  expect(() => Exchange.restoreLive(engine.snapshot())).toThrow(ArchiveError);
});

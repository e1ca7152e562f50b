/** The check of histories holds in random worlds, and finds what a history has lost or shifted. */
import { afterEach, expect, test, vi } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { historyCheck } from '../../src/fuzz/checks/history-check.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { AccountHistory } from '../../src/gateway/account-history.ts';
import { KeptEntries } from '../../src/gateway/kept-entries.ts';
import { MarkHistory } from '../../src/gateway/mark-history.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The first fault of a few runs; null if they have none. */
function faultOf(name: ProfileName, runs: number, every = 128): string | null {
  for (let run = 0; run < runs; run += 1) {
    const profile = drawProfile(`history ${String(run)}`, { name, commands: 700 });
    const { failure } = runFuzz(profile, () => historyCheck(every));
    if (failure !== null) return failure.violation.detail;
  }
  return null;
}

test.each(['stress', 'tape', 'crisis', 'permissions'] as const)('histories of %s hold', (name) => {
  expect(faultOf(name, 2)).toBeNull();
});

test('a short run reads after every command', () => {
  const profile = drawProfile('history', { name: 'stress', commands: 120 });
  expect(runFuzz(profile, () => historyCheck(1)).failure).toBeNull();
});

/** A history that does not get some of the events. */
function without(isLost: (event: EngineEvent) => boolean): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own history
  const { take } = AccountHistory.prototype;
  vi.spyOn(AccountHistory.prototype, 'take').mockImplementation(function (
    this: AccountHistory,
    event: EngineEvent,
  ) {
    if (!isLost(event)) take.call(this, event);
  });
}

test('it finds lost fills, funding, transfers and marks', () => {
  const kinds = ['orderFilled', 'fundingSettled', 'positionTransferred', 'markChanged'] as const;
  for (const kind of kinds) {
    without((event) => event.kind === kind);
    expect(faultOf('stress', 3), kind).toContain('history');
    vi.restoreAllMocks();
  }
});

test('it finds an entry that a page lacks at the end of its range', () => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own list
  const { read } = KeptEntries.prototype;
  vi.spyOn(KeptEntries.prototype, 'read').mockImplementation(function (
    this: KeptEntries<never>,
    fromUs,
    toUs,
    limit,
    upTo,
  ) {
    return read.call(this, fromUs + 1, toUs, limit, upTo);
  });
  expect(faultOf('stress', 3)).toContain('history of');
});

test('it finds equity at the mark of a minute too late', () => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own marks
  const { before } = MarkHistory.prototype;
  vi.spyOn(MarkHistory.prototype, 'before').mockImplementation(function (this: MarkHistory, endUs) {
    return before.call(this, endUs + 60_000_000);
  });
  expect(faultOf('stress', 6)).toContain('history of equity');
});

test('it finds entries of commands that are lost', () => {
  vi.spyOn(KeptEntries.prototype, 'removeAfter').mockReturnValue([]);
  expect(faultOf('stress', 12, 64)).toContain('after a loss of commands');
});

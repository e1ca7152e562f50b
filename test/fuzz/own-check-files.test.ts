/** The files of a failure of a check of the caller, which the files themselves do not have. */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { checkJournal } from '../../src/fuzz/check-journal.ts';
import type { Checker } from '../../src/fuzz/checker.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { failureFiles } from '../../src/fuzz/report/failure-files.ts';
import { shrink } from '../../src/fuzz/shrink/shrink.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const noBids = (): Checker => ({
  after: (engine) =>
    engine.markets().every(({ id }) => engine.depth(id, 'bid', 1).length === 0)
      ? null
      : { invariant: 'noBids', rule: 'mine', says: 'no order bids', detail: 'a bid' },
});

test('their summary does not promise that they fail', () => {
  const profile = drawProfile('own check', { name: 'matching', commands: 200 });
  const { failure } = runFuzz(profile, noBids);
  if (failure === null) throw new Error('no bid was drawn');
  const createEngine = (config: typeof failure.config): Exchange => new Exchange(config);
  const shrunk = shrink(failure, { createEngine, createChecker: noBids });
  const files = failureFiles(shrunk, { createEngine, keccak, origin: ['by hand'] });
  expect(checkJournal(files['journal.orrery'] as Uint8Array)).toBeNull();
  const readme = String(files['README.md']);
  expect(readme).toContain('not the check, which is one of the caller. So they pass:');
  expect(readme).not.toContain('fails until');
  expect(readme).not.toContain('original.orrery');
});

/** Journals for the tests of the time machine: random runs with all kinds of commands. */
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { JournalWriter } from '../../src/journal/format/frames.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';

export interface RandomJournal {
  readonly bytes: Uint8Array;
  readonly commands: number;
}

export interface RandomJournalOptions {
  readonly profile?: ProfileName;
  /** Records a wrong chain hash after this command. */
  readonly wrongHashAt?: number;
}

export function randomJournal(
  seed: string,
  commands: number,
  options: RandomJournalOptions = {},
): RandomJournal {
  const profile = drawProfile(seed, { name: options.profile ?? 'stress', commands });
  const writer = new JournalWriter(setUp(profile).config);
  const { engine } = runFuzz(
    profile,
    { after: () => null },
    {
      onCommand: (command, _outcome, running) => {
        const { seq, nowUs } = running;
        writer.append(seq, command);
        if (seq % 100 === 0) writer.checkpoint(seq, nowUs, running.stateHash());
        if (seq === options.wrongHashAt) writer.chain(seq, nowUs, '0'.repeat(32));
        return false;
      },
    },
  );
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  return { bytes: writer.bytes(), commands: engine.seq };
}

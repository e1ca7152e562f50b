/** Bundle for the browser: engine, codec and replay; returns the hashes of a journal. */
import { replay } from '../../src/journal/replay/replay.ts';

declare global {
  var replayJournal: (bytes: readonly number[]) => {
    commands: number;
    chainHash: string;
    stateHash: string;
    mismatch: unknown;
  };
}

globalThis.replayJournal = (bytes) => {
  const { engine, commands, mismatch } = replay(Uint8Array.from(bytes), { verify: true });
  return { commands, chainHash: engine.chainHash(), stateHash: engine.stateHash(), mismatch };
};

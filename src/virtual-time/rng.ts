/**
 * Named random streams: `stream('noise')` depends on the seed and the name alone, so adding a stream never shifts
 * another's draws. State goes through JSON and back to the same next value.
 */
import seedrandom from 'seedrandom';

/** State of an Alea generator (Baagøe): plain data. */
export interface AleaState {
  readonly c: number;
  readonly s0: number;
  readonly s1: number;
  readonly s2: number;
}

interface Draw {
  (): number;
  state(): AleaState;
}

export interface RandomStream {
  /** Uniform in [0, 1), 32 random bits. */
  next(): number;
  /** Uniform whole number in [0, bound). */
  below(bound: number): number;
  state(): unknown;
}

export class RandomStreams {
  private readonly seed: string;
  private readonly streams = new Map<string, { draw: Draw }>();

  constructor(seed: string, saved: Readonly<Record<string, AleaState>> = {}) {
    this.seed = seed;
    for (const [name, state] of Object.entries(saved)) {
      this.streams.set(name, { draw: seedrandom.alea('', { state }) });
    }
  }

  stream(name: string): RandomStream {
    let entry = this.streams.get(name);
    if (entry === undefined) {
      // The separator keeps ('a', 'bc') and ('ab', 'c') apart.
      entry = { draw: seedrandom.alea(`${this.seed}\u0000${name}`, { state: true }) };
      this.streams.set(name, entry);
    }
    const { draw } = entry;
    return {
      next: () => draw(),
      below: (bound) => Math.floor(draw() * bound),
      state: () => draw.state(),
    };
  }

  /** States of all streams by name. */
  save(): Record<string, AleaState> {
    const saved: Record<string, AleaState> = {};
    for (const [name, { draw }] of this.streams) saved[name] = draw.state();
    return saved;
  }
}

/** Named random streams: `stream('noise')` depends only on seed and name. State survives JSON. */
import seedrandom from 'seedrandom';

export interface RandomStream {
  /** Uniform in [0, 1), 32 random bits. */
  next(): number;
  /** Uniform integer in [0, bound). */
  below(bound: number): number;
  state(): unknown;
}

export class RandomStreams {
  private readonly seed: string;
  private readonly streams = new Map<
    string,
    { draw: seedrandom.StatefulPRNG<seedrandom.State.Alea> }
  >();

  constructor(seed: string, saved: Readonly<Record<string, seedrandom.State.Alea>> = {}) {
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
  save(): Record<string, seedrandom.State.Alea> {
    const saved: Record<string, seedrandom.State.Alea> = {};
    for (const [name, { draw }] of this.streams) saved[name] = draw.state();
    return saved;
  }
}

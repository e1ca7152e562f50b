/**
 * Named random streams: `stream('noise')` depends on the seed and the name alone, so adding a
 * stream never shifts the draws of another. The state survives JSON.
 */
import { Alea, type AleaState } from './alea.ts';

export interface RandomStream {
  /** Uniform in [0, 1), 32 random bits. */
  next(): number;
  /** Uniform integer in [0, bound). */
  below(bound: number): number;
  state(): unknown;
}

export class RandomStreams {
  private readonly seed: string;
  private readonly streams = new Map<string, Alea>();

  constructor(seed: string, saved: Readonly<Record<string, AleaState>> = {}) {
    this.seed = seed;
    for (const [name, state] of Object.entries(saved)) {
      this.streams.set(name, new Alea(state));
    }
  }

  stream(name: string): RandomStream {
    // The separator keeps ('a', 'bc') and ('ab', 'c') apart.
    const draws = this.streams.get(name) ?? Alea.fromSeed(`${this.seed}\u0000${name}`);
    this.streams.set(name, draws);
    return {
      next: () => draws.next(),
      below: (bound) => Math.floor(draws.next() * bound),
      state: () => draws.state(),
    };
  }

  /** States of all streams by name. */
  save(): Record<string, AleaState> {
    const saved: Record<string, AleaState> = {};
    for (const [name, draws] of this.streams) saved[name] = draws.state();
    return saved;
  }
}

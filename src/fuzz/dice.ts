/** Draws of whole numbers from a random stream, by the names that a generator thinks in. */
import { must } from '../base/assert.ts';
import { RandomStreams, type RandomStream } from '../virtual-time/rng.ts';

export class Dice {
  private readonly stream: RandomStream;

  constructor(stream: RandomStream) {
    this.stream = stream;
  }

  /** Dice of their own for a seed and a purpose: another purpose never shifts them. */
  static of(seed: string, purpose: string): Dice {
    return new Dice(new RandomStreams(seed).stream(purpose));
  }

  /** 0 … bound − 1 */
  below(bound: number): number {
    return this.stream.below(bound);
  }

  /** least … most, both included */
  between(least: number, most: number): number {
    return least + this.stream.below(most - least + 1);
  }

  chance(permille: number): boolean {
    return this.stream.below(1000) < permille;
  }

  pick<T>(list: readonly T[]): T {
    return must(list[this.stream.below(list.length)], 'something to pick from');
  }
}

/** Random integers and choices from a random stream, for generators. */
import { must } from '../base/assert.ts';
import { RandomStreams, type RandomStream } from '../virtual-time/rng.ts';

export class Dice {
  private readonly stream: RandomStream;

  constructor(stream: RandomStream) {
    this.stream = stream;
  }

  /** Independent dice per seed and purpose: draws for one purpose do not shift another's. */
  static of(seed: string, purpose: string): Dice {
    return new Dice(new RandomStreams(seed).stream(purpose));
  }

  /** 0 … bound − 1 */
  below(bound: number): number {
    return this.stream.below(bound);
  }

  /** min … max, inclusive */
  between(min: number, max: number): number {
    return min + this.stream.below(max - min + 1);
  }

  chance(permille: number): boolean {
    return this.stream.below(1000) < permille;
  }

  pick<T>(list: readonly T[]): T {
    return must(list[this.stream.below(list.length)], 'list is not empty');
  }
}

/**
 * How benches measure: contestants take turns, in another order each round, on work of equal size.
 * Rounds before the first counted one warm the compiler. Processor time is the figure to compare,
 * because other programs change it least; the clock's is beside it.
 */
export interface Row {
  readonly name: string;
  /** Median, by the clock and by processor time. */
  readonly perSecond: number;
  readonly perCpuSecond: number;
  /** Of processor time: (slowest − fastest round) ÷ median. */
  readonly spread: number;
}

export interface Contestant {
  readonly name: string;
  /** Does the work of one round; only what `watch` times counts. Returns the operations done. */
  readonly round: (round: number, watch: Stopwatch) => number | Promise<number>;
}

export class Stopwatch {
  private wallMs = 0;
  private cpuUs = 0;

  time(run: () => void): void {
    const stop = this.start();
    run();
    stop();
  }

  async timeAsync<T>(run: () => Promise<T>): Promise<T> {
    const stop = this.start();
    const result = await run();
    stop();
    return result;
  }

  private start(): () => void {
    const before = process.cpuUsage();
    const started = performance.now();
    return () => {
      this.wallMs += performance.now() - started;
      const { user, system } = process.cpuUsage(before);
      this.cpuUs += user + system;
    };
  }

  rates(operations: number): { readonly wall: number; readonly cpu: number } {
    return { wall: operations / (this.wallMs / 1e3), cpu: operations / (this.cpuUs / 1e6) };
  }
}

export async function takeTurns(
  contestants: readonly Contestant[],
  { warming, rounds }: { readonly warming: number; readonly rounds: number },
): Promise<Row[]> {
  const figures = new Map<string, { wall: number; cpu: number }[]>();
  for (let round = 0; round < warming + rounds; round++) {
    const from = round % contestants.length;
    for (const { name, round: run } of [
      ...contestants.slice(from),
      ...contestants.slice(0, from),
    ]) {
      globalThis.gc?.();
      const watch = new Stopwatch();
      const rates = watch.rates(await run(round, watch));
      if (round >= warming) figures.set(name, [...(figures.get(name) ?? []), rates]);
    }
  }
  return contestants.map(({ name }) => {
    const own = figures.get(name) ?? [];
    const cpu = own.map((rate) => rate.cpu);
    const middle = median(cpu);
    return {
      name,
      perSecond: Math.round(median(own.map(({ wall }) => wall))),
      perCpuSecond: Math.round(middle),
      spread: Number(((Math.max(...cpu) - Math.min(...cpu)) / middle).toFixed(3)),
    };
  });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Timers and sleeps of a live run in real time. None rings after the end of the run. */

/** Of a timer of Node; a longer one would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

export class RealTimers {
  private readonly waits = new Set<() => void>();
  private ended = false;

  /** Returns what cancels it. */
  after(us: number, run: () => void): () => void {
    // As of Node: a time that is no number is the shortest.
    let leftMs = us >= 1000 ? Math.floor(us / 1000) : 1;
    let timer: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      clearTimeout(timer);
      this.waits.delete(cancel);
    };
    const ring = (): void => {
      this.waits.delete(cancel);
      run();
    };
    const wait = (): void => {
      const ms = Math.min(leftMs, LONGEST_MS);
      leftMs -= ms;
      timer = setTimeout(leftMs === 0 ? ring : wait, ms);
    };
    if (this.ended) return cancel;
    this.waits.add(cancel);
    wait();
    return cancel;
  }

  end(): void {
    this.ended = true;
    for (const cancel of [...this.waits]) cancel();
  }
}

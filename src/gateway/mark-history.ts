/** The last mark of each minute in which a market's mark changed; the newest 4320 at least. */
const MINUTE_US = 60_000_000;
const MAX_MINUTES = 4320;

export class MarkHistory {
  private minutes: number[] = [];
  private ticks: number[] = [];
  private hasDropped = false;

  set(atUs: number, ticks: number): void {
    const minute = Math.floor(atUs / MINUTE_US);
    // Later minutes were lost with their commands.
    while ((this.minutes.at(-1) ?? 0) > minute) {
      this.minutes.pop();
      this.ticks.pop();
    }
    if (this.minutes.at(-1) === minute) {
      this.ticks[this.ticks.length - 1] = ticks;
      return;
    }
    this.minutes.push(minute);
    this.ticks.push(ticks);
    if (this.minutes.length < 2 * MAX_MINUTES) return;
    this.minutes = this.minutes.slice(MAX_MINUTES);
    this.ticks = this.ticks.slice(MAX_MINUTES);
    this.hasDropped = true;
  }

  /** Time from which marks are known, if earlier ones were dropped; otherwise null. */
  get keptSinceUs(): number | null {
    return this.hasDropped ? (this.minutes[0] ?? 0) * MINUTE_US : null;
  }

  /** The mark before a whole minute; null before the first. */
  before(endUs: number): number | null {
    const end = endUs / MINUTE_US;
    let low = 0;
    let high = this.minutes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.minutes[middle] ?? Infinity) < end) low = middle + 1;
      else high = middle;
    }
    return this.ticks[low - 1] ?? null;
  }
}

/**
 * Pace of a replay whose virtual clock a client moves: the client waits at the limit. A strategy
 * then sees the same history at the same virtual times as without a pace.
 */

/** Interval at which the limit is read. */
const LOOK_MS = 10;

export class ReplayPace {
  /** Seconds of history per second; null: as fast as the client moves it. */
  speed: number | null = null;
  paused = false;
  private anchorUs = 0;
  private anchorMs = 0;
  /** Time at which a paused replay stands. */
  private heldUs = 0;

  set(speed: number | null, paused: boolean, nowUs: number): void {
    this.speed = speed;
    this.paused = paused;
    this.anchorUs = nowUs;
    this.anchorMs = performance.now();
    this.heldUs = nowUs;
  }

  /** Pauses after a further part of history; steps in a row add up. */
  step(us: number, nowUs: number): void {
    this.heldUs = (this.paused ? Math.max(this.heldUs, nowUs) : nowUs) + us;
    this.paused = true;
  }

  /** Begins here and now, so that a client that was away does not catch up. */
  restart(nowUs: number): void {
    this.set(this.speed, this.paused, nowUs);
  }

  get isLimited(): boolean {
    return this.paused || this.speed !== null;
  }

  /** Time of history up to which it may be played now. */
  limitUs(): number {
    if (this.paused) return this.heldUs;
    if (this.speed === null) return Infinity;
    const passedUs = (performance.now() - this.anchorMs) * 1000 * this.speed;
    return Math.floor(this.anchorUs + passedUs);
  }

  /** A moment, after which the limit may have moved. */
  static look(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

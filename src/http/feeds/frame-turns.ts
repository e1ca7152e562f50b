/**
 * The frames that all feeds together pass on in a turn of the event loop. A few of each connection
 * would still hold others for as long as there are connections that flood. Gates beyond the number
 * are first in the next turn, in the order in which they began to wait.
 */
const FRAMES = 64;

export class FrameTurns {
  private left = FRAMES;
  private waiting: (() => void)[] = [];
  private isOpen = false;

  /** Whether another frame may pass in this turn. */
  get hasLeft(): boolean {
    return this.left > 0;
  }

  /** Counts a frame that passes. */
  take(): void {
    this.left -= 1;
    this.open();
  }

  /** Calls back in a later turn, once frames may pass. */
  next(pass: () => void): void {
    this.waiting.push(pass);
    this.open();
  }

  private open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    setImmediate(() => {
      this.isOpen = false;
      this.left = FRAMES;
      this.run();
    });
  }

  private run(): void {
    const { waiting } = this;
    this.waiting = [];
    let ran = 0;
    while (ran < waiting.length && this.left > 0) {
      waiting[ran]?.();
      ran += 1;
    }
    if (ran < waiting.length) {
      this.waiting = [...waiting.slice(ran), ...this.waiting];
      this.open();
    }
  }
}

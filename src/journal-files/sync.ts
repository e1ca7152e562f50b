/** A sync of the journal for which replies wait. */

/** Commands of the same sync share one promise. */
export class Sync {
  resolve: () => void = () => undefined;
  reject: (error: Error) => void = () => undefined;
  waiting = 0;
  readonly done = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // Prevents an unhandled rejection if no reply waits.
    this.done.catch(() => undefined);
  }
}

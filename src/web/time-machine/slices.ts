/** Long work of the worker in slices, so that messages of the page come in between. */
const SLICE_MS = 10;

export class Slices {
  private until = performance.now() + SLICE_MS;

  /** Waits at the end of a slice; false if the work is to stop. */
  async next(isStopped: () => boolean): Promise<boolean> {
    if (performance.now() < this.until) return true;
    await nextTask();
    this.until = performance.now() + SLICE_MS;
    return !isStopped();
  }
}

const { port1, port2 } = new MessageChannel();
let resumed: (() => void)[] = [];
port1.onmessage = () => {
  const all = resumed;
  resumed = [];
  for (const resume of all) resume();
};

/** Messages that wait are handled first. A timer would add 4 ms when it is nested. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    resumed.push(resolve);
    port2.postMessage(null);
  });
}

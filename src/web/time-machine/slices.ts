/** Long work of the worker in slices, so that messages of the page come in between. */
const SLICE_MS = 10;

export class Slices {
  private until = performance.now() + SLICE_MS;

  /** Waits at the end of a slice; false if the work is to stop. */
  async next(isStopped: () => boolean): Promise<boolean> {
    if (performance.now() < this.until) return true;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    this.until = performance.now() + SLICE_MS;
    return !isStopped();
  }
}

/**
 * A handler of another realm that has not ended. Its listener is called at its end, without a
 * promise of this realm.
 */
export class PendingHandler implements PromiseLike<void> {
  private ended: () => void = () => undefined;
  private failed: (error: unknown) => void = () => undefined;

  /** The last listener counts. */
  onEnd(ended: () => void, failed: (error: unknown) => void): void {
    this.ended = ended;
    this.failed = failed;
  }

  end(): void {
    this.ended();
  }

  fail(error: unknown): void {
    this.failed(error);
  }

  then<A = void, B = never>(
    ended?: ((value: void) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const promise = new Promise<void>((resolve, reject) => {
      this.onEnd(resolve, reject);
    });
    return promise.then(ended, failed);
  }
}

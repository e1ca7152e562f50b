/**
 * A walk along paths of operations: keeps a checkpoint of each state on the current path. Moving to
 * a path that shares its beginning with the current one repeats only the rest.
 */
import { must } from '../../base/assert.ts';
import { Checkpoint, type IsSameBytes, type Parts } from './checkpoint.ts';

export class Walk {
  private readonly roots: readonly object[];
  private readonly apply: (operation: number) => void;
  private readonly path: number[] = [];
  private readonly checkpoints: Checkpoint[];
  private readonly partsNow: (() => Parts) | undefined;
  private readonly isSameBytes: IsSameBytes | undefined;

  /**
   * The walk starts in the current state of `roots`, which `apply` changes. `partsNow` are those of
   * the current state. `isSameBytes`: a faster comparison than a loop.
   */
  constructor(
    roots: readonly object[],
    apply: (operation: number) => void,
    partsNow?: () => Parts,
    isSameBytes?: IsSameBytes,
  ) {
    this.roots = roots;
    this.apply = apply;
    this.partsNow = partsNow;
    this.isSameBytes = isSameBytes;
    this.checkpoints = [this.checkpoint(null)];
  }

  /** The checkpoint at the end of the path. */
  get current(): Checkpoint {
    return must(this.checkpoints.at(-1), 'a walk has a checkpoint of its start');
  }

  /** Operations that `moveTo` has to apply. */
  missing(path: ArrayLike<number>): number {
    return path.length - this.shared(path);
  }

  /** Goes to the state at the end of the path. */
  moveTo(path: ArrayLike<number>): void {
    const shared = this.shared(path);
    this.path.length = shared;
    this.checkpoints.length = shared + 1;
    this.back();
    for (let i = shared; i < path.length; i += 1) {
      const operation = path[i] ?? 0;
      const { current } = this;
      this.apply(operation);
      this.path.push(operation);
      current.scan();
      this.checkpoints.push(this.checkpoint(current));
    }
  }

  /** Returns to the state at the end of the path. */
  back(): void {
    this.current.restore();
  }

  private checkpoint(before: Checkpoint | null): Checkpoint {
    return new Checkpoint(this.roots, this.partsNow?.(), before, this.isSameBytes);
  }

  private shared(path: ArrayLike<number>): number {
    let shared = 0;
    while (shared < this.path.length && this.path[shared] === path[shared]) shared += 1;
    return shared;
  }
}

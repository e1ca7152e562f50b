/**
 * Moves the typed arrays of an exchange into few buffers. A checkpoint then saves and restores
 * their bytes with few copies, instead of a hundred small ones. Arrays that grow later leave them.
 */
import { InvariantError } from '../../base/assert.ts';

type View = Exclude<ArrayBufferView, DataView> & { readonly length: number };
type ViewClass = new (buffer: ArrayBuffer, offset: number, length: number) => View;

/** Words of 8 bytes: the alignment of the widest elements. */
const ALIGNMENT = 8;

interface Holder {
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

/**
 * One buffer for each of `owners`, with the arrays that are reachable from it and not from an
 * earlier one, and one for the others that are reachable from `root`.
 */
export function gatherBuffers(root: object, owners: readonly object[] = []): ArrayBuffer[] {
  const seen = new Set<object>([root, ...owners]);
  return [...owners, root].map((owner) => move(holdersFrom(owner, seen)));
}

/** Everything that is reachable and holds a typed array, with its name there. */
function holdersFrom(owner: object, seen: Set<object>): Holder[] {
  const holders: Holder[] = [];
  const queue: object[] = [owner];
  const follow = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    queue.push(value);
  };
  for (let object = queue.pop(); object !== undefined; object = queue.pop()) {
    if (object instanceof Map || object instanceof Set) {
      for (const value of [...object.keys(), ...object.values()] as unknown[]) {
        if (isView(value)) throw new InvariantError('typed arrays are not elements of collections');
        follow(value);
      }
      continue;
    }
    const holder = object as Record<string, unknown>;
    for (const name of Object.keys(object)) {
      const value = holder[name];
      if (!isView(value)) follow(value);
      else if (value.byteLength > 0) holders.push({ holder, name });
    }
  }
  return holders;
}

/** Returns the buffer that has all of them. */
function move(holders: readonly Holder[]): ArrayBuffer {
  const places = new Map<ArrayBufferLike, number>();
  let length = 0;
  for (const { holder, name } of holders) {
    const { buffer } = holder[name] as View;
    if (places.has(buffer)) continue;
    places.set(buffer, length);
    length += Math.ceil(buffer.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  const whole = new ArrayBuffer(length);
  for (const [buffer, at] of places) new Uint8Array(whole, at).set(new Uint8Array(buffer));
  for (const { holder, name } of holders) {
    const view = holder[name] as View;
    const at = (places.get(view.buffer) ?? 0) + view.byteOffset;
    holder[name] = new (view.constructor as ViewClass)(whole, at, view.length);
  }
  return whole;
}

function isView(value: unknown): value is View {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

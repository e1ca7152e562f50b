/**
 * Moves the typed arrays of an exchange into one buffer. A checkpoint then saves and restores all
 * their bytes with one copy, instead of a hundred small ones. Arrays that grow later leave it.
 */
import { InvariantError } from '../../base/assert.ts';

type View = Exclude<ArrayBufferView, DataView> & { readonly length: number };
type ViewClass = new (buffer: ArrayBuffer, offset: number, length: number) => View;

/** Words of 8 bytes: the alignment of the widest elements. */
const ALIGNMENT = 8;

/** Everything that is reachable from `root` and holds a typed array, with its name there. */
export function gatherBuffers(root: object): void {
  const seen = new Set<object>([root]);
  const queue: object[] = [root];
  const holders: { readonly holder: Record<string, unknown>; readonly name: string }[] = [];
  const places = new Map<ArrayBufferLike, number>();
  let length = 0;
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
      else if (value.byteLength > 0) {
        holders.push({ holder, name });
        if (places.has(value.buffer)) continue;
        places.set(value.buffer, length);
        length += Math.ceil(value.buffer.byteLength / ALIGNMENT) * ALIGNMENT;
      }
    }
  }
  const whole = new ArrayBuffer(length);
  for (const [buffer, at] of places) new Uint8Array(whole, at).set(new Uint8Array(buffer));
  for (const { holder, name } of holders) {
    const view = holder[name] as View;
    const at = (places.get(view.buffer) ?? 0) + view.byteOffset;
    holder[name] = new (view.constructor as ViewClass)(whole, at, view.length);
  }

  function follow(value: unknown): void {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    queue.push(value);
  }
}

function isView(value: unknown): value is View {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

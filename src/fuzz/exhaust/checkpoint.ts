/**
 * A checkpoint of objects: saves every value that is reachable from its roots, and writes those
 * values back into the same objects. Objects made since then become unreachable.
 *
 * Covers plain objects, instances of classes, arrays, maps, sets and typed arrays. Closures are not
 * followed, so the variables that they capture are not restored. Records of configuration never
 * change in place; they are not followed either.
 *
 * Cost: a generated function per class reads and writes its fields, several times as fast as access
 * by computed name. A checkpoint of an exchange with nine subaccounts takes 0.1 ms, its restoration
 * about 10 µs.
 */
import { InvariantError } from '../../base/assert.ts';

/** Fields that hold records which are replaced but never changed. */
const FROZEN_FIELDS = new Set(['config', 'spec', 'nextSpec']);

/** Reads or writes all fields of one class of objects. */
interface FieldCopier {
  readonly fields: readonly string[];
  /** Fields that can hold objects to follow. */
  readonly followed: readonly string[];
  readonly save: (object: object, values: unknown[]) => void;
  readonly restore: (object: object, values: readonly unknown[], at: number) => void;
}

/** By prototype, for classes; by names of fields, for plain objects. */
const byClass = new Map<object | null, FieldCopier>();
const byFields = new Map<string, FieldCopier>();

export class Checkpoint {
  private readonly objects: object[] = [];
  private readonly copiers: FieldCopier[] = [];
  private readonly values: unknown[] = [];
  private readonly arrays: unknown[][] = [];
  private readonly elements: unknown[][] = [];
  private readonly maps: Map<unknown, unknown>[] = [];
  private readonly entries: unknown[][] = [];
  private readonly sets: Set<unknown>[] = [];
  private readonly members: unknown[][] = [];
  private readonly buffers: Uint8Array[] = [];
  /** The bytes of all buffers, and a part of them for each. */
  private readonly bytes: Uint8Array[] = [];

  constructor(roots: readonly object[]) {
    const seen = new Set<object>(roots);
    const queue: object[] = [...roots];
    const follow = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      queue.push(value);
    };
    for (let object = queue.pop(); object !== undefined; object = queue.pop()) {
      if (Array.isArray(object)) this.saveArray(object, follow);
      else if (ArrayBuffer.isView(object)) this.noteBuffer(object, seen);
      else if (object instanceof Map) this.saveMap(object, follow);
      else if (object instanceof Set) this.saveSet(object, follow);
      else this.saveObject(object, follow);
    }
    this.saveBytes();
  }

  /** Writes the saved values back. May be called any number of times. */
  restore(): void {
    const { objects, copiers, values } = this;
    let at = 0;
    for (let i = 0; i < objects.length; i += 1) {
      const copier = copiers[i] as FieldCopier;
      copier.restore(objects[i] as object, values, at);
      at += copier.fields.length;
    }
    for (let i = 0; i < this.arrays.length; i += 1) {
      restoreArray(this.arrays[i] as unknown[], this.elements[i] as unknown[]);
    }
    for (let i = 0; i < this.maps.length; i += 1) {
      restoreMap(this.maps[i] as Map<unknown, unknown>, this.entries[i] as unknown[]);
    }
    for (let i = 0; i < this.sets.length; i += 1) {
      restoreSet(this.sets[i] as Set<unknown>, this.members[i] as unknown[]);
    }
    for (let i = 0; i < this.buffers.length; i += 1) {
      this.buffers[i]?.set(this.bytes[i] as Uint8Array);
    }
  }

  private saveArray(array: unknown[], follow: (value: unknown) => void): void {
    this.arrays.push(array);
    this.elements.push(array.slice());
    for (const element of array) follow(element);
  }

  /** Several views may share one buffer. */
  private noteBuffer(view: ArrayBufferView, seen: Set<object>): void {
    if (seen.has(view.buffer)) return;
    seen.add(view.buffer);
    this.buffers.push(new Uint8Array(view.buffer));
  }

  /** One allocation for all buffers: an exchange has a hundred small ones. */
  private saveBytes(): void {
    const total = this.buffers.reduce((sum, { length }) => sum + length, 0);
    const pool = new ArrayBuffer(total);
    let at = 0;
    for (const buffer of this.buffers) {
      const saved = new Uint8Array(pool, at, buffer.length);
      saved.set(buffer);
      this.bytes.push(saved);
      at += buffer.length;
    }
  }

  private saveMap(map: Map<unknown, unknown>, follow: (value: unknown) => void): void {
    const entries: unknown[] = [];
    for (const [key, value] of map) {
      entries.push(key, value);
      follow(key);
      follow(value);
    }
    this.maps.push(map);
    this.entries.push(entries);
  }

  private saveSet(set: Set<unknown>, follow: (value: unknown) => void): void {
    this.sets.push(set);
    this.members.push([...set]);
    for (const member of set) follow(member);
  }

  private saveObject(object: object, follow: (value: unknown) => void): void {
    if (object instanceof WeakMap || object instanceof WeakSet) {
      throw new InvariantError('a checkpoint cannot save weak collections');
    }
    const copier = copierOf(object);
    this.objects.push(object);
    this.copiers.push(copier);
    copier.save(object, this.values);
    const record = object as Readonly<Record<string, unknown>>;
    for (const field of copier.followed) follow(record[field]);
  }
}

function copierOf(object: object): FieldCopier {
  const prototype = Object.getPrototypeOf(object) as object | null;
  const fields = Object.keys(object);
  const known = byClass.get(prototype);
  if (known?.fields.length === fields.length) return known;
  const name = fields.join();
  let copier = byFields.get(name);
  if (copier === undefined) {
    copier = newCopier(fields);
    byFields.set(name, copier);
  }
  if (prototype !== Object.prototype && known === undefined) byClass.set(prototype, copier);
  return copier;
}

function newCopier(fields: readonly string[]): FieldCopier {
  const access = fields.map((field) => `o[${JSON.stringify(field)}]`);
  // Equal values are not written: the compiler relies on fields that never change.
  const writes = access.map(
    (field, i) => `if (${field} !== v[i + ${String(i)}]) ${field} = v[i + ${String(i)}];`,
  );
  /* eslint-disable @typescript-eslint/no-implied-eval -- The text has only names of fields. */
  const save = new Function('o', 'v', `v.push(${access.join()});`) as FieldCopier['save'];
  const restore = new Function('o', 'v', 'i', writes.join('\n')) as FieldCopier['restore'];
  /* eslint-enable @typescript-eslint/no-implied-eval */
  return { fields, followed: fields.filter((field) => !FROZEN_FIELDS.has(field)), save, restore };
}

function restoreArray(array: unknown[], elements: readonly unknown[]): void {
  if (array.length !== elements.length) array.length = elements.length;
  for (let i = 0; i < elements.length; i += 1) {
    if (array[i] !== elements[i]) array[i] = elements[i];
  }
}

/** Restores the order of the entries too: iteration follows it. */
function restoreMap(map: Map<unknown, unknown>, entries: readonly unknown[]): void {
  if (map.size * 2 === entries.length) {
    let at = 0;
    for (const [key, value] of map) {
      if (entries[at] !== key || entries[at + 1] !== value) break;
      at += 2;
    }
    if (at === entries.length) return;
  }
  map.clear();
  for (let i = 0; i < entries.length; i += 2) map.set(entries[i], entries[i + 1]);
}

function restoreSet(set: Set<unknown>, members: readonly unknown[]): void {
  if (set.size === members.length) {
    let at = 0;
    for (const member of set) {
      if (members[at] !== member) break;
      at += 1;
    }
    if (at === members.length) return;
  }
  set.clear();
  for (const member of members) set.add(member);
}

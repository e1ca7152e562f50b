/**
 * A checkpoint of objects: saves every value that is reachable from its roots, and writes those
 * values back into the same objects. Objects made since then become unreachable.
 *
 * Covers plain objects, instances of classes, arrays, maps, sets and typed arrays. Closures are not
 * followed, so the variables that they capture are not restored. Records of configuration never
 * change in place; they are not followed either.
 *
 * Some of the objects may be **parts**: after `scan`, `isChanged` answers whether anything that is
 * reachable from a part, and not from an earlier one, has another value. Bytes of typed arrays are
 * not scanned, except those of parts in `scanned`.
 *
 * Cost: a generated function per class reads, compares and writes the fields of all its objects,
 * several times as fast as access by computed name.
 */
import { InvariantError } from '../../base/assert.ts';

/** Fields that hold records which are replaced but never changed. */
const FROZEN_FIELDS = new Set(['config', 'spec', 'nextSpec']);

/** Reads, compares or writes all fields of the objects of one class. */
interface FieldCopier {
  readonly fields: readonly string[];
  /** Fields that can hold objects to follow. */
  readonly followed: readonly string[];
  readonly save: (object: object, values: unknown[]) => void;
  /** Notes the objects that differ, and marks their parts. */
  readonly scan: (group: Group, changedParts: Uint8Array) => void;
  readonly restore: (objects: object[], values: unknown[], changed: readonly number[]) => void;
}

/** The objects of one class. */
interface Group {
  readonly copier: FieldCopier;
  readonly objects: object[];
  /** The fields of all objects, one object after the other. */
  readonly values: unknown[];
  /** The part of each object. */
  readonly parts: number[];
  /** Indices of the objects that differed at the last scan. */
  changed: number[];
}

/** By prototype, for classes; by names of fields, for plain objects. */
const byClass = new Map<object | null, FieldCopier>();
const byFields = new Map<string, FieldCopier>();

/** A collection and its elements, entries or members. */
interface Collection<C> {
  readonly of: C;
  readonly saved: unknown[];
  readonly part: number;
}

/** Words of a typed array whose changes count as changes of its part. */
interface ScannedWords {
  readonly live: Int32Array;
  saved: Int32Array;
  readonly part: number;
}

export interface Parts {
  /** Each with all that is reachable from it and not from an earlier one. */
  readonly objects: readonly object[];
  /** Those whose typed arrays are compared. */
  readonly scanned: readonly object[];
}

const NO_PARTS: Parts = { objects: [], scanned: [] };
/** Objects that belong to no part. */
const ELSEWHERE = 0;

export class Checkpoint {
  private readonly groups = new Map<FieldCopier, Group>();
  private readonly arrays: Collection<unknown[]>[] = [];
  private readonly maps: Collection<Map<unknown, unknown>>[] = [];
  private readonly sets: Collection<Set<unknown>>[] = [];
  private readonly buffers: Uint8Array[] = [];
  /** The bytes of all buffers, and a part of them for each. */
  private readonly bytes: Uint8Array[] = [];
  private readonly words: ScannedWords[] = [];
  private readonly partOf = new Map<object, number>();
  private readonly changedParts: Uint8Array;
  /** The part that is being saved. */
  private part = ELSEWHERE;

  constructor(roots: readonly object[], parts: Parts = NO_PARTS) {
    const { objects, scanned } = parts;
    this.changedParts = new Uint8Array(objects.length + 1);
    // A part does not contain another one, nor the roots.
    const seen = new Set<object>([...roots, ...objects]);
    for (const [i, object] of objects.entries()) {
      this.part = i + 1;
      this.partOf.set(object, this.part);
      this.saveFrom([object], seen, scanned.includes(object));
    }
    this.part = ELSEWHERE;
    this.saveFrom([...roots], seen, false);
    this.saveBytes();
  }

  /** Looks for changes since the checkpoint. */
  scan(): void {
    const { changedParts } = this;
    changedParts.fill(0);
    for (const group of this.groups.values()) group.copier.scan(group, changedParts);
    for (const { of, saved, part } of this.arrays) {
      if (!isSameArray(of, saved)) changedParts[part] = 1;
    }
    for (const { of, saved, part } of this.maps) if (!isSameMap(of, saved)) changedParts[part] = 1;
    for (const { of, saved, part } of this.sets) if (!isSameSet(of, saved)) changedParts[part] = 1;
    for (const { live, saved, part } of this.words) {
      if (!isSameWords(live, saved)) changedParts[part] = 1;
    }
  }

  /** Whether the object is no part, or had changed at the last scan. */
  isChanged(object: object): boolean {
    return this.changedParts[this.partOf.get(object) ?? ELSEWHERE] !== 0;
  }

  /** Writes the saved values back. May be called any number of times. */
  restore(): void {
    this.scan();
    this.restoreScanned();
  }

  /** The same right after `scan`. */
  restoreScanned(): void {
    for (const { copier, objects, values, changed } of this.groups.values()) {
      if (changed.length > 0) copier.restore(objects, values, changed);
    }
    for (const { of, saved } of this.arrays) restoreArray(of, saved);
    for (const { of, saved } of this.maps) restoreMap(of, saved);
    for (const { of, saved } of this.sets) restoreSet(of, saved);
    for (let i = 0; i < this.buffers.length; i += 1) {
      this.buffers[i]?.set(this.bytes[i] as Uint8Array);
    }
  }

  private saveFrom(queue: object[], seen: Set<object>, scansWords: boolean): void {
    const follow = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      queue.push(value);
    };
    for (let object = queue.pop(); object !== undefined; object = queue.pop()) {
      if (Array.isArray(object)) this.saveArray(object, follow);
      else if (ArrayBuffer.isView(object)) this.noteBuffer(object, seen, scansWords);
      else if (object instanceof Map) this.saveMap(object, follow);
      else if (object instanceof Set) this.saveSet(object, follow);
      else this.saveObject(object, follow);
    }
  }

  private saveArray(array: unknown[], follow: (value: unknown) => void): void {
    this.arrays.push({ of: array, saved: array.slice(), part: this.part });
    for (const element of array) follow(element);
  }

  /** Several views may share one buffer. */
  private noteBuffer(view: ArrayBufferView, seen: Set<object>, scansWords: boolean): void {
    if (scansWords && view instanceof Int32Array) {
      this.words.push({ live: view, saved: view.slice(), part: this.part });
    }
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
    const saved: unknown[] = [];
    for (const [key, value] of map) {
      saved.push(key, value);
      follow(key);
      follow(value);
    }
    this.maps.push({ of: map, saved, part: this.part });
  }

  private saveSet(set: Set<unknown>, follow: (value: unknown) => void): void {
    this.sets.push({ of: set, saved: [...set], part: this.part });
    for (const member of set) follow(member);
  }

  private saveObject(object: object, follow: (value: unknown) => void): void {
    if (object instanceof WeakMap || object instanceof WeakSet) {
      throw new InvariantError('a checkpoint cannot save weak collections');
    }
    const copier = copierOf(object);
    let group = this.groups.get(copier);
    if (group === undefined) {
      group = { copier, objects: [], values: [], parts: [], changed: [] };
      this.groups.set(copier, group);
    }
    group.objects.push(object);
    group.parts.push(this.part);
    copier.save(object, group.values);
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
  const places = fields.map((_, i) => `v[at + ${String(i)}]`);
  const differs = access.map((field, i) => `${field} !== ${places[i] ?? ''}`);
  // Equal values are not written: the compiler relies on fields that never change.
  const writes = access.map((field, i) => {
    const place = places[i] ?? '';
    return `if (${field} !== ${place}) ${field} = ${place};`;
  });
  const count = String(fields.length);
  const scan = [
    'const { objects, values: v, parts } = group;',
    'const changed = [];',
    `for (let i = 0, at = 0; i < objects.length; i += 1, at += ${count}) {`,
    '  const o = objects[i];',
    `  if (!(${differs.length === 0 ? 'false' : differs.join(' || ')})) continue;`,
    '  changed.push(i);',
    '  changedParts[parts[i]] = 1;',
    '}',
    'if (changed.length > 0 || group.changed.length > 0) group.changed = changed;',
  ];
  const restore = [
    'for (const i of changed) {',
    '  const o = objects[i];',
    `  const at = i * ${count};`,
    ...writes,
    '}',
  ];
  /* eslint-disable @typescript-eslint/no-implied-eval -- The text has only names of fields. */
  return {
    fields,
    followed: fields.filter((field) => !FROZEN_FIELDS.has(field)),
    save: new Function('o', 'v', `v.push(${access.join()});`) as FieldCopier['save'],
    scan: new Function('group', 'changedParts', scan.join('\n')) as FieldCopier['scan'],
    restore: new Function('objects', 'v', 'changed', restore.join('\n')) as FieldCopier['restore'],
  };
  /* eslint-enable @typescript-eslint/no-implied-eval */
}

function isSameArray(array: readonly unknown[], saved: readonly unknown[]): boolean {
  if (array.length !== saved.length) return false;
  for (let i = 0; i < saved.length; i += 1) if (array[i] !== saved[i]) return false;
  return true;
}

/** Order counts: iteration follows it. */
function isSameMap(map: ReadonlyMap<unknown, unknown>, entries: readonly unknown[]): boolean {
  if (map.size * 2 !== entries.length) return false;
  let at = 0;
  for (const [key, value] of map) {
    if (entries[at] !== key || entries[at + 1] !== value) return false;
    at += 2;
  }
  return true;
}

function isSameSet(set: ReadonlySet<unknown>, members: readonly unknown[]): boolean {
  if (set.size !== members.length) return false;
  let at = 0;
  for (const member of set) {
    if (members[at] !== member) return false;
    at += 1;
  }
  return true;
}

function isSameWords(live: Int32Array, saved: Int32Array): boolean {
  for (let i = 0; i < saved.length; i += 1) if (live[i] !== saved[i]) return false;
  return true;
}

function restoreArray(array: unknown[], elements: readonly unknown[]): void {
  if (array.length !== elements.length) array.length = elements.length;
  for (let i = 0; i < elements.length; i += 1) {
    if (array[i] !== elements[i]) array[i] = elements[i];
  }
}

/** Restores the order of the entries too. */
function restoreMap(map: Map<unknown, unknown>, entries: readonly unknown[]): void {
  if (isSameMap(map, entries)) return;
  map.clear();
  for (let i = 0; i < entries.length; i += 2) map.set(entries[i], entries[i + 1]);
}

function restoreSet(set: Set<unknown>, members: readonly unknown[]): void {
  if (isSameSet(set, members)) return;
  set.clear();
  for (const member of members) set.add(member);
}

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
 * not scanned, except those of parts in `scanned`; `isSameBytes` compares them.
 *
 * Cost: a generated class per class of objects keeps their values, and generated functions compare
 * and write them, several times as fast as access by computed name.
 */
import { InvariantError } from '../../base/assert.ts';

/** Fields that hold records which are replaced but never changed. */
const FROZEN_FIELDS = new Set(['config', 'spec', 'nextSpec']);

/** Reads, compares or writes all fields of the objects of one class. */
interface FieldCopier {
  readonly fields: readonly string[];
  /** The values of the fields that can hold objects to follow. */
  readonly follow: (object: object) => unknown[];
  /** Has the values of the fields at the time of its construction. */
  readonly Saved: new (object: object) => object;
  /** Notes the objects that differ, and marks their parts. */
  readonly scan: (group: Group, changedParts: Uint8Array) => void;
  readonly restore: (group: Group) => void;
}

/** The objects of one class. */
interface Group {
  readonly copier: FieldCopier;
  /** These lists may be shared with the checkpoint before: they are copied before a change. */
  objects: object[];
  /** The values of each object. */
  saved: object[];
  /** The part of each object. */
  parts: number[];
  isShared: boolean;
  /** Begins with the indices of the objects that differed at the last scan, and their number. */
  readonly changed: number[];
  changedCount: number;
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

/** Collections of one kind. Each kind has a loop of its own, into which the compiler inlines. */
abstract class Collections<C extends object> {
  all: Collection<C>[] = [];
  /** Indices of those that differed at the last scan. */
  readonly changed: number[] = [];

  abstract scan(changedParts: Uint8Array): void;
  protected abstract copy(of: C): unknown[];
  protected abstract write(of: C, saved: readonly unknown[]): void;

  /** Returns the elements. */
  add(of: C, part: number): readonly unknown[] {
    const saved = this.copy(of);
    this.all.push({ of, saved, part });
    return saved;
  }

  restoreScanned(): void {
    for (const i of this.changed) {
      const { of, saved } = this.all[i] as Collection<C>;
      this.write(of, saved);
    }
  }

  /** Takes over those of a scanned checkpoint; the changed ones as they are now. */
  takeOver(before: Collections<C>, changes: Changed[]): void {
    this.all = before.all.slice();
    for (const i of before.changed) {
      const { of, part } = before.all[i] as Collection<C>;
      const saved = this.copy(of);
      this.all[i] = { of, saved, part };
      changes.push({ part, values: saved });
    }
  }
}

class Arrays extends Collections<unknown[]> {
  scan(changedParts: Uint8Array): void {
    const { all, changed } = this;
    if (changed.length > 0) changed.length = 0;
    for (let i = 0; i < all.length; i += 1) {
      const { of, saved, part } = all[i] as Collection<unknown[]>;
      if (isSameArray(of, saved)) continue;
      changed.push(i);
      changedParts[part] = 1;
    }
  }

  protected copy(array: unknown[]): unknown[] {
    return array.slice();
  }

  protected write(array: unknown[], elements: readonly unknown[]): void {
    if (array.length !== elements.length) array.length = elements.length;
    for (let i = 0; i < elements.length; i += 1) {
      if (array[i] !== elements[i]) array[i] = elements[i];
    }
  }
}

class Maps extends Collections<Map<unknown, unknown>> {
  scan(changedParts: Uint8Array): void {
    const { all, changed } = this;
    if (changed.length > 0) changed.length = 0;
    for (let i = 0; i < all.length; i += 1) {
      const { of, saved, part } = all[i] as Collection<Map<unknown, unknown>>;
      if (isSameMap(of, saved)) continue;
      changed.push(i);
      changedParts[part] = 1;
    }
  }

  protected copy(map: Map<unknown, unknown>): unknown[] {
    const entries: unknown[] = [];
    for (const [key, value] of map) entries.push(key, value);
    return entries;
  }

  /** Restores the order of the entries too. */
  protected write(map: Map<unknown, unknown>, entries: readonly unknown[]): void {
    map.clear();
    for (let i = 0; i < entries.length; i += 2) map.set(entries[i], entries[i + 1]);
  }
}

class Sets extends Collections<Set<unknown>> {
  scan(changedParts: Uint8Array): void {
    const { all, changed } = this;
    if (changed.length > 0) changed.length = 0;
    for (let i = 0; i < all.length; i += 1) {
      const { of, saved, part } = all[i] as Collection<Set<unknown>>;
      if (isSameSet(of, saved)) continue;
      changed.push(i);
      changedParts[part] = 1;
    }
  }

  protected copy(set: Set<unknown>): unknown[] {
    return [...set];
  }

  protected write(set: Set<unknown>, members: readonly unknown[]): void {
    set.clear();
    for (const member of members) set.add(member);
  }
}

/** Values of a changed object or collection, which may refer to new objects. */
interface Changed {
  readonly part: number;
  readonly values: readonly unknown[];
}

interface SavedBuffer {
  readonly live: Uint8Array;
  saved: Uint8Array;
  readonly part: number;
  /** Its bytes are written back only if the part has changed. */
  readonly isOwned: boolean;
  /** Another byte is a change of the part. */
  readonly isScanned: boolean;
}

/** Whether two arrays of equal length have the same bytes. */
export type IsSameBytes = (a: Uint8Array, b: Uint8Array) => boolean;

export interface Parts {
  /** Each with all that is reachable from it and not from an earlier one. */
  readonly objects: readonly object[];
  /** Those whose typed arrays are compared. */
  readonly scanned: readonly object[];
  /** Those whose typed arrays change only with another value of the part. */
  readonly owners: readonly object[];
}

const NO_PARTS: Parts = { objects: [], scanned: [], owners: [] };
/** Objects that belong to no part. */
const ELSEWHERE = 0;

export class Checkpoint {
  private readonly before: Checkpoint | null;
  private readonly groups = new Map<FieldCopier, Group>();
  private groupList: Group[] = [];
  private readonly arrays = new Arrays();
  private readonly maps = new Maps();
  private readonly sets = new Sets();
  private readonly buffers: SavedBuffer[] = [];
  /** Objects, views and buffers that are saved here and not in `before`. */
  private readonly seen = new Set<object>();
  private readonly partOf: Map<object, number>;
  /** Numbers of the parts whose bytes are compared. */
  private readonly scannedParts: Set<number>;
  private readonly isSameBytes: IsSameBytes;
  private readonly changedParts: Uint8Array;
  /** The part that is being saved, and whether it owns its typed arrays. */
  private part = ELSEWHERE;
  private owns = false;

  /**
   * `before`: a scanned checkpoint of the same roots. Objects that it saved are visited again only
   * if they have changed.
   */
  constructor(
    roots: readonly object[],
    { objects, scanned, owners }: Parts = NO_PARTS,
    before: Checkpoint | null = null,
    isSameBytes: IsSameBytes = areBytesEqual,
  ) {
    this.before = before;
    this.isSameBytes = isSameBytes;
    this.scannedParts = before?.scannedParts ?? new Set();
    const known = before?.partOf ?? new Map<object, number>();
    const added = objects.filter((object) => !known.has(object));
    this.partOf = added.length === 0 ? known : new Map(known);
    for (const object of added) this.partOf.set(object, this.partOf.size + 1);
    this.changedParts = new Uint8Array(this.partOf.size + 1);
    const changes = before === null ? [] : this.takeOver(before);
    // A part does not contain another one, nor the roots.
    for (const object of added) this.seen.add(object);
    for (const object of added) {
      this.part = this.partOf.get(object) ?? ELSEWHERE;
      this.owns = owners.includes(object);
      if (scanned.includes(object)) this.scannedParts.add(this.part);
      this.saveFrom([object]);
    }
    this.owns = false;
    // An object that several refer to belongs to the earliest part.
    const inOrder = ({ part }: Changed): number => (part === ELSEWHERE ? Infinity : part);
    for (const { part, values } of changes.sort((a, b) => inOrder(a) - inOrder(b))) {
      this.part = part;
      this.saveFrom(this.unseen(values));
    }
    this.part = ELSEWHERE;
    if (before === null) this.saveFrom(this.unseen(roots));
  }

  /** Looks for changes since the checkpoint. */
  scan(): void {
    const { changedParts, groupList } = this;
    changedParts.fill(0);
    for (const group of groupList) group.copier.scan(group, changedParts);
    this.arrays.scan(changedParts);
    this.maps.scan(changedParts);
    this.sets.scan(changedParts);
    for (const { live, saved, part, isScanned } of this.buffers) {
      if (isScanned && !this.isSameBytes(live, saved)) changedParts[part] = 1;
    }
  }

  /** Whether the object is no part, or had changed at the last scan. */
  isChanged(object: object): boolean {
    const part = this.partOf.get(object);
    return part === undefined || this.changedParts[part] !== 0;
  }

  /** Writes the saved values back. May be called any number of times. */
  restore(): void {
    this.scan();
    this.restoreScanned();
  }

  /** The same right after `scan`. */
  restoreScanned(): void {
    for (const group of this.groupList) {
      if (group.changedCount > 0) group.copier.restore(group);
    }
    this.arrays.restoreScanned();
    this.maps.restoreScanned();
    this.sets.restoreScanned();
    for (const { live, saved, part, isOwned } of this.buffers) {
      if (!isOwned || this.changedParts[part] !== 0) live.set(saved);
    }
  }

  /** Returns the changes since `before`. */
  private takeOver(before: Checkpoint): Changed[] {
    const changes: Changed[] = [];
    for (const { copier, objects, saved, parts, changed, changedCount } of before.groupList) {
      const group = { copier, objects, saved, parts, changed: [], changedCount: 0, isShared: true };
      this.addGroup(group);
      if (changedCount > 0) own(group);
      for (const i of changed.slice(0, changedCount)) {
        const object = objects[i] as object;
        group.saved[i] = new copier.Saved(object);
        changes.push({ part: parts[i] ?? ELSEWHERE, values: copier.follow(object) });
      }
    }
    this.arrays.takeOver(before.arrays, changes);
    this.maps.takeOver(before.maps, changes);
    this.sets.takeOver(before.sets, changes);
    for (const buffer of before.buffers) {
      const { live, part, isOwned, isScanned } = buffer;
      const isOld = isOwned && before.changedParts[part] === 0;
      this.buffers.push(isOld ? buffer : { live, saved: live.slice(), part, isOwned, isScanned });
    }
    return changes;
  }

  private isSeen(object: object): boolean {
    return this.seen.has(object) || this.before?.isSeen(object) === true;
  }

  /** Marks the objects among the values as seen; returns those that were not. */
  private unseen(values: readonly unknown[]): object[] {
    const found: object[] = [];
    for (const value of values) {
      if (typeof value !== 'object' || value === null || this.isSeen(value)) continue;
      this.seen.add(value);
      found.push(value);
    }
    return found;
  }

  private saveFrom(queue: object[]): void {
    const { part } = this;
    for (let object = queue.pop(); object !== undefined; object = queue.pop()) {
      if (ArrayBuffer.isView(object)) {
        this.noteBuffer(object);
        continue;
      }
      let values: readonly unknown[];
      if (Array.isArray(object)) values = this.arrays.add(object, part);
      else if (object instanceof Map) values = this.maps.add(object, part);
      else if (object instanceof Set) values = this.sets.add(object, part);
      else values = this.saveObject(object);
      queue.push(...this.unseen(values));
    }
  }

  /** Several views may share one buffer. */
  private noteBuffer({ byteLength, buffer }: ArrayBufferView): void {
    if (byteLength === 0 || this.isSeen(buffer)) return;
    this.seen.add(buffer);
    const live = new Uint8Array(buffer);
    const { part, owns: isOwned } = this;
    const isScanned = this.scannedParts.has(part);
    this.buffers.push({ live, saved: live.slice(), part, isOwned, isScanned });
  }

  /** Returns the values to follow. */
  private saveObject(object: object): readonly unknown[] {
    if (object instanceof WeakMap || object instanceof WeakSet) {
      throw new InvariantError('a checkpoint cannot save weak collections');
    }
    const copier = copierOf(object);
    const group = this.groups.get(copier) ?? this.addGroup(emptyGroup(copier));
    own(group);
    group.objects.push(object);
    group.parts.push(this.part);
    group.saved.push(new copier.Saved(object));
    return copier.follow(object);
  }

  private addGroup(group: Group): Group {
    this.groups.set(group.copier, group);
    this.groupList.push(group);
    return group;
  }
}

const emptyGroup = (copier: FieldCopier): Group => ({
  copier,
  objects: [],
  saved: [],
  parts: [],
  changed: [],
  changedCount: 0,
  isShared: false,
});

/** Before a change of its lists. */
function own(group: Group): void {
  if (!group.isShared) return;
  group.objects = group.objects.slice();
  group.saved = group.saved.slice();
  group.parts = group.parts.slice();
  group.isShared = false;
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
  const names = fields.map((field) => `[${JSON.stringify(field)}]`);
  const differs = names.map((name) => `o${name} !== s${name}`);
  // Equal values are not written: the compiler relies on fields that never change.
  const writes = names.map((name) => `if (o${name} !== s${name}) o${name} = s${name};`);
  const followed = fields.flatMap((field, i) =>
    FROZEN_FIELDS.has(field) ? [] : [`o${names[i] ?? ''}`],
  );
  const saves = names.map((name) => `this${name} = o${name};`);
  const scan = [
    'const { objects, saved, parts, changed } = group;',
    'let count = 0;',
    'for (let i = 0; i < objects.length; i += 1) {',
    '  const o = objects[i];',
    '  const s = saved[i];',
    `  if (!(${differs.length === 0 ? 'false' : differs.join(' || ')})) continue;`,
    '  changed[count++] = i;',
    '  changedParts[parts[i]] = 1;',
    '}',
    'group.changedCount = count;',
  ];
  const restore = [
    'const { objects, saved, changed, changedCount } = group;',
    'for (let k = 0; k < changedCount; k += 1) {',
    '  const i = changed[k];',
    '  const o = objects[i];',
    '  const s = saved[i];',
    ...writes,
    '}',
  ];
  /* eslint-disable @typescript-eslint/no-implied-eval -- The text has only names of fields. */
  return {
    fields,
    follow: new Function('o', `return [${followed.join()}]`) as FieldCopier['follow'],
    Saved: new Function('o', saves.join('\n')) as unknown as FieldCopier['Saved'],
    scan: new Function('group', 'changedParts', scan.join('\n')) as FieldCopier['scan'],
    restore: new Function('group', restore.join('\n')) as FieldCopier['restore'],
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
  if (map.size === 0) return true;
  if (map.size === 1 && entries[1] !== undefined) return map.get(entries[0]) === entries[1];
  let at = 0;
  for (const [key, value] of map) {
    if (entries[at] !== key || entries[at + 1] !== value) return false;
    at += 2;
  }
  return true;
}

function isSameSet(set: ReadonlySet<unknown>, members: readonly unknown[]): boolean {
  if (set.size !== members.length) return false;
  if (set.size === 0) return true;
  let at = 0;
  for (const member of set) {
    if (members[at] !== member) return false;
    at += 1;
  }
  return true;
}

function areBytesEqual(live: Uint8Array, saved: Uint8Array): boolean {
  for (let i = 0; i < saved.length; i += 1) if (live[i] !== saved[i]) return false;
  return true;
}

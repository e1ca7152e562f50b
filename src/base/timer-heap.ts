/**
 * A binary min-heap of (time, key) pairs in two typed arrays, ordered by time, then key. So firing
 * order never depends on insertion order. Callers skip stale entries when they reach the top;
 * `compact` drops them once they are the majority. 16 bytes per entry.
 */
export class TimerHeap {
  private times = new Float64Array(64);
  private keys = new Float64Array(64);
  private length = 0;

  get size(): number {
    return this.length;
  }

  /** Earliest time; Infinity when empty. */
  topTime(): number {
    return this.length === 0 ? Infinity : (this.times[0] ?? Infinity);
  }

  topKey(): number {
    return this.keys[0] ?? 0;
  }

  push(time: number, key: number): void {
    if (this.length === this.times.length) this.grow();
    let at = this.length++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const parentTime = this.times[parent] ?? 0;
      const parentKey = this.keys[parent] ?? 0;
      if (parentTime < time || (parentTime === time && parentKey <= key)) break;
      this.times[at] = parentTime;
      this.keys[at] = parentKey;
      at = parent;
    }
    this.times[at] = time;
    this.keys[at] = key;
  }

  pop(): void {
    this.length -= 1;
    if (this.length > 0) {
      this.sink(0, this.times[this.length] ?? 0, this.keys[this.length] ?? 0);
    }
  }

  /** Keeps the entries for which `live` is true. O(n). */
  compact(live: (key: number) => boolean): void {
    let kept = 0;
    for (let i = 0; i < this.length; i++) {
      const key = this.keys[i] ?? 0;
      if (!live(key)) continue;
      this.times[kept] = this.times[i] ?? 0;
      this.keys[kept] = key;
      kept += 1;
    }
    this.length = kept;
    for (let i = (kept >> 1) - 1; i >= 0; i--) {
      this.sink(i, this.times[i] ?? 0, this.keys[i] ?? 0);
    }
  }

  /** The earliest time after `time` of an entry for which `live` is true, or Infinity. O(n). */
  nextAfter(time: number, live: (key: number) => boolean): number {
    let next = Infinity;
    for (let i = 0; i < this.length; i++) {
      const at = this.times[i] ?? Infinity;
      if (at > time && at < next && live(this.keys[i] ?? 0)) next = at;
    }
    return next;
  }

  /** Keys of the entries from one time to another, both inclusive, in no particular order. O(n). */
  keysBetween(from: number, to: number): number[] {
    const keys: number[] = [];
    for (let i = 0; i < this.length; i++) {
      const at = this.times[i] ?? Infinity;
      if (at >= from && at <= to) keys.push(this.keys[i] ?? 0);
    }
    return keys;
  }

  /** All keys, in no particular order. */
  allKeys(): number[] {
    return Array.from(this.keys.subarray(0, this.length));
  }

  private sink(from: number, time: number, key: number): void {
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.length) break;
      if (child + 1 < this.length && this.before(child + 1, child)) child += 1;
      const childTime = this.times[child] ?? 0;
      const childKey = this.keys[child] ?? 0;
      if (time < childTime || (time === childTime && key <= childKey)) break;
      this.times[at] = childTime;
      this.keys[at] = childKey;
      at = child;
    }
    this.times[at] = time;
    this.keys[at] = key;
  }

  private before(a: number, b: number): boolean {
    const timeA = this.times[a] ?? 0;
    const timeB = this.times[b] ?? 0;
    return timeA < timeB || (timeA === timeB && (this.keys[a] ?? 0) < (this.keys[b] ?? 0));
  }

  private grow(): void {
    // Large steps: untouched pages cost nothing, freed smaller arrays fragment the heap.
    const length = this.times.length * (this.times.length < 1 << 17 ? 2 : 8);
    const times = new Float64Array(length);
    const keys = new Float64Array(length);
    times.set(this.times);
    keys.set(this.keys);
    this.times = times;
    this.keys = keys;
  }
}

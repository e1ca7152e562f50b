/**
 * Sums of resting lots by price: the lots and their value (lots × ticks) above a price, in at most
 * 31 steps whatever the prices are.
 *
 * Layout. Binary tries over the bits of a price with path compression (crit-bit trees), as columns
 * of one pool. A leaf is a price with lots; an inner node branches at one bit and has the sums of
 * its subtree. A tree is the number of its root node.
 *
 * Exactness. A value is `high` × 2^32 + `low` with 0 ≤ low < 2^32, both integers in doubles. Money
 * is below 2^62 Quanta and initial rates are at least 1e-6, so the values of one account's orders
 * sum to less than 2^83.
 */
import { assert } from '../../base/assert.ts';

export const NO_TREE = -1;
const NONE = -1;
const FIRST_NODES = 64;
const WORD = 0x100000000;
const BIG_WORD = 0x100000000n;

interface PriceLots {
  readonly price: number;
  readonly lots: number;
  /** lots × price. */
  readonly value: bigint;
}

export class PriceSums {
  private used = 0;
  private free = NONE;
  /** The bit at which the children differ; 0 for a leaf. */
  private bits = new Int32Array(FIRST_NODES);
  /** The price of a leaf; for an inner node, a price whose higher bits all its leaves share. */
  private keys = new Int32Array(FIRST_NODES);
  /** Children with the bit clear and set; `lower` also links free nodes. */
  private lower = new Int32Array(FIRST_NODES);
  private upper = new Int32Array(FIRST_NODES);
  private sizes = new Float64Array(FIRST_NODES);
  private highs = new Float64Array(FIRST_NODES);
  private lows = new Float64Array(FIRST_NODES);
  /** The value of the lots being added or removed. */
  private stepHigh = 0;
  private stepLow = 0;
  /** Result of the last `sumAbove`; kept in fields, so that a query allocates nothing. */
  foundLots = 0;
  foundHigh = 0;
  foundLow = 0;

  /** Adds lots > 0 at a price and returns the root. */
  add(root: number, price: number, lots: number): number {
    this.setStep(price, lots);
    let parent = NONE;
    let node = root;
    while (node !== NONE) {
      const bit = this.bits[node] ?? 0;
      const differing = price ^ (this.keys[node] ?? 0);
      if (bit === 0 ? differing !== 0 : (differing & -(bit << 1)) !== 0) break;
      this.change(node, lots, this.stepHigh, this.stepLow);
      if (bit === 0) return root;
      parent = node;
      node = this.child(node, price & bit);
    }
    const leaf = this.take(price, 0);
    this.change(leaf, lots, this.stepHigh, this.stepLow);
    if (node === NONE) return leaf;
    const bit = 1 << (31 - Math.clz32(price ^ (this.keys[node] ?? 0)));
    const fork = this.take(price, bit);
    this.lower[fork] = (price & bit) === 0 ? leaf : node;
    this.upper[fork] = (price & bit) === 0 ? node : leaf;
    this.addNode(fork, node);
    this.addNode(fork, leaf);
    return this.replace(root, parent, node, fork);
  }

  /** Removes lots > 0 that are at a price, and returns the root. */
  remove(root: number, price: number, lots: number): number {
    this.setStep(price, lots);
    let grandparent = NONE;
    let parent = NONE;
    let node = root;
    for (;;) {
      assert(node !== NONE, 'the lots to be removed are in the tree');
      this.change(node, -lots, -this.stepHigh, -this.stepLow);
      const bit = this.bits[node] ?? 0;
      if (bit === 0) break;
      grandparent = parent;
      parent = node;
      node = this.child(node, price & bit);
    }
    const left = this.sizes[node] ?? 0;
    assert(this.keys[node] === price && left >= 0, 'the price has the lots to be removed');
    if (left > 0) return root;
    this.give(node);
    if (parent === NONE) return NO_TREE;
    const sibling = this.lower[parent] === node ? this.upper[parent] : this.lower[parent];
    this.give(parent);
    return this.replace(root, grandparent, parent, sibling ?? NONE);
  }

  /** Sums lots and value at prices above this one into the `found` fields. */
  sumAbove(root: number, price: number): void {
    this.foundLots = 0;
    this.foundHigh = 0;
    this.foundLow = 0;
    let node = root;
    while (node !== NONE) {
      const bit = this.bits[node] ?? 0;
      const key = this.keys[node] ?? 0;
      if (bit === 0 || ((price ^ key) & -(bit << 1)) !== 0) {
        if (key > price) this.find(node);
        return;
      }
      if ((price & bit) === 0) {
        this.find(this.upper[node] ?? NONE);
        node = this.lower[node] ?? NONE;
      } else node = this.upper[node] ?? NONE;
    }
  }

  /** Sums the whole tree into the `found` fields. */
  sumAll(root: number): void {
    this.sumAbove(root, 0);
  }

  /** All prices of a tree, ascending; for invariants. */
  entries(root: number): PriceLots[] {
    if (root === NONE) return [];
    if (this.bits[root] !== 0) {
      return [...this.entries(this.lower[root] ?? NONE), ...this.entries(this.upper[root] ?? NONE)];
    }
    const value = BigInt(this.highs[root] ?? 0) * BIG_WORD + BigInt(this.lows[root] ?? 0);
    return [{ price: this.keys[root] ?? 0, lots: this.sizes[root] ?? 0, value }];
  }

  private setStep(price: number, lots: number): void {
    const product = price * lots;
    if (product <= Number.MAX_SAFE_INTEGER) {
      this.stepHigh = Math.floor(product / WORD);
      this.stepLow = product - this.stepHigh * WORD;
      return;
    }
    const exact = BigInt(price) * BigInt(lots);
    this.stepHigh = Number(exact / BIG_WORD);
    this.stepLow = Number(exact % BIG_WORD);
  }

  private change(node: number, lots: number, high: number, low: number): void {
    this.sizes[node] = (this.sizes[node] ?? 0) + lots;
    const sum = (this.lows[node] ?? 0) + low;
    const carry = sum >= WORD ? 1 : sum < 0 ? -1 : 0;
    this.lows[node] = sum - carry * WORD;
    this.highs[node] = (this.highs[node] ?? 0) + high + carry;
  }

  private addNode(to: number, from: number): void {
    this.change(to, this.sizes[from] ?? 0, this.highs[from] ?? 0, this.lows[from] ?? 0);
  }

  private find(node: number): void {
    this.foundLots += this.sizes[node] ?? 0;
    const low = this.foundLow + (this.lows[node] ?? 0);
    const carry = low >= WORD ? 1 : 0;
    this.foundLow = low - carry * WORD;
    this.foundHigh += (this.highs[node] ?? 0) + carry;
  }

  private child(node: number, side: number): number {
    return (side === 0 ? this.lower[node] : this.upper[node]) ?? NONE;
  }

  /** Puts `next` in the place of `node` below `parent`; returns the root. */
  private replace(root: number, parent: number, node: number, next: number): number {
    if (parent === NONE) return next;
    if (this.lower[parent] === node) this.lower[parent] = next;
    else this.upper[parent] = next;
    return root;
  }

  private take(key: number, bit: number): number {
    let node = this.free;
    if (node !== NONE) this.free = this.lower[node] ?? NONE;
    else {
      if (this.used === this.keys.length) this.grow();
      node = this.used++;
    }
    this.keys[node] = key;
    this.bits[node] = bit;
    this.lower[node] = NONE;
    this.upper[node] = NONE;
    this.sizes[node] = 0;
    this.highs[node] = 0;
    this.lows[node] = 0;
    return node;
  }

  private give(node: number): void {
    this.lower[node] = this.free;
    this.free = node;
  }

  private grow(): void {
    const length = this.keys.length * 2;
    const ints = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(length);
      larger.set(old);
      return larger;
    };
    const floats = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const larger = new Float64Array(length);
      larger.set(old);
      return larger;
    };
    this.bits = ints(this.bits);
    this.keys = ints(this.keys);
    this.lower = ints(this.lower);
    this.upper = ints(this.upper);
    this.sizes = floats(this.sizes);
    this.highs = floats(this.highs);
    this.lows = floats(this.lows);
  }
}

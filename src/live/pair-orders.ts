/**
 * Pairs the orders of two runs in the order of sending, like the lines of two texts: of all
 * pairings without crossing, one with the most orders of equal intent, of which those of equal
 * price count twice.
 */

/** By what two orders are paired. */
export interface PairedOrder {
  readonly symbol: string;
  readonly side: string;
  readonly orderType: string;
  readonly size: string;
  readonly price: string;
}

/** Orders of each run that are aligned at once, and those of them whose pairs are taken. */
const BLOCK = 2000;
const TAKEN = BLOCK / 2;

type Pair = readonly [left: number, right: number];

/** Places of paired orders, ascending in both runs. */
export function pairOrders(
  left: readonly PairedOrder[],
  right: readonly PairedOrder[],
): readonly Pair[] {
  const numbers = new Map<string, number>();
  const [a, b] = [keysOf(left, numbers), keysOf(right, numbers)];
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    if (a.whole[i] === b.whole[j]) {
      pairs.push([i++, j++]);
      continue;
    }
    const block = alignment(cut(a, i), cut(b, j));
    const isLast = i + BLOCK >= left.length && j + BLOCK >= right.length;
    const taken = isLast ? block : block.filter(([x, y]) => x < TAKEN && y < TAKEN);
    for (const [x, y] of taken) pairs.push([i + x, j + y]);
    if (isLast) break;
    // Later pairs of the block are found again, with the orders that follow it.
    const [x, y] = block[taken.length] ?? [TAKEN, TAKEN];
    i += Math.min(x, TAKEN);
    j += Math.min(y, TAKEN);
  }
  return pairs;
}

/** Equal numbers for equal texts. */
interface Keys {
  readonly intents: readonly number[];
  /** With the price. */
  readonly whole: readonly number[];
}

function keysOf(orders: readonly PairedOrder[], numbers: Map<string, number>): Keys {
  const numberOf = (...words: readonly string[]): number => {
    const text = words.join(' ');
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
  return {
    intents: orders.map((o) => numberOf(o.symbol, o.side, o.orderType, o.size)),
    whole: orders.map((o) => numberOf(o.symbol, o.side, o.orderType, o.size, o.price)),
  };
}

function cut({ intents, whole }: Keys, from: number): Keys {
  return { intents: intents.slice(from, from + BLOCK), whole: whole.slice(from, from + BLOCK) };
}

/** The best pairing of two short lists. */
function alignment(a: Keys, b: Keys): Pair[] {
  const [height, width] = [a.whole.length, b.whole.length];
  const row = width + 1;
  /** Value of the best pairing of the rests from two places on. */
  const values = new Uint16Array((height + 1) * row);
  const valueAt = (x: number, y: number): number => values[x * row + y] ?? 0;
  const pairValue = (x: number, y: number): number =>
    a.whole[x] === b.whole[y] ? 2 : a.intents[x] === b.intents[y] ? 1 : 0;
  for (let x = height - 1; x >= 0; x--) {
    for (let y = width - 1; y >= 0; y--) {
      const paired = pairValue(x, y) + valueAt(x + 1, y + 1);
      values[x * row + y] = Math.max(paired, valueAt(x + 1, y), valueAt(x, y + 1));
    }
  }
  const pairs: Pair[] = [];
  for (let [x, y] = [0, 0]; x < height && y < width;) {
    const value = pairValue(x, y);
    if (value > 0 && valueAt(x, y) === value + valueAt(x + 1, y + 1)) pairs.push([x++, y++]);
    else if (valueAt(x, y) === valueAt(x + 1, y)) x += 1;
    else y += 1;
  }
  return pairs;
}

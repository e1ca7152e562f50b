/** A divergence of oracle and exchange: the value, both sides, and the violated rule. */

export interface Divergence {
  /** Number of the command that causes the difference, 1 for the first. */
  readonly seq: number;
  /** The differing value, such as `cash of subaccount 5`. */
  readonly what: string;
  /** The value by the rules. */
  readonly oracle: string;
  /** The exchange's value. */
  readonly engine: string;
  /** The rule behind it, such as `R-5.2`. */
  readonly rule: string;
}

/** One human-readable sentence. */
export function divergenceText({ seq, what, oracle, engine, rule }: Divergence): string {
  return `after command ${seq}: ${what} is ${engine}, but ${rule} requires ${oracle}`;
}

export type Plain = string | number | bigint | boolean | null;

/** Compares two sides and keeps the first difference. */
export class Comparison {
  found: Divergence | null = null;
  private readonly seq: number;

  constructor(seq: number) {
    this.seq = seq;
  }

  /** Numbers and bigints of equal value are equal. `what` is called only for a difference. */
  same(rule: string, what: () => string, oracle: Plain, engine: Plain | undefined): void {
    if (this.found !== null || equal(oracle, engine)) return;
    this.differ(rule, what(), String(oracle), String(engine));
  }

  /** Compares two ordered lists; the difference is the first unequal or missing entry. */
  sameList(
    rule: string,
    what: () => string,
    oracle: readonly string[],
    engine: readonly string[],
  ): void {
    if (this.found !== null) return;
    const length = Math.max(oracle.length, engine.length);
    for (let i = 0; i < length; i += 1) {
      if (oracle[i] === engine[i]) continue;
      const where = `entry ${i + 1} of ${what()}`;
      this.differ(rule, where, oracle[i] ?? 'missing', engine[i] ?? 'missing');
      return;
    }
  }

  /** Keeps only the first difference. */
  differ(rule: string, what: string, oracle: string, engine: string): void {
    this.found ??= { seq: this.seq, what, oracle, engine, rule };
  }
}

export function equal(a: Plain, b: Plain | undefined): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' && typeof b === 'number') return Number(a) === b;
  return typeof a === 'number' && typeof b === 'bigint' && a === Number(b);
}

/** What is said when the oracle and an exchange differ: what, both values, and the rule that one of them breaks. */

export interface Divergence {
  /** Number of the command after which they differ, 1 for the first. */
  readonly seq: number;
  /** What differs, such as `cash of subaccount 5`. */
  readonly what: string;
  /** What it has to be by the rules. */
  readonly oracle: string;
  /** What the exchange says. */
  readonly engine: string;
  /** The rule that says so, such as `R-5.2`. */
  readonly rule: string;
}

/** One sentence for people. */
export function divergenceText({ seq, what, oracle, engine, rule }: Divergence): string {
  return `after command ${seq}: ${what} is ${engine}, and by ${rule} it has to be ${oracle}`;
}

export type Plain = string | number | bigint | boolean | null;

/** Holds two sides against each other and keeps the first difference. */
export class Comparison {
  found: Divergence | null = null;
  private readonly seq: number;

  constructor(seq: number) {
    this.seq = seq;
  }

  /** Numbers and bigints of equal value are the same. `what` is called only for a difference. */
  same(rule: string, what: () => string, oracle: Plain, engine: Plain | undefined): void {
    if (this.found !== null || equal(oracle, engine)) return;
    this.differ(rule, what(), String(oracle), String(engine));
  }

  /** Two lists in one order: the first entry that differs, or that only one of them has, is what differs. */
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
      this.differ(rule, where, oracle[i] ?? 'not there', engine[i] ?? 'not there');
      return;
    }
  }

  /** Only the first difference is kept. */
  differ(rule: string, what: string, oracle: string, engine: string): void {
    this.found ??= { seq: this.seq, what, oracle, engine, rule };
  }
}

export function equal(a: Plain, b: Plain | undefined): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' && typeof b === 'number') return Number(a) === b;
  return typeof a === 'number' && typeof b === 'bigint' && a === Number(b);
}

/** Token buckets by caller; a full bucket holds what a caller may use in one period. */
const SECOND_US = 1_000_000;
/** Number of callers above which those with a full bucket are evicted. */
const SWEEP_AT = 10_000;

interface Bucket {
  left: number;
  atUs: number;
}

export class TokenBuckets {
  private readonly capacity: number;
  private readonly periodUs: number;
  private readonly buckets = new Map<string, Bucket>();

  constructor(capacity: number, periodUs = SECOND_US) {
    this.capacity = capacity;
    this.periodUs = periodUs;
  }

  /** Counts the amount; false if the caller has less, and then nothing is counted. */
  takes(caller: string, amount: number, nowUs: number): boolean {
    let bucket = this.buckets.get(caller);
    if (bucket === undefined) {
      if (this.buckets.size >= SWEEP_AT) this.sweep(nowUs);
      bucket = { left: this.capacity, atUs: nowUs };
      this.buckets.set(caller, bucket);
    }
    const left = this.leftOf(bucket, nowUs);
    bucket.atUs = nowUs;
    bucket.left = amount > left ? left : left - amount;
    return amount <= left;
  }

  /** Time until the caller has this amount, which is at most the capacity. */
  waitUs(caller: string, amount: number, nowUs: number): number {
    const bucket = this.buckets.get(caller);
    if (bucket === undefined) return 0;
    const missing = amount - this.leftOf(bucket, nowUs);
    return missing <= 0 ? 0 : (missing / this.capacity) * this.periodUs;
  }

  private leftOf({ left, atUs }: Bucket, nowUs: number): number {
    return Math.min(this.capacity, left + ((nowUs - atUs) / this.periodUs) * this.capacity);
  }

  private sweep(nowUs: number): void {
    for (const [caller, bucket] of this.buckets) {
      if (this.leftOf(bucket, nowUs) === this.capacity) this.buckets.delete(caller);
    }
  }
}

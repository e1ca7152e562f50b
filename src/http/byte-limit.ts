/** Token bucket of received bytes by caller; a full bucket holds the bytes of one second. */
const SECOND_US = 1_000_000;
/** Number of callers above which those with a full bucket are evicted. */
const SWEEP_AT = 10_000;

interface Bucket {
  left: number;
  atUs: number;
}

export class ByteLimit {
  private readonly perSecond: number;
  private readonly buckets = new Map<string, Bucket>();

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** Counts the bytes; false if the caller has none left. */
  takes(caller: string, bytes: number, nowUs: number): boolean {
    let bucket = this.buckets.get(caller);
    if (bucket === undefined) {
      if (this.buckets.size >= SWEEP_AT) this.sweep(nowUs);
      bucket = { left: this.perSecond, atUs: nowUs };
      this.buckets.set(caller, bucket);
    }
    const gained = ((nowUs - bucket.atUs) / SECOND_US) * this.perSecond;
    const left = Math.min(this.perSecond, bucket.left + gained);
    bucket.atUs = nowUs;
    // A refused part is not counted: it was received, but nothing is done with it.
    bucket.left = bytes > left ? left : left - bytes;
    return bytes <= left;
  }

  private sweep(nowUs: number): void {
    for (const [caller, { atUs }] of this.buckets) {
      if (nowUs - atUs > SECOND_US) this.buckets.delete(caller);
    }
  }
}

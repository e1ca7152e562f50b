/** An exact sum of integers ≥ 0: in a double while it is safe, beyond that in a bigint. */
export class ExactSum {
  private part = 0;
  private beyond = 0n;

  /** A safe integer ≥ 0. */
  add(value: number): void {
    const sum = this.part + value;
    if (sum > Number.MAX_SAFE_INTEGER) {
      this.beyond += BigInt(this.part);
      this.part = value;
    } else this.part = sum;
  }

  addBig(value: bigint): void {
    this.beyond += value;
  }

  get total(): bigint {
    return this.beyond + BigInt(this.part);
  }
}

/** A sum of whole numbers ≥ 0 that is exact whatever it comes to: in a double while that holds it, beyond in a bigint. */
export class ExactSum {
  private part = 0;
  private beyond = 0n;

  /** A safe integer ≥ 0. */
  add(value: number): void {
    const sum = this.part + value;
    if (sum <= Number.MAX_SAFE_INTEGER) {
      this.part = sum;
      return;
    }
    this.beyond += BigInt(this.part);
    this.part = value;
  }

  addBig(value: bigint): void {
    this.beyond += value;
  }

  get total(): bigint {
    return this.beyond + BigInt(this.part);
  }
}

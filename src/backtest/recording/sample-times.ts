/**
 * The next sample after a time. Samples are at whole multiples of the interval, or `earlyUs` before
 * them; the first one, which precedes all trading, need not be.
 */
export function nextSample(afterUs: number, sampleUs: number, earlyUs: number): number {
  return (Math.floor((afterUs + earlyUs) / sampleUs) + 1) * sampleUs - earlyUs;
}

/** Adds a sample, in the place of one of the same time. */
export function addSample<T extends { readonly timeUs: number }>(samples: T[], sample: T): void {
  if (samples.at(-1)?.timeUs === sample.timeUs) samples.pop();
  samples.push(sample);
}

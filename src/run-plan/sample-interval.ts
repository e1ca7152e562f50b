/** The interval between two samples of equity. */

/** Approximate number of samples of a run. */
const SAMPLES = 4000;
const SAMPLE_STEPS_US = [1, 5, 10, 30, 60, 300, 900, 1800, 3600, 14_400, 86_400].map(
  (seconds) => seconds * 1_000_000,
);

/** The interval of a run of some length, µs. */
export function sampleUsOf(spanUs: number): number {
  return SAMPLE_STEPS_US.find((step) => spanUs / step <= SAMPLES) ?? 86_400_000_000;
}

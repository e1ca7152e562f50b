/** Numbers as written, exactly: 1.2 is twelve tenths. */
import { rational, type Rational } from './rational.ts';

const DECIMAL = /^(\d[\d_]*)(?:\.(\d+))?(?:e([+-]?\d{1,2}))?n?$/i;
const MAX_DIGITS = 60;

/** null if this is no decimal number or has too many digits. */
export function literalNumber(text: string): Rational | null {
  const match = DECIMAL.exec(text);
  if (match === null || text.length > MAX_DIGITS) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  if (/^0\d/.test(whole)) return null;
  const digits = BigInt(whole.replaceAll('_', '') + fraction);
  const scale = Number(exponent) - fraction.length;
  return scale >= 0
    ? rational(digits * 10n ** BigInt(scale))
    : rational(digits, 10n ** BigInt(-scale));
}

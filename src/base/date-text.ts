/** Microseconds since 1970 as `2024-08-08 23:54:16.298123`, UTC, without the platform's clock. */
export function dateText(us: number): string {
  const days = Math.floor(us / 86_400_000_000);
  const rest = us - days * 86_400_000_000;
  const two = (value: number): string => String(value).padStart(2, '0');
  const [year, month, day] = civil(days);
  const clock = [3_600_000_000, 60_000_000, 1_000_000].map((unit, i) =>
    two(Math.floor(rest / unit) % (i === 0 ? 24 : 60)),
  );
  const fraction = String(rest % 1_000_000).padStart(6, '0');
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${clock.join(':')}.${fraction}`;
}

/** Days since 1970 to a civil date (Hinnant, "chrono-compatible low-level date algorithms"). */
function civil(days: number): readonly [year: number, month: number, day: number] {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const ofCycle = ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524);
  const year = Math.floor((ofCycle - Math.floor(ofEra / 146_096)) / 365);
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return [year + era * 400 + (month <= 2 ? 1 : 0), month, day];
}

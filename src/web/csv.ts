/** Text of a CSV file for spreadsheets; text that begins like a formula is quoted. */
export function csvOf(names: readonly string[], rows: readonly object[]): string {
  const cell = (value: unknown): string => {
    if (value === null || value === undefined) return '';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const safe = isFormula(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.map((row) =>
    names.map((name) => cell((row as Record<string, unknown>)[name])).join(','),
  );
  return [names.join(','), ...lines].join('\n') + '\n';
}

/** A text that is no number and begins as a formula does. */
function isFormula(text: string): boolean {
  return /^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && Number.isNaN(Number(text)));
}

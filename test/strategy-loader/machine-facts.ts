/** A strategy that logs everything that a machine could decide: locale, time zone, folder, flags. */
export const FACTS = `
function facts(): unknown[] {
  const at = new Date('2024-03-10T02:30:00.123Z');
  const dates = ['2024-08-08', '2024-08', '2024', '2024-08-08T10:00', '2024-08-08T10:00:30.5', '+002024-08-08T10:00',
    '2024-08-08T10:00Z', '2024-08-08T10:00+02:00', 'Aug 8, 2024', 'Aug 8 2024 10:00 GMT+0200', '8/8/2024 3:04 PM',
    'Thu Aug 08 2024 00:00:00 GMT+0100 (Central (European) Time)', '2024-08-08 10:00', '2024-08-08 10:00 -0800',
    'Thu, 08 Aug 2024 10:00:00 GMT', '10 Aug 2024 10:00 EST', '8-8-2024', '1', 'Aug 2024 -5', 'no date',
    // Signs, words and parentheses that name no zone.
    '10:00 2024-08-08', '5:00 8-8-2024', 'aug 5:00 2024-1-1', 'gmt aug 8 2024', 'z 2024-08-08 10:00', 'Aug 8 2024 10:00 ((a) z)',
    'Aug 8 2024 10:00 (z', 'Aug 8 2024 10:00 (a', '8/8/2024 1:00 (+1', ' 2024-08-08', '2024-08-08 ', '20240', '202408', '10:00:00-05 Aug 8 2024', '2024-08-08 10:00 z5'];
  const moved = new Date(0);
  moved.setHours(25, 1, 2, 3);
  moved.setMonth(3, 4);
  moved.setFullYear(1999);
  moved.setDate(40);
  moved.setMinutes(61);
  moved.setSeconds(62);
  moved.setMilliseconds(1001);
  const attempt = (run: () => unknown): unknown => { try { return run(); } catch (error) { return String(error); } };
  const words = ['z', 'ä', 'a', 'Z', 'ö', 'å', '10', '9', 'I', 'ı'];
  const collated = (locales?: string): string => [...words].sort((a, b) => a.localeCompare(b, locales)).join();
  return [
    at.toString(), String(at), at.toDateString(), at.toTimeString(), at.toLocaleString(), at.toLocaleDateString(), at.toLocaleTimeString(),
    at.toLocaleString('de-DE'), at.toLocaleString('xx-XX'), at.toLocaleString('de', { timeZone: 'Asia/Tokyo' }), at.toJSON(),
    at.getFullYear(), at.getMonth(), at.getDate(), at.getDay(), at.getHours(), at.getMinutes(), at.getTimezoneOffset(), moved.getTime(),
    new Date(NaN).toString(), new Date(NaN).getTimezoneOffset(), new Date(-1).getTimezoneOffset(), new Date(-1e15).toString(), new Date(-6e13).toDateString(),
    new Date(2024, 2, 10, 2, 30).getTime(), new Date(99, 0).getTime(), new Date(2024, 0, NaN).getTime(), new Date(at).getTime(), new Date(5).getTime(),
    new Date(true as any).getTime(), new Date(null as any).getTime(), new Date(undefined as any).getTime(), new Date({ valueOf: () => 7 } as any).getTime(),
    new Date(new String('2024-08-08T10:00') as any).getTime(), new Date(['2024-08-08T10:00'] as any).getTime(), new (class extends Date {})(2024, 0).getTime(),
    Date.length, Date.name, typeof Date(),
    ...dates.map((text) => [text, Date.parse(text), new Date(text).getTime()].join()),
    new Intl.DateTimeFormat().format(at), Intl.DateTimeFormat().formatToParts(at).length, new Intl.DateTimeFormat().resolvedOptions().timeZone,
    new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'full' }).format(at), new Intl.DateTimeFormat('xx').resolvedOptions().locale,
    Intl.NumberFormat().format(1234567.891), new Intl.NumberFormat('xx').resolvedOptions().locale, new Intl.NumberFormat([]).format(1234.5), new Intl.NumberFormat('de').format(1234.5),
    (1234567.891).toLocaleString(), (1234.5).toLocaleString('de'), 12345678901234567890n.toLocaleString(), [1234.5, at].toLocaleString(), [1234.5].toLocaleString('de'), new Float64Array([1234.5, 2]).toLocaleString(),
    'I'.toLocaleLowerCase(), 'i'.toLocaleUpperCase(), 'i'.toLocaleUpperCase('tr'), 'ß'.toLocaleUpperCase(),
    collated(), collated('sv'), collated('xx'), [...words].sort(new Intl.Collator().compare).join(), '10'.localeCompare('9', undefined, { numeric: true }),
    new Intl.PluralRules().select(1), new Intl.ListFormat().format(['a', 'b', 'c']), new Intl.RelativeTimeFormat().format(-1, 'day'),
    new Intl.DisplayNames(undefined as any, { type: 'region' }).of('US'), [...new Intl.Segmenter().segment('a b')].length, new Intl.Locale('de').language,
    new Intl.Collator() instanceof Intl.Collator, new Intl.NumberFormat().constructor === Intl.NumberFormat, Intl.NumberFormat.name, Intl.NumberFormat.supportedLocalesOf('de').join(),
    attempt(() => new Intl.NumberFormat('not a locale')), attempt(() => (Intl.ListFormat as any)()), attempt(() => new Intl.DateTimeFormat('en', null as any)),
  ];
}
`;

/** Facts that exist in a realm of a strategy only. */
export const REALM_FACTS = `
function realmFacts(): unknown[] {
  const global = globalThis as any;
  const deep = (n: number): string => (n === 0 ? String(new Error('deep').stack) : deep(n - 1));
  return [
    deep(40), Error.stackTraceLimit, typeof (new Date() as any).toTemporalInstant,
    ['Temporal', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'WebAssembly'].filter((name) => name in global).join(),
    Math.random(), Date.now(), performance.now(),
  ];
}
`;

/**
 * The place in the journal as the fragment of the address: `#seq=372&sel=order:8841`. Reports link
 * a fill by the id of its trade: `#trade=77`.
 */
export interface Place {
  readonly seq: number | null;
  readonly selection: string | null;
  readonly trade: number | null;
  /** A field that names no place, such as `seq=abc`; null without one. */
  readonly fault: string | null;
}

const FORMS = {
  seq: /^\d{1,15}$/,
  trade: /^\d{1,15}$/,
  sel: /^(?:order|account|market):\d{1,15}$/,
} as const;

export function readPlace(fragment: string): Place {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const read = (name: keyof typeof FORMS): string | null => {
    const text = fields.get(name);
    return text !== null && FORMS[name].test(text) ? text : null;
  };
  const [seq, trade] = [read('seq'), read('trade')];
  const wrong = (['seq', 'trade', 'sel'] as const).find(
    (name) => fields.has(name) && read(name) === null,
  );
  return {
    seq: seq === null ? null : Number(seq),
    trade: trade === null ? null : Number(trade),
    selection: read('sel'),
    fault: wrong === undefined ? null : `${wrong}=${(fields.get(wrong) ?? '').slice(0, 40)}`,
  };
}

export function placeText({ seq, selection }: Pick<Place, 'seq' | 'selection'>): string {
  const fields = [
    ...(seq === null ? [] : [`seq=${String(seq)}`]),
    ...(selection === null ? [] : [`sel=${selection}`]),
  ];
  return `#${fields.join('&')}`;
}

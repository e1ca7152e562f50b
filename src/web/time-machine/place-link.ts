/**
 * The place in the journal as the fragment of the address: `#seq=372&sel=order:8841`. Reports link
 * a fill by the id of its trade: `#trade=77`.
 */
export interface Place {
  readonly seq: number | null;
  readonly selection: string | null;
  readonly trade: number | null;
}

const wholeOf = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

export function readPlace(fragment: string): Place {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const selection = fields.get('sel');
  return {
    seq: wholeOf(fields.get('seq')),
    trade: wholeOf(fields.get('trade')),
    selection: selection !== null && /^[\w:.-]{1,80}$/.test(selection) ? selection : null,
  };
}

export function placeText({ seq, selection }: Omit<Place, 'trade'>): string {
  const fields = [
    ...(seq === null ? [] : [`seq=${String(seq)}`]),
    ...(selection === null ? [] : [`sel=${selection}`]),
  ];
  return `#${fields.join('&')}`;
}

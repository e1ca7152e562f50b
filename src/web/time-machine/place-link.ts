/** The place in the journal as the fragment of the address: `#seq=372&sel=order:8841`. */
export interface Place {
  readonly seq: number | null;
  readonly selection: string | null;
}

export function readPlace(fragment: string): Place {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const text = fields.get('seq') ?? '';
  const selection = fields.get('sel');
  return {
    seq: /^\d{1,15}$/.test(text) ? Number(text) : null,
    selection: selection !== null && /^[\w:.-]{1,80}$/.test(selection) ? selection : null,
  };
}

export function placeText({ seq, selection }: Place): string {
  const fields = [
    ...(seq === null ? [] : [`seq=${String(seq)}`]),
    ...(selection === null ? [] : [`sel=${selection}`]),
  ];
  return `#${fields.join('&')}`;
}

/** Rows of a JSON list of flat lists, `[[1,2],[3,4]]`, or of one list a line, a chunk at a time. */
import { TapeError } from '../record.ts';

const MAX_ROW = 64 * 1024;
const ROW = /\[([^[\]{}]*)\]/g;

/** Fields are texts as in the file, without quotes. `decode` turns bytes into text (UTF-8). */
export async function* arrayRows(
  source: AsyncIterable<Uint8Array>,
  decode: (bytes: Uint8Array) => string,
): AsyncGenerator<string[][]> {
  let rest = '';
  // The first row is that of a header, which lists have not.
  let count = 0;
  for await (const chunk of source) {
    // Numbers are ASCII, so that a chunk may end anywhere in a row.
    const text = rest + decode(chunk);
    const rows: string[][] = [];
    let end = 0;
    for (const match of text.matchAll(ROW)) {
      rows.push((match[1] ?? '').split(',').map((field) => field.trim().replace(/^"(.*)"$/, '$1')));
      mustBeSeparator(text.slice(end, match.index), count + rows.length);
      end = match.index + match[0].length;
    }
    rest = text.slice(end);
    count += rows.length;
    if (rest.length > MAX_ROW)
      throw new TapeError(`row ${String(count + 1)}: not a list of numbers`);
    yield rows;
  }
  mustBeSeparator(rest, count + 1);
}

function mustBeSeparator(text: string, row: number): void {
  if (!/^[\s,[\]]*$/.test(text)) {
    throw new TapeError(
      `row ${String(row)}: expected a list, got ${JSON.stringify(text.trim().slice(0, 40))}`,
    );
  }
}

/** Lines that a CSV reader would take for one row end the import with the number of the line. */
import { describe, expect, it } from 'vitest';
import { guessColumnMap } from '../../src/tape/formats/column-map.ts';
import { csvRows, withinHeader } from '../../src/tape/formats/csv-rows.ts';

async function rowsOf(...chunks: string[]): Promise<string[][]> {
  const source = (async function* (): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  })();
  const rows: string[][] = [];
  const parts = csvRows(source, (bytes) => Buffer.from(bytes).toString('utf8'));
  for await (const part of withinHeader(parts)) {
    rows.push(...part);
  }
  return rows;
}

describe('rows of a CSV file', () => {
  it('are those of its lines, with LF or CRLF, however the bytes are cut', async () => {
    const expected = [
      ['1', 'a,b'],
      ['2', 'c'],
    ];
    expect(await rowsOf('1,"a,b"\n2,c')).toEqual(expected);
    expect(await rowsOf('1,"a,b"\r', '\n2,c\r')).toEqual(expected);
  });

  it('refuse lines that end with a carriage return alone', async () => {
    await expect(rowsOf('1,a\r2,b\r3,c\r')).rejects.toThrow(
      'line 1: a carriage return without a line feed; lines end with LF or CRLF',
    );
    await expect(rowsOf('1,a\n2,b\n', '3,c\n4,d\r5,e\n')).rejects.toThrow('line 4: a carriage');
  });

  it('refuse a quote that is not closed, which hides the lines after it', async () => {
    await expect(rowsOf('1,a\n2,"b\n3,c\n4,d"\n5,e\n')).rejects.toThrow(
      'line 2: a quoted field does not end on its line; close its quote',
    );
    await expect(rowsOf('1,a\n', '2,a\n3,"b\n4,c\n')).rejects.toThrow('line 3: a quoted field');
  });

  it('refuse a value beyond the columns of the header, which belongs to another column', async () => {
    await expect(rowsOf('time,price\n1,2\n', '3,4\n5,6,7\n')).rejects.toThrow(
      'line 4: a value in column 3, and the header names 2',
    );
  });

  it('name the delimiter of a header that is one column, and a title above a header', async () => {
    await expect(rowsOf('time;price\n1,5;2,5\n')).rejects.toThrow(
      'line 1: not separated by ","; map the columns with --map and delimiter: ";"',
    );
    await expect(rowsOf('www.example.com\ntime,price\n1,2\n')).rejects.toThrow(
      'line 1: one column, and later lines have more; remove what is above the header',
    );
  });

  it('begin with the header: a comment or an empty line before it is named', async () => {
    await expect(rowsOf('# by a tool\ntime,price\n1,2\n')).rejects.toThrow(
      'line 1: a comment; remove it, so that the header is the first line',
    );
    const empty = 'line 1: empty; remove it, so that the header is the first line';
    await expect(rowsOf('\ntime,price\n1,2\n')).rejects.toThrow(empty);
    await expect(rowsOf(' \r\n', 'time,price\n1,2\n')).rejects.toThrow(empty);
    expect(() => guessColumnMap(['# time', 'price'])).toThrow("remove a comment, or the '#'");
  });

  it('have any length without a header, and empty fields or fewer with one', async () => {
    const rows = [['1', '2'], ['3'], ['4', '5', '6']];
    expect(await rowsOf('1,2\n3\n4,5,6')).toEqual(rows);
    expect(await rowsOf('a,b\n1\n2,3,, \n')).toEqual([['a', 'b'], ['1'], ['2', '3', '', ' ']]);
  });
});

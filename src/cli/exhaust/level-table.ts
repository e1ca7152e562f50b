/** The levels of a search as a terminal table. */
import Table from 'cli-table3';
import type { LevelRow } from '../../fuzz/exhaust/search.ts';

const COLUMNS = [
  'depth',
  'states',
  'edges',
  'refused',
  'unchanged',
  'merged',
  'checked',
  'compared',
];

export function levelTable(rows: readonly LevelRow[]): string {
  const table = new Table({
    head: COLUMNS,
    colAligns: COLUMNS.map(() => 'right' as const),
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) {
    const { depth, states, edges, refused, unchanged, checked, compared } = row;
    const figures = [states, edges, refused, unchanged, mergedOf(row), checked, compared];
    table.push([String(depth), ...figures.map((figure) => figure.toLocaleString('en'))]);
  }
  return table.toString();
}

/** Edges to states that another edge had found. */
export const mergedOf = ({ states, edges, refused, unchanged }: LevelRow): number =>
  edges - refused - unchanged - states;

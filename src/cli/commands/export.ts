/** `orrery export`: writes the tables of a run for notebooks and databases. */
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { fileError } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import type { RunTable } from '../../report/tables/run-tables.ts';
import { readRun } from '../../run-plan/run-folder.ts';
import { print, printJson } from '../cli-support.ts';

const FORMATS = ['parquet', 'arrow', 'csv', 'npz'] as const;

interface ExportArguments {
  readonly run: string;
  readonly format: (typeof FORMATS)[number];
  readonly out: string | undefined;
  readonly json: boolean;
}

export const command: CommandModule<object, ExportArguments> = {
  command: 'export <run>',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', demandOption: true, describe: 'folder of a run' })
      .option('format', {
        choices: FORMATS,
        default: 'parquet' as const,
        describe: 'a file for each table; npz: one file of NumPy arrays, table.column',
      })
      .option('out', { type: 'string', describe: 'output folder; default: tables in the run' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 export reports/my', 'reports/my/tables/equity.parquet and others')
      .example('$0 export reports/my --format npz', 'reports/my/tables/run.npz'),
  handler: async ({ run, format, out = join(run, 'tables'), json }) => {
    const { runTables } = await import('../../report/tables/run-tables.ts');
    const tables = runTables(await readRun(run));
    const contents = await contentsOf(tables, format);
    try {
      await makeFolder(out);
      for (const [name, bytes] of contents) await writeWholeFile(join(out, name), bytes);
    } catch (error) {
      throw fileError(out, error);
    }
    const files = contents.map(([name]) => join(out, name));
    if (json) {
      printJson({ files, rows: Object.fromEntries(tables.map(({ name, rows }) => [name, rows])) });
      return;
    }
    for (const { name, rows } of tables) print(`${name.padEnd(13)} ${String(rows)} rows`);
    print(`written  ${files.length === 1 ? (files[0] ?? '') : `${out} (${format})`}`);
  },
};

type Content = readonly [name: string, bytes: Uint8Array];

async function contentsOf(
  tables: readonly RunTable[],
  format: ExportArguments['format'],
): Promise<readonly Content[]> {
  const each = (bytes: (table: RunTable) => Uint8Array): Content[] =>
    tables.map((table) => [`${table.name}.${format}`, bytes(table)]);
  if (format === 'arrow') {
    const { arrowTable } = await import('../../report/tables/arrow-table.ts');
    return each(arrowTable);
  }
  const { csvTable, npzTables, parquetTable } = await import('../../report/tables/plain-tables.ts');
  if (format === 'npz') return [['run.npz', npzTables(tables)]];
  return each(format === 'csv' ? (table) => Buffer.from(csvTable(table)) : parquetTable);
}

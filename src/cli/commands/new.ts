/** `orrery new`: writes a template file that runs without changes. */
import { writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandModule } from 'yargs';
import { fileError } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { InputError, print } from '../cli-support.ts';
import { SCENARIO_TEMPLATE, STRATEGY_TEMPLATE } from '../templates.ts';

interface NewArguments {
  readonly what: 'strategy' | 'scenario';
  readonly name: string;
  readonly dir: string;
  readonly force: boolean;
}

const DATASET = fileURLToPath(new URL('../../../data/btcusdt-20240808', import.meta.url));

export const command: CommandModule<object, NewArguments> = {
  command: 'new <what> <name>',
  builder: (yargs) =>
    yargs
      .positional('what', {
        choices: ['strategy', 'scenario'] as const,
        demandOption: true,
        describe: 'kind of file',
      })
      .positional('name', {
        type: 'string',
        demandOption: true,
        describe: 'name of the strategy or scenario',
      })
      .option('dir', { type: 'string', default: '.', describe: 'folder to write it to' })
      .option('force', {
        type: 'boolean',
        default: false,
        describe: 'overwrite an existing file',
      })
      .example('$0 new strategy momentum', 'writes momentum.ts; then: orrery backtest momentum.ts')
      .example(
        '$0 new scenario first-fill',
        'writes first-fill.yaml; then: orrery run first-fill.yaml',
      ),
  handler: async ({ what, name, dir, force }) => {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) {
      throw new InputError(
        `name '${name}': may contain letters, digits, dash and underscore, and must start with a letter or digit`,
      );
    }
    const strategy = what === 'strategy';
    const path = join(dir, `${name}.${strategy ? 'ts' : 'yaml'}`);
    const text = (strategy ? STRATEGY_TEMPLATE : SCENARIO_TEMPLATE).replaceAll('{{name}}', name);
    try {
      await makeFolder(dirname(path));
      await writeFile(path, text, { flag: force ? 'w' : 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        throw new InputError(`${path}: exists; --force overwrites it`);
      }
      throw fileError(path, error);
    }
    print(`wrote ${path}`);
    print(
      strategy
        ? `run   npx orrery backtest ${path} --data ${relative(process.cwd(), DATASET) || DATASET}`
        : `run   npx orrery run ${path}`,
    );
  },
};

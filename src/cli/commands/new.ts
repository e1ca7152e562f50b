/** `orrery new`: writes template files that run without changes. */
import { access, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandModule } from 'yargs';
import { fileError } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { InputError, print } from '../cli-support.ts';
import { shellWord } from '../../platform/shell-word.ts';

/** Templates of strategies, and whether each runs on the recorded sample or needs bars. */
const STRATEGIES = {
  trend: 'book',
  sma: 'bars',
  maker: 'book',
  carry: 'bars',
  pairs: 'bars',
} as const;
type Template = keyof typeof STRATEGIES;
const TEMPLATES = Object.keys(STRATEGIES) as Template[];

interface NewArguments {
  readonly what: 'strategy' | 'scenario';
  readonly name: string;
  readonly dir: string;
  readonly force: boolean;
  readonly template: Template | undefined;
  readonly data: string | undefined;
  readonly test: boolean;
}

const inPackage = (path: string): string =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const RECORDED = inPackage('data/btcusdt-20240808');
/** Where the first hour's documents put the synthetic data. */
const SAMPLE = 'sample';
/** A name may have the suffix of the file that is written. */
const SUFFIX = { strategy: /\.ts$/, scenario: /\.ya?ml$/ } as const;

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
      .option('template', {
        choices: TEMPLATES,
        describe: 'kind of strategy; default: trend',
      })
      .option('data', {
        type: 'string',
        describe: 'dataset of its test and of the command that is printed',
      })
      .option('test', {
        type: 'boolean',
        default: true,
        describe: 'write a test beside the strategy',
      })
      .option('dir', { type: 'string', default: '.', describe: 'folder to write it to' })
      .option('force', {
        type: 'boolean',
        default: false,
        describe: 'overwrite existing files',
      })
      .example('$0 new strategy momentum', 'writes momentum.ts; then: orrery backtest momentum.ts')
      .example('$0 new strategy spread --template pairs --data sample', 'trades two markets')
      .example(
        '$0 new scenario first-fill',
        'writes first-fill.yaml; then: orrery run first-fill.yaml',
      ),
  handler: async (args) => {
    const { what } = args;
    const name = args.name.replace(SUFFIX[what], '');
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) {
      const folder = /[\\/]/.test(name) ? '; --dir names the folder' : '';
      throw new InputError(
        `name '${args.name}': may contain letters, digits, dash and underscore, and must start with a letter or digit${folder}`,
      );
    }
    if (what === 'strategy') await newStrategy({ ...args, name });
    else await newScenario({ ...args, name });
  },
};

async function newScenario({ name, dir, force, template, data }: NewArguments): Promise<void> {
  if (template !== undefined) throw new InputError('--template applies to strategies');
  if (data !== undefined) throw new InputError('--data applies to strategies');
  const path = join(dir, `${name}.yaml`);
  await writeAll(force, [[path, await templateText('scenario.yaml', { name })]]);
  print(`run   npx orrery run ${shellWord(path)}`);
}

async function newStrategy(args: NewArguments): Promise<void> {
  const { name, dir, force, template = 'trend' } = args;
  const data = resolve(args.data ?? (STRATEGIES[template] === 'bars' ? SAMPLE : RECORDED));
  const path = join(dir, `${name}.ts`);
  const test = join(dir, `${name}.test.mjs`);
  const files: [string, string][] = [[path, await templateText(`${template}.ts`, { name })]];
  if (args.test) {
    const fromTest = relative(resolve(dir), data).replaceAll('\\', '/');
    files.push([test, await templateText('strategy.test.mjs', { name, data: fromTest })]);
  }
  await writeAll(force, files);
  const shown = relative(process.cwd(), data) || '.';
  if (!(await isThere(data))) print(`data  npx orrery data sample --out ${shellWord(shown)}`);
  print(`run   npx orrery backtest ${shellWord(path)} --data ${shellWord(shown)}`);
  if (args.test) print(`test  node --test ${shellWord(test)}`);
}

async function templateText(file: string, values: Record<string, string>): Promise<string> {
  const text = await readFile(inPackage(`examples/templates/${file}`), 'utf8');
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? '');
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Writes all files, or none if one exists. */
async function writeAll(
  force: boolean,
  files: readonly (readonly [path: string, text: string])[],
): Promise<void> {
  for (const [path] of files) {
    if (!force && (await isThere(path))) {
      throw new InputError(`${path}: exists; --force overwrites it`);
    }
  }
  for (const [path, text] of files) {
    try {
      await makeFolder(dirname(path));
      await writeFile(path, text, { flag: force ? 'w' : 'wx' });
    } catch (error) {
      throw fileError(path, error);
    }
    print(`wrote ${path}`);
  }
}

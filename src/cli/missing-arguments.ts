/**
 * Names the positional arguments that a command line lacks, which yargs only counts. Writes options
 * that need or exclude each other as they are given.
 */
import type { Argv } from 'yargs';
import { InputError } from './cli-support.ts';

/** Most values of an argument that a message lists. */
const LISTED = 10;

/** Parts of yargs that its types do not have. */
interface YargsInside {
  getInternalMethods(): {
    getUsageInstance(): {
      example: (command: string, description?: string) => void;
      readonly getCommands: () => readonly (readonly [string, ...unknown[]])[];
      readonly getDescriptions: () => Readonly<Record<string, string>>;
    };
    getContext(): {
      readonly fullCommands: readonly string[];
      readonly commands: readonly string[];
    };
  };
  getOptions(): { readonly choices: Readonly<Record<string, readonly string[]>> };
}

/** Records the examples of commands: yargs has no method that returns them. */
export function recordExamples(parser: Argv): readonly string[] {
  const usage = inside(parser).getUsageInstance();
  const add = usage.example;
  const examples: string[] = [];
  usage.example = (command, description) => {
    examples.push(command.replace('$0', 'orrery'));
    add(command, description);
  };
  return examples;
}

/** null if `message` of yargs is not about the number of arguments. */
export function missingArguments(
  parser: Argv,
  message: string | null,
  { examples, tokens }: Record<'examples' | 'tokens', readonly string[]>,
): InputError | null {
  const counts = /^Not enough non-option arguments: got (\d+), need at least (\d+)$/.exec(
    message ?? '',
  );
  const { fullCommands, commands } = inside(parser).getContext();
  const names = [...(fullCommands.at(-1) ?? '').matchAll(/<([\w-]+)(?:\.\.)?>/g)].map(
    ([, name = '']) => name,
  );
  if (counts === null || names.length === 0) return null;
  // `data import my.csv` has its file, and lacks the format before it.
  const [first = ''] = names;
  const values = (parser as unknown as YargsInside).getOptions().choices[first];
  const given = Number(counts[1]);
  const isWrong = given > 0 && values?.some((value) => tokens.includes(value)) === false;
  const missing = isWrong ? [first] : names.slice(given);
  if (missing.length === 0) return null;
  const described = missing.map((name) => {
    const what = meaning(parser, name);
    return what === '' ? `<${name}>` : `<${name}>: ${what}`;
  });
  const line = ['orrery', ...commands].join(' ');
  const example = examples.find((one) => one.startsWith(`${line} `));
  const hint = example === undefined ? `see ${line} --help` : `for example: ${example}`;
  return new InputError(`missing ${described.join('; ')}`, { hint });
}

/** Description and values of an argument; the actions of a command that has some. */
function meaning(parser: Argv, name: string): string {
  const usage = inside(parser).getUsageInstance();
  const { choices } = (parser as unknown as YargsInside).getOptions();
  const values = choices[name] ?? usage.getCommands().map(([command]) => command.split(' ')[0]);
  // yargs marks texts for translation.
  const description = (usage.getDescriptions()[name] ?? '').replace('__yargsString__:', '');
  if (description === '') return values.join(', ');
  return values.length === 0 || values.length > LISTED
    ? description
    : `${description} (${values.join(', ')})`;
}

function inside(parser: Argv): ReturnType<YargsInside['getInternalMethods']> {
  return (parser as unknown as YargsInside).getInternalMethods();
}

/** null if `message` of yargs is not about options that need or exclude each other. */
export function dependentOptions(message: string | null): string | null {
  const needs = [...(message ?? '').matchAll(/^ (\S+) -> (\S+)$/gm)];
  if (needs.length > 0) {
    return needs.map(([, name = '', other = '']) => `--${name} needs --${other}`).join('; ');
  }
  const [, one, other] =
    /^Arguments (\S+) and (\S+) are mutually exclusive$/.exec(message ?? '') ?? [];
  return one === undefined || other === undefined
    ? null
    : `--${one} and --${other} exclude each other`;
}

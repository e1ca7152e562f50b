/**
 * Messages of yargs about unknown arguments, missing options and values out of a list, in the form
 * of the other errors: one line with the name as it was written, the limit and a suggestion.
 */
import type { Argv } from 'yargs';
import { suggest } from '../scenario/suggest.ts';

/** Parts of yargs that its types do not have. */
interface YargsInside {
  getOptions(): { readonly key: Readonly<Record<string, boolean | undefined>> };
  getInternalMethods(): {
    getUsageInstance(): { readonly getDescriptions: () => Readonly<Record<string, string>> };
    getContext(): { readonly commands: readonly string[] };
    getCommandInstance(): { readonly getCommands: () => readonly string[] };
  };
}

/** null if `message` of yargs is about something else. */
export function wrongArguments(
  parser: Argv,
  message: string | null,
  argv: readonly string[],
): string | null {
  const text = message ?? '';
  const [, unknown] = /^Unknown arguments?: (.*)$/s.exec(text) ?? [];
  if (unknown !== undefined) {
    return unknown
      .split(', ')
      .map((word) => unknownWord(parser, word, argv))
      .join('; ');
  }
  const inside = (parser as unknown as YargsInside).getInternalMethods();
  const [, command] = /^Did you mean (.*)\?$/.exec(text) ?? [];
  if (command !== undefined) {
    const given = argv.filter((token) => !token.startsWith('-'))[
      inside.getContext().commands.length
    ];
    return `unknown command ${JSON.stringify(given ?? '')}; did you mean "${command}"?`;
  }
  const [, missing] = /^Missing required arguments?: (.*)$/.exec(text) ?? [];
  if (missing !== undefined) {
    const descriptions = inside.getUsageInstance().getDescriptions();
    return missing
      .split(', ')
      .map((name) => `--${name} is required: ${(descriptions[name] ?? '').replace(MARK, '')}`)
      .join('; ');
  }
  const wrong = [...text.matchAll(/^ {2}Argument: (\S+), Given: (.*), Choices: (.*)$/gm)];
  if (wrong.length === 0) return null;
  return wrong
    .map(([, name = '', given = '', choices = '']) => {
      const written = isOption(name, argv) ? `--${name}` : `<${name}>`;
      return `${written} must be one of ${choices.replaceAll('"', '')}, got ${given}`;
    })
    .join('; ');
}

/** yargs marks texts for translation. */
const MARK = '__yargsString__:';

function unknownWord(parser: Argv, word: string, argv: readonly string[]): string {
  const inside = parser as unknown as YargsInside;
  const methods = inside.getInternalMethods();
  if (isOption(word, argv)) {
    const known = Object.keys(inside.getOptions().key).filter((name) => name.length > 1);
    return `unknown option --${word}${suggest(word, known).replace('"', '"--')}`;
  }
  if (argv.includes(`-${word}`)) return `unknown option -${word}`;
  const commands = methods.getCommandInstance().getCommands();
  return commands.length > 0
    ? `unknown command ${JSON.stringify(word)}`
    : `unexpected argument ${JSON.stringify(word)}`;
}

function isOption(name: string, argv: readonly string[]): boolean {
  return argv.some((token) => /^--(?:no-)?([^=]+)/.exec(token)?.[1] === name);
}

/** The command whose help lists what the line may contain: `orrery data import --help`. */
export function helpOf(parser: Argv): string {
  const { commands } = (parser as unknown as YargsInside).getInternalMethods().getContext();
  return ['see orrery', ...commands, '--help'].join(' ');
}

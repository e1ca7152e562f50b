/**
 * Messages of yargs about unknown arguments, missing options and values out of a list, in the form
 * of the other errors: one line with the name as it was written, the limit and a suggestion.
 */
import type { Argv } from 'yargs';
import { suggest } from '../base/suggest.ts';

/** Parts of yargs that its types do not have. */
interface YargsInside {
  getOptions(): {
    readonly key: Readonly<Record<string, boolean | undefined>>;
    readonly boolean: readonly string[];
  };
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
  const inside = (parser as unknown as YargsInside).getInternalMethods();
  const [, unknown] = /^Unknown arguments?: (.*)$/s.exec(text) ?? [];
  if (unknown !== undefined) {
    const words = unknown.split(', ').map((word) => `unexpected argument ${JSON.stringify(word)}`);
    return words.join('; ');
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
      return `${writtenAs(name, argv)} must be one of ${choices.replaceAll('"', '')}, got ${given}`;
    })
    .join('; ');
}

/** yargs marks texts for translation. */
const MARK = '__yargsString__:';

/**
 * An unknown command or options that the command does not have; null without any. yargs tests them
 * after missing arguments, and takes `-data` as four letters.
 */
export function unknownWords(parser: Argv, argv: readonly string[]): string | null {
  const inside = parser as unknown as YargsInside;
  const methods = inside.getInternalMethods();
  const commands = methods.getCommandInstance().getCommands();
  const command = argv[methods.getContext().commands.length] ?? '-';
  if (commands.length > 0 && !command.startsWith('-') && !commands.includes(command)) {
    // `help` and `version` are options here, and commands of other programs.
    const near = suggest(command, [...commands, '--help', '--version']);
    return `unknown command ${JSON.stringify(command)}${near}`;
  }
  const { key, boolean: flags } = inside.getOptions();
  const options = Object.keys(key);
  const wrong: string[] = [];
  for (const token of argv) {
    if (token === '--') break;
    const [, dashes = '', no = '', name = ''] = /^(--?)(no-)?([a-z][^=]*)/i.exec(token) ?? [];
    const isKnown = [name, dashed(name), `${no}${name}`].some((one) => options.includes(one));
    if (name === '' || (isKnown && (dashes === '--' || name.length === 1))) continue;
    // Only a flag has a form with `no-`.
    const candidates = no === '' ? options.filter((one) => one.length > 1) : flags;
    const near = name.length === 1 ? '' : suggest(name, candidates);
    wrong.push(`unknown option ${dashes}${no}${name}${near.replace('"', `"--${no}`)}`);
  }
  return wrong.length === 0 ? null : wrong.join('; ');
}

/** The option as the line has it, or the argument. */
function writtenAs(name: string, argv: readonly string[]): string {
  for (const token of argv) {
    const [, option = ''] = /^--(?:no-)?([^=]+)/.exec(token) ?? [];
    if (option === name || dashed(option) === name) return `--${option}`;
  }
  return `<${name}>`;
}

/** yargs takes `--warmUp` for `--warm-up`. */
function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The command whose help lists what the line may contain: `orrery data import --help`. */
export function helpOf(parser: Argv, argv: readonly string[]): string {
  const { commands } = (parser as unknown as YargsInside).getInternalMethods().getContext();
  if (commands.length > 0 && argv[0]?.startsWith('-') === true) {
    return `options follow the command: orrery ${commands.join(' ')} [options]`;
  }
  return ['see orrery', ...commands, '--help'].join(' ');
}

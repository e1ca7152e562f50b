/**
 * docs/CLI.md is generated from the definitions of the commands, so it names every option.
 * `npx vitest run test/docs -u` writes it.
 */
import { expect, test } from 'vitest';
import type { CommandModule, Options, PositionalOptions } from 'yargs';
import { COMMANDS } from '../../src/cli/main.ts';
import { formatPage } from './format-page.ts';

type Documented = Pick<
  Options,
  'alias' | 'choices' | 'default' | 'defaultDescription' | 'demandOption' | 'describe' | 'type'
>;

interface Definition {
  readonly usage: string;
  readonly describe: string;
  readonly positionals: [string, PositionalOptions][];
  readonly options: [string, Documented][];
  readonly examples: [string, string][];
}

/** Every command line that `module` defines: itself, or its sub-commands. */
function definitionsOf(usage: string, describe: string, module: CommandModule): Definition[] {
  const definition: Definition = { usage, describe, positionals: [], options: [], examples: [] };
  const nested: Definition[] = [];
  const recorder: object = new Proxy(
    {},
    {
      get: (_target, method: string) => {
        return (...given: readonly unknown[]): object => {
          if (method === 'positional') {
            definition.positionals.push(given as [string, PositionalOptions]);
          } else if (method === 'option' && typeof given[0] === 'string') {
            definition.options.push(given as [string, Documented]);
          } else if (method === 'option' || method === 'options') {
            definition.options.push(...Object.entries(given[0] as Record<string, Documented>));
          } else if (method === 'example') {
            definition.examples.push(given as [string, string]);
          } else if (method === 'command') {
            const sub = given[0] as CommandModule;
            const name = `${usage.split(' ')[0] ?? ''} ${String(sub.command)}`;
            nested.push(...definitionsOf(name, sub.describe || '', sub));
          }
          return recorder;
        };
      },
    },
  );
  const { builder } = module;
  if (typeof builder === 'function') void builder(recorder as never);
  else definition.options.push(...Object.entries(builder ?? {}));
  return nested.length > 0 ? nested : [definition];
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function valuesOf({ type, choices, array }: Options): string {
  if (choices !== undefined) return choices.map((choice) => `\`${String(choice)}\``).join(', ');
  return `${type ?? 'string'}${array === true ? ', repeatable' : ''}`;
}

function defaultOf({ default: value, defaultDescription, demandOption }: Options): string {
  if (demandOption === true) return 'required';
  const text = defaultDescription ?? (value as string | number | boolean | undefined) ?? '';
  return text === '' ? '' : `\`${String(text)}\``;
}

function section({ usage, describe, positionals, options, examples }: Definition): string {
  const rows = [
    ...positionals.map(([name, spec]) => [`\`<${name}>\``, spec] as const),
    ...options.map(([name, spec]) => [`\`--${name}\``, spec] as const),
  ].map(
    ([name, spec]) =>
      `| ${name} | ${cell(spec.describe ?? '')} | ${cell(valuesOf(spec))} | ${cell(defaultOf(spec))} |`,
  );
  const lines = examples.map(([command, about]) => {
    return `${command.replace('$0', 'npx orrery')}${about === '' ? '' : `   # ${about}`}`;
  });
  return [
    `## orrery ${usage}`,
    `${describe}.`,
    ['| argument | meaning | values | default |', '| --- | --- | --- | --- |', ...rows].join('\n'),
    ...(lines.length === 0 ? [] : [['```text', ...lines, '```'].join('\n')]),
  ].join('\n\n');
}

async function allDefinitions(): Promise<Definition[]> {
  const modules = await Promise.all(
    COMMANDS.map(async ({ usage, describe, load }) => {
      const { command } = await load();
      return definitionsOf(usage, describe, command as CommandModule);
    }),
  );
  return modules.flat();
}

test('docs/CLI.md lists every command and every option', async () => {
  const definitions = await allDefinitions();
  expect(definitions.length).toBeGreaterThanOrEqual(COMMANDS.length);
  const page = `# Command line

\`npx orrery <command>\` runs a command, in a clone after \`npm run setup\` and in a project that has the
package. This page is generated from the definitions of the commands. Every command also has \`--help\`.

Exit codes: 0 is success, 1 a failed expectation or verification, 2 bad input, 130 an interrupt. A value that
begins with a minus needs an equals sign: \`--fees=-0.0001,0.0004\`. \`ORRERY_DEBUG=1\` adds the stack to error
messages. Examples with file names of their own show the form of a command.

${definitions.map(section).join('\n\n')}
`;
  const formatted = await formatPage(page);
  await expect(formatted).toMatchFileSnapshot('../../docs/CLI.md');
});

test.each([
  ['positional and option', 'a <b>', ['b'], ['c']],
  ['options of a map', 'a', [], ['d', 'e']],
])('records %s', (_title, usage, positionals, options) => {
  const module = {
    builder: (yargs: { positional: never; option: never; options: never }) => {
      const record = yargs as unknown as Record<string, (...given: unknown[]) => unknown>;
      for (const name of positionals) record['positional']?.(name, { describe: name });
      for (const name of options) record['options']?.({ [name]: { describe: name } });
    },
    handler: () => undefined,
  } as unknown as CommandModule;
  const [definition] = definitionsOf(usage, '', module);
  expect(definition?.positionals.map(([name]) => name)).toEqual(positionals);
  expect(definition?.options.map(([name]) => name)).toEqual(options);
});

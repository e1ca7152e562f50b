/**
 * Globals of the language as local names of a script. The platform looks up every global of a
 * `node:vm` context in its own code, which takes about 100 ns. A local name takes none.
 */

/** Those that a program reads often, and that a realm does not replace. */
const FREQUENT = [
  ...['Array', 'BigInt', 'Boolean', 'Infinity', 'JSON', 'Map', 'Math', 'NaN', 'Number', 'Object'],
  ...['Reflect', 'Set', 'String', 'Symbol', 'isFinite', 'isNaN', 'parseFloat', 'parseInt'],
] as const;

/** A script around a function, in two parts: the function's code belongs between them. */
export interface ScriptParts {
  readonly head: string;
  readonly tail: string;
}

/**
 * A script whose value is a function of these parameters. Frequent globals that its code reads are
 * local names. A name that the code assigns, or has as text, stays global: the code may replace it.
 */
export function aroundCode(code: string, parameters: string): ScriptParts {
  return around(parameters, (name) => reads(name, code) && !replaces(name, code));
}

/** The same for code of this program, which replaces none of them. */
export function aroundOwnCode(code: string, parameters: string): ScriptParts {
  return around(parameters, (name) => reads(name, code));
}

function around(parameters: string, isLocal: (name: string) => boolean): ScriptParts {
  const names = FREQUENT.filter(isLocal).join(', ');
  return {
    head: `(function ({ ${names} }) { return function (${parameters}) {'use strict';`,
    tail: '\n}})(globalThis)',
  };
}

const wordOf = (name: string): string => `(?<![\\w$])${name}(?![\\w$])`;

function reads(name: string, code: string): boolean {
  return new RegExp(wordOf(name)).test(code);
}

function replaces(name: string, code: string): boolean {
  const assigned = `${wordOf(name)}\\s*(?:=(?!=)|[-+*/%&|?^<>]{1,3}=|\\+\\+|--)`;
  return new RegExp(`${assigned}|['"\`]${name}['"\`]`).test(code);
}

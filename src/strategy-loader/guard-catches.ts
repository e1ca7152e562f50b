/**
 * Passes each error that a script catches through a filter, `catch (e) { e = filter(e); …`, and
 * refuses `import()`: the platform gives both objects of the host's realm. Removes the folders of
 * packages, which the bundler keeps as names of functions of CommonJS modules: the code must not
 * depend on the folder of the strategy.
 */
import { parse } from 'acorn';

export interface Guarded {
  readonly code: string;
  /** The script without folders of packages, before the filter is inserted. */
  readonly plain: string;
  /** Name of the filter: a parameter of the function around the script. */
  readonly filter: string;
  /**
   * Inserted characters, as [line from 1, column from 0, length] of the original code. A negative
   * length is that of characters removed before the column.
   */
  readonly inserted: readonly (readonly [number, number, number])[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}
type Fields = Readonly<Record<string, unknown>>;

const STRICT = "'use strict';";

/** Throws `SyntaxError` if the script is not strict code, or imports while it runs. */
export function guardCatches(code: string): Guarded {
  const program = parse(STRICT + code, { ecmaVersion: 'latest', allowReturnOutsideFunction: true });
  const names = new Set<string>();
  const clauses: { readonly param: Node; readonly body: Node }[] = [];
  const folders: Edit[] = [];
  const open: unknown[] = [program];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const { type, name, param, body } = value as Fields;
    if (type === 'ImportExpression') {
      throw new SyntaxError('import() of a computed name: a strategy cannot import while it runs');
    }
    if (type === 'Identifier') names.add(String(name));
    if (type === 'Property') folders.push(...folderOf((value as Fields)['key'] as Node, code));
    if (type === 'CatchClause' && param != null) {
      clauses.push({ param: param as Node, body: body as Node });
    }
    for (const field of Object.values(value)) open.push(field ?? null);
  }
  let filter = '$filter';
  while (names.has(filter) || names.has(`${filter}Of`)) filter += '$';
  const edits = clauses.flatMap(({ param, body }) => editsOf(param, body, filter));
  const { code: plain } = applied(code, folders);
  return { filter, plain, ...applied(code, [...edits, ...folders]) };
}

interface Edit {
  readonly at: number;
  readonly text: string;
  /** Number of characters removed at `at`. */
  readonly removed?: number;
}

/** Removes `../../home/` of the name `'../../home/node_modules/some/index.js'` of a module. */
function folderOf({ type, start, end }: Node, code: string): Edit[] {
  if (type !== 'Literal') return [];
  const at = start - STRICT.length + 1;
  const path = code.slice(at, end - STRICT.length - 1);
  const removed = path.lastIndexOf('node_modules/');
  return removed > 0 && code.charAt(end - STRICT.length) === '(' ? [{ at, text: '', removed }] : [];
}

function editsOf(param: Node, body: Node, filter: string): Edit[] {
  const caught = `${filter}Of`;
  const start = param.start - STRICT.length;
  const end = param.end - STRICT.length;
  const inside = body.start + 1 - STRICT.length;
  if (param.type === 'Identifier') {
    const { name } = param as unknown as { readonly name: string };
    return [{ at: inside, text: `${name}=${filter}(${name});` }];
  }
  // `catch ({ message }) {` becomes `catch (caught) { let { message } = filter(caught);`: the text
  // between the pattern and the body becomes a comment's, so that it is inserted only.
  return [
    { at: start, text: `${caught}){let ` },
    { at: end, text: `=${filter}(${caught});/*` },
    { at: inside, text: '*/' },
  ];
}

function applied(code: string, edits: Edit[]): Pick<Guarded, 'code' | 'inserted'> {
  edits.sort((a, b) => a.at - b.at);
  const inserted: [number, number, number][] = [];
  let text = '';
  let from = 0;
  let line = 1;
  let lineStart = 0;
  for (const { at, text: added, removed = 0 } of edits) {
    for (let next = code.indexOf('\n', lineStart); next >= 0 && next < at;) {
      line += 1;
      lineStart = next + 1;
      next = code.indexOf('\n', lineStart);
    }
    inserted.push([line, at - lineStart + removed, added.length - removed]);
    text += code.slice(from, at) + added;
    from = at + removed;
  }
  return { code: text + code.slice(from), inserted };
}

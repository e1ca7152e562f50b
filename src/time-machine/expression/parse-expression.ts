/** The text of an expression as nodes of acorn, within bounds of length and depth. */
import { parseExpressionAt, type Expression as Node } from 'acorn';
import { ExpressionError } from './expression-error.ts';
import { isSameType, neverEquals, typeText, type ValueType } from './value-types.ts';

export const MAX_LENGTH = 2000;
export const MAX_DEPTH = 60;

/** Throws `ExpressionError` with the position of the fault. */
export function parseExpression(text: string): Node {
  if (text.length > MAX_LENGTH) {
    throw new ExpressionError(
      MAX_LENGTH,
      `an expression has at most ${String(MAX_LENGTH)} characters`,
    );
  }
  refuseDeepNesting(text);
  let node: Node;
  try {
    node = parseExpressionAt(text, 0, { ecmaVersion: 2023 });
  } catch (error) {
    if (error instanceof SyntaxError) throw syntaxError(error);
    if (error instanceof RangeError) throw new ExpressionError(0, 'is nested too deeply');
    throw error;
  }
  const rest = text.slice(node.end).search(/\S/);
  if (rest >= 0) throw new ExpressionError(node.end + rest, 'the expression has ended here');
  return node;
}

/** Brackets and operators before a node; acorn recurses for each. */
function refuseDeepNesting(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    if (depth > MAX_DEPTH) throw new ExpressionError(i, 'is nested too deeply');
  }
}

function syntaxError(error: SyntaxError): ExpressionError {
  const { pos } = error as { readonly pos?: unknown };
  // Acorn's message ends with its own position.
  const message = error.message.replace(/ \(\d+:\d+\)$/, '');
  return new ExpressionError(typeof pos === 'number' ? pos : 0, message);
}

export function nameOfNode(type: string): string {
  return type
    .replace(/Expression$|Literal$/, '')
    .replace(/[A-Z]/g, (c, i) => (i === 0 ? c : ` ${c}`))
    .toLowerCase();
}

export function mustBe(type: ValueType, kind: 'number' | 'boolean', position: number): void {
  if (type.kind === kind || (type.kind === 'null' && kind === 'number')) return;
  throw new ExpressionError(position, `must be a ${kind}, is ${typeText(type)}`);
}

/** `both`: the two in the words of the error. */
export function mustBeAlike(a: ValueType, b: ValueType, both: string, position: number): void {
  if (!isSameType(a, b)) throw new ExpressionError(position, `${both} must have the same type`);
}

/** Each name has a new list or record, so that no two are equal; a record may be null. */
export function mustBeComparable(a: ValueType, b: ValueType, position: number): void {
  const { kind } = a.kind === 'null' ? b : a;
  const isAlike = a.kind === 'null' || b.kind === 'null' || a.kind === b.kind;
  if (isAlike && kind !== 'list' && (kind !== 'record' || a.kind !== b.kind)) return;
  const hint = a.kind === 'record' && isSameType(a, b) ? '; compare a field of both' : '';
  throw new ExpressionError(position, `${typeText(a)} never equals ${typeText(b)}${hint}`);
}

/** A misspelled kind would leave a breakpoint that is never hit. */
export function mustBeReachable(type: ValueType, word: string | undefined, position: number): void {
  const never = word === undefined ? null : neverEquals(type, word);
  if (never !== null) throw new ExpressionError(position, never);
}

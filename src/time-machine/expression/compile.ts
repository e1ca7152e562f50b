/**
 * Expressions of breakpoints: a subset of TypeScript, parsed by acorn and interpreted. No text is
 * ever evaluated as a program: a node is in the table below or the expression is refused, fields
 * are those of `value-types.ts`, and every name is bound here.
 *
 * Numbers are exact fractions. An unknown value (an account that does not exist yet, a market
 * without a mark, a division by 0) is null; arithmetic with null is null, and a comparison with
 * `<`, `<=`, `>` or `>=` is false then. Types are checked before the first command runs.
 *
 * Bounds: `MAX_LENGTH` characters, `MAX_DEPTH` nested nodes, `MAX_STEPS` nodes of one evaluation,
 * each counted by the length of its number.
 */
import type { Expression as Node } from 'acorn';
import { unreachable } from '../../base/assert.ts';
import { ExpressionError } from './expression-error.ts';
import {
  MAX_DEPTH,
  mustBe,
  mustBeAlike,
  mustBeComparable,
  mustBeReachable,
  nameOfNode,
  parseExpression,
} from './parse-expression.ts';
import { add, compare, rational, type Rational } from './rational.ts';
import {
  areEqual,
  arithmetic,
  ARITHMETIC,
  COMPARISONS,
  EQUALITIES,
  fold,
  holds,
  isIn,
  isNumber,
  isRecord,
  type Scope,
  type Value,
} from './values.ts';
import { literalNumber } from './literal.ts';
import { counted, take, type Run } from './steps.ts';
import {
  BOOLEAN,
  FIELDS,
  LOOKUPS,
  NAMES,
  NULL,
  NUMBER,
  TEXT,
  typeText,
  type ValueType,
} from './value-types.ts';

type Evaluate = (run: Run) => Value;

interface Compiled {
  readonly type: ValueType;
  readonly evaluate: Evaluate;
  /** A text that is written in the expression. */
  readonly word?: string;
}

/** A predicate that was checked. */
export interface Predicate {
  readonly text: string;
  /** True if the events of a command must be collected. */
  readonly usesEvents: boolean;
  /** Throws `ExpressionError` if the evaluation takes too many steps. */
  readonly test: (scope: Scope) => boolean;
}

export interface CompileOptions {
  /** Further names, such as the selected account: constants. */
  readonly names?: Readonly<Record<string, number | string>>;
}

/** Throws `ExpressionError` with the position of the fault. */
export function compilePredicate(text: string, options: CompileOptions = {}): Predicate {
  const compiler = new Compiler(text, options.names ?? {});
  const { type, evaluate } = compiler.compile();
  if (type.kind !== 'boolean') {
    throw new ExpressionError(0, `a breakpoint must be true or false, this is ${typeText(type)}`);
  }
  return {
    text,
    usesEvents: compiler.usesEvents,
    test: (scope) => evaluate({ scope, locals: [], steps: 0 }) === true,
  };
}

class Compiler {
  usesEvents = false;
  private readonly text: string;
  private readonly names: ReadonlyMap<string, number | string>;
  /** Parameters of the arrow functions around the node, outermost first. */
  private readonly locals: { readonly name: string; readonly type: ValueType }[] = [];
  private depth = 0;

  constructor(text: string, names: Readonly<Record<string, number | string>>) {
    this.text = text;
    this.names = new Map(Object.entries(names));
  }

  compile(): Compiled {
    return this.node(parseExpression(this.text));
  }

  /** Counts the steps of each node. */
  private node(node: Node): Compiled {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new ExpressionError(node.start, 'is nested too deeply');
    const { evaluate, ...compiled } = this.kind(node);
    this.depth -= 1;
    return {
      ...compiled,
      evaluate: (run) => {
        take(run, 1, node.start);
        return evaluate(run);
      },
    };
  }

  private kind(node: Node): Compiled {
    switch (node.type) {
      case 'Literal':
        return literal(node);
      case 'Identifier':
        return this.identifier(node);
      case 'MemberExpression':
        return this.member(node);
      case 'CallExpression':
        return this.call(node);
      case 'UnaryExpression':
        return this.unary(node);
      case 'BinaryExpression':
        return this.binary(node);
      case 'LogicalExpression':
        return this.logical(node);
      case 'ConditionalExpression':
        return this.conditional(node);
      default:
        throw new ExpressionError(
          node.start,
          `${nameOfNode(node.type)} is not part of expressions`,
        );
    }
  }

  private identifier({ name, start }: Extract<Node, { type: 'Identifier' }>): Compiled {
    const at = this.locals.findLastIndex((local) => local.name === name);
    const local = this.locals[at];
    if (local !== undefined) return { type: local.type, evaluate: (run) => run.locals[at] ?? null };
    const given = this.names.get(name);
    if (typeof given === 'string') return constant(given);
    if (given !== undefined) {
      if (!Number.isSafeInteger(given))
        throw new ExpressionError(start, `${name} is not a whole number`);
      const value = rational(BigInt(given));
      return { type: NUMBER, evaluate: () => value };
    }
    if (name === 'undefined') return { type: NULL, evaluate: () => null };
    const type = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    if (type === undefined) {
      // Accounts are called u1, u2 … in views.
      if (/^u\d{1,9}$/.test(name)) return constant(name);
      const known = Object.keys(NAMES).join(', ');
      throw new ExpressionError(start, `unknown name '${name}'; there are ${known}, u1, u2 …`);
    }
    if (name === 'events') this.usesEvents = true;
    return { type, evaluate: (run) => run.scope.name(name) };
  }

  private member(node: Extract<Node, { type: 'MemberExpression' }>): Compiled {
    const { object, property } = node;
    if (node.computed || node.optional || object.type === 'Super') {
      throw new ExpressionError(node.start, 'a field is written with a dot');
    }
    if (property.type !== 'Identifier')
      throw new ExpressionError(property.start, 'a field has a name');
    const of = this.node(object);
    const field = property.name;
    if (of.type.kind === 'list' && field === 'length') {
      return {
        type: NUMBER,
        evaluate: (run) => {
          const items = of.evaluate(run);
          return Array.isArray(items) ? rational(BigInt(items.length)) : null;
        },
      };
    }
    if (of.type.kind !== 'record') {
      throw new ExpressionError(property.start, `${typeText(of.type)} has no field '${field}'`);
    }
    const fields = FIELDS[of.type.of];
    const type = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (type === undefined) {
      throw new ExpressionError(
        property.start,
        `${typeText(of.type)} has no field '${field}'; it has ${Object.keys(fields).join(', ')}`,
      );
    }
    return {
      type,
      evaluate: (run) => {
        const value = of.evaluate(run);
        return isRecord(value) ? value.get(field) : null;
      },
    };
  }

  private call(node: Extract<Node, { type: 'CallExpression' }>): Compiled {
    const { callee } = node;
    if (node.optional || callee.type === 'Super') {
      throw new ExpressionError(node.start, 'only functions of expressions can be called');
    }
    if (callee.type === 'MemberExpression') return this.listCall(node, callee);
    if (callee.type !== 'Identifier') {
      throw new ExpressionError(callee.start, 'only functions of expressions can be called');
    }
    const { name } = callee;
    if (Object.hasOwn(LOOKUPS, name)) return this.lookup(node, name);
    if (name === 'abs' || name === 'min' || name === 'max' || name === 'sum') {
      return this.numeric(node, name);
    }
    const known = [...Object.keys(LOOKUPS), 'abs', 'min', 'max', 'sum'].join(', ');
    throw new ExpressionError(callee.start, `unknown function '${name}'; there are ${known}`);
  }

  private lookup(node: Extract<Node, { type: 'CallExpression' }>, name: string): Compiled {
    const type = LOOKUPS[name] ?? NULL;
    const key = this.argument(node, 0, 1);
    if (key.type.kind !== 'number' && key.type.kind !== 'text') {
      throw new ExpressionError(node.start, `${name}(…) takes a name or a number`);
    }
    return {
      type,
      evaluate: (run) => {
        const value = key.evaluate(run);
        return typeof value === 'string' || isNumber(value) ? run.scope.lookup(name, value) : null;
      },
    };
  }

  private numeric(
    node: Extract<Node, { type: 'CallExpression' }>,
    name: 'abs' | 'min' | 'max' | 'sum',
  ): Compiled {
    if (name === 'sum') {
      const items = this.argument(node, 0, 1);
      if (items.type.kind !== 'list' || items.type.of.kind !== 'number') {
        throw new ExpressionError(node.start, 'sum(…) takes a list of numbers');
      }
      const evaluate = (run: Run): Value =>
        fold(items.evaluate(run), (a, b) => counted(run, add(a, b), node.start), rational(0n));
      return { type: NUMBER, evaluate };
    }
    const values = node.arguments.map((_, i) => this.numberArgument(node, i));
    if (values.length === 0 || (name === 'abs' && values.length !== 1)) {
      throw new ExpressionError(
        node.start,
        `${name}(…) takes ${name === 'abs' ? 'one number' : 'numbers'}`,
      );
    }
    const pick = (a: Rational, b: Rational): Rational =>
      compare(a, b) > 0 === (name === 'max') ? a : b;
    return {
      type: NUMBER,
      evaluate: (run) => {
        const all = values.map((value) => value(run));
        if (name === 'abs') {
          const [only] = all;
          return isNumber(only) ? { ...only, n: only.n < 0n ? -only.n : only.n } : null;
        }
        return fold(all, pick, null);
      },
    };
  }

  private listCall(
    node: Extract<Node, { type: 'CallExpression' }>,
    callee: Extract<Node, { type: 'MemberExpression' }>,
  ): Compiled {
    const { object, property } = callee;
    const method = property.type === 'Identifier' && !callee.computed ? property.name : '';
    if (object.type === 'Super')
      throw new ExpressionError(callee.start, 'super is not part of expressions');
    const items = this.node(object);
    if (items.type.kind !== 'list' || !isIn(METHODS, method)) {
      throw new ExpressionError(
        property.start,
        `${typeText(items.type)} has no function '${method}'; lists have ${METHODS.join(', ')}`,
      );
    }
    const { of } = items.type;
    const [arrow, ...others] = node.arguments;
    if (arrow?.type !== 'ArrowFunctionExpression' || others.length > 0) {
      throw new ExpressionError(
        node.start,
        `${method}(…) takes one arrow function, such as a => a.name == 'u1'`,
      );
    }
    const [parameter, ...more] = arrow.params;
    const { body } = arrow;
    if (
      parameter?.type !== 'Identifier' ||
      more.length > 0 ||
      arrow.async ||
      body.type === 'BlockStatement'
    ) {
      throw new ExpressionError(
        arrow.start,
        'an arrow function has one name before => and an expression behind it',
      );
    }
    const at = this.locals.length;
    this.locals.push({ name: parameter.name, type: of });
    const inner = this.node(body);
    this.locals.pop();
    if (method !== 'map') mustBe(inner.type, 'boolean', body.start);
    const each = (run: Run, item: Value): Value => {
      run.locals[at] = item;
      return inner.evaluate(run);
    };
    const listOf = (run: Run): readonly Value[] => {
      const value = items.evaluate(run);
      return Array.isArray(value) ? (value as readonly Value[]) : [];
    };
    switch (method) {
      case 'some':
        return {
          type: BOOLEAN,
          evaluate: (run) => listOf(run).some((item) => each(run, item) === true),
        };
      case 'every':
        return {
          type: BOOLEAN,
          evaluate: (run) => listOf(run).every((item) => each(run, item) === true),
        };
      case 'filter':
        return {
          type: items.type,
          evaluate: (run) => listOf(run).filter((item) => each(run, item) === true),
        };
      case 'map':
        return {
          type: { kind: 'list', of: inner.type },
          evaluate: (run) => listOf(run).map((item) => each(run, item)),
        };
      default:
        return unreachable(method);
    }
  }

  private argument(
    node: Extract<Node, { type: 'CallExpression' }>,
    i: number,
    count: number,
  ): Compiled {
    const given = node.arguments[i];
    if (given === undefined || given.type === 'SpreadElement' || node.arguments.length !== count) {
      throw new ExpressionError(node.start, `takes ${String(count)} argument`);
    }
    return this.node(given);
  }

  private numberArgument(node: Extract<Node, { type: 'CallExpression' }>, i: number): Evaluate {
    const given = node.arguments[i];
    if (given === undefined || given.type === 'SpreadElement') {
      throw new ExpressionError(node.start, 'takes numbers');
    }
    const { type, evaluate } = this.node(given);
    mustBe(type, 'number', given.start);
    return evaluate;
  }

  private unary({
    operator,
    argument,
    start,
  }: Extract<Node, { type: 'UnaryExpression' }>): Compiled {
    if (operator !== '!' && operator !== '-' && operator !== '+') {
      throw new ExpressionError(start, `'${operator}' is not part of expressions`);
    }
    const { type, evaluate } = this.node(argument);
    if (operator === '!') {
      mustBe(type, 'boolean', argument.start);
      return { type: BOOLEAN, evaluate: (run) => evaluate(run) !== true };
    }
    mustBe(type, 'number', argument.start);
    if (operator === '+') return { type, evaluate };
    return {
      type,
      evaluate: (run) => {
        const value = evaluate(run);
        return isNumber(value) ? { ...value, n: -value.n } : null;
      },
    };
  }

  private binary(node: Extract<Node, { type: 'BinaryExpression' }>): Compiled {
    const { operator } = node;
    if (node.left.type === 'PrivateIdentifier')
      throw new ExpressionError(node.start, 'unknown name');
    const isKnown =
      isIn(COMPARISONS, operator) || isIn(EQUALITIES, operator) || isIn(ARITHMETIC, operator);
    if (!isKnown) throw new ExpressionError(node.start, `'${operator}' is not part of expressions`);
    const left = this.node(node.left);
    const right = this.node(node.right);
    if (isIn(EQUALITIES, operator)) {
      mustBeComparable(left.type, right.type, node.start);
      mustBeReachable(left.type, right.word, node.right.start);
      mustBeReachable(right.type, left.word, node.left.start);
      const wanted = operator === '==' || operator === '===';
      return {
        type: BOOLEAN,
        evaluate: (run) => areEqual(left.evaluate(run), right.evaluate(run)) === wanted,
      };
    }
    mustBe(left.type, 'number', node.left.start);
    mustBe(right.type, 'number', node.right.start);
    if (isIn(COMPARISONS, operator)) {
      return {
        type: BOOLEAN,
        evaluate: (run) => {
          const a = left.evaluate(run);
          const b = right.evaluate(run);
          return isNumber(a) && isNumber(b) && holds(operator, compare(a, b));
        },
      };
    }
    return {
      type: NUMBER,
      evaluate: (run) => {
        const a = left.evaluate(run);
        const b = right.evaluate(run);
        if (!isNumber(a) || !isNumber(b)) return null;
        const result = arithmetic(operator, a, b);
        return result === null ? null : counted(run, result, node.start);
      },
    };
  }

  private logical(node: Extract<Node, { type: 'LogicalExpression' }>): Compiled {
    const left = this.node(node.left);
    const right = this.node(node.right);
    if (node.operator === '??') {
      mustBeAlike(left.type, right.type, 'both sides of ??', node.start);
      return {
        type: left.type.kind === 'text' ? TEXT : left.type,
        evaluate: (run) => left.evaluate(run) ?? right.evaluate(run),
      };
    }
    mustBe(left.type, 'boolean', node.left.start);
    mustBe(right.type, 'boolean', node.right.start);
    return {
      type: BOOLEAN,
      evaluate:
        node.operator === '&&'
          ? (run) => left.evaluate(run) === true && right.evaluate(run) === true
          : (run) => left.evaluate(run) === true || right.evaluate(run) === true,
    };
  }

  private conditional(node: Extract<Node, { type: 'ConditionalExpression' }>): Compiled {
    const test = this.node(node.test);
    const yes = this.node(node.consequent);
    const no = this.node(node.alternate);
    mustBe(test.type, 'boolean', node.test.start);
    mustBeAlike(yes.type, no.type, 'both results of ?:', node.start);
    return {
      type: yes.type.kind === 'text' ? TEXT : yes.type,
      evaluate: (run) => (test.evaluate(run) === true ? yes.evaluate(run) : no.evaluate(run)),
    };
  }
}

const METHODS = ['some', 'every', 'filter', 'map'] as const;

const constant = (word: string): Compiled => ({ type: TEXT, evaluate: () => word, word });

function literal(node: Extract<Node, { type: 'Literal' }>): Compiled {
  const { value, start, raw = '' } = node;
  if (typeof value === 'string') return constant(value);
  if (typeof value === 'boolean') return { type: BOOLEAN, evaluate: () => value };
  if (value === null && raw === 'null') return { type: NULL, evaluate: () => null };
  const number = literalNumber(raw);
  if (number !== null) return { type: NUMBER, evaluate: () => number };
  throw new ExpressionError(start, `'${raw.slice(0, 40)}' is not a number of expressions`);
}

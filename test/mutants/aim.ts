/**
 * Aims an edit at the syntax tree of a file. The place is a declaration, such as `Class.method`,
 * and in it the one node, or run of neighbouring nodes, with the same tokens. Line breaks, spaces,
 * comments and all other parts of the file do not matter.
 */
import ts from 'typescript';

interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** A node as a range of tokens, the last one included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

export interface Place {
  readonly from: number;
  readonly to: number;
}

interface Declaration extends Span {
  /** Names from the outermost declaration on, with dots between them. */
  readonly path: string;
}

/** A parsed file. */
export class SyntaxMap {
  readonly tokens: readonly Token[];
  readonly declarations: readonly Declaration[];
  /** The children of each node, in order. */
  readonly families: readonly (readonly Span[])[];

  constructor(source: string) {
    const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
    const tokens: Token[] = [];
    const declarations: Declaration[] = [];
    const families: (readonly Span[])[] = [];
    const visit = (node: ts.Node, path: string): Span | null => {
      const own = nameOf(node);
      const inner = own === null ? path : path === '' ? own : `${path}.${own}`;
      const first = tokens.length;
      const children = node.getChildren(file);
      if (children.length === 0) {
        const from = node.getStart(file);
        if (node.end > from)
          tokens.push({ text: source.slice(from, node.end), from, to: node.end });
      } else {
        // Documentation comments are nodes, but no tokens.
        const code = children.filter((child) => !ts.isJSDoc(child));
        const spans = code.flatMap((child) => visit(child, inner) ?? []);
        if (spans.length > 0) families.push(spans);
      }
      if (tokens.length === first) return null;
      const span = { first, last: tokens.length - 1 };
      if (own !== null) declarations.push({ ...span, path: inner });
      return span;
    };
    const whole = visit(file, '');
    if (whole !== null) families.push([whole]);
    this.tokens = tokens;
    this.declarations = declarations;
    this.families = families;
  }

  /** The places in a declaration (empty: the file) whose tokens are those of the code. */
  find(path: string, code: string): Place[] {
    const wanted = tokensOf(code);
    const within =
      path === ''
        ? [{ first: 0, last: this.tokens.length - 1 }]
        : this.declarations.filter((declaration) => declaration.path === path);
    const places: Place[] = [];
    for (const { first, last } of within) {
      for (let at = first; at + wanted.length - 1 <= last; at += 1) {
        const end = at + wanted.length - 1;
        if (!wanted.every((text, i) => this.tokens[at + i]?.text === text)) continue;
        if (this.isNodes({ first: at, last: end })) places.push(this.placeOf(at, end));
      }
    }
    return places;
  }

  /** Whether the tokens are a node, or neighbouring children of one; brackets come in pairs. */
  isNodes({ first, last }: Span): boolean {
    let open = 0;
    for (let at = first; at <= last && open >= 0; at += 1) {
      const text = this.tokens[at]?.text ?? '';
      if (text === '(' || text === '[' || text === '{') open += 1;
      if (text === ')' || text === ']' || text === '}') open -= 1;
    }
    if (open !== 0) return false;
    return this.families.some(
      (family) =>
        family.some((child) => child.first === first) &&
        family.some((child) => child.last === last),
    );
  }

  placeOf(first: number, last: number): Place {
    return { from: this.tokens[first]?.from ?? 0, to: this.tokens[last]?.to ?? 0 };
  }
}

/** The tokens of a piece of code that need not be a whole program. */
export function tokensOf(code: string): string[] {
  // Only the parser separates the tokens of a template.
  return new SyntaxMap(code).tokens.map(({ text }) => text);
}

/** The name that a declaration adds to the path; null for other nodes. */
function nameOf(node: ts.Node): string | null {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const isNamed =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessorDeclaration(node) ||
    ts.isSetAccessorDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    (ts.isVariableDeclaration(node) && ts.isVariableStatement(node.parent.parent));
  if (!isNamed || node.name === undefined || !ts.isIdentifier(node.name)) return null;
  const isLocal =
    ts.isVariableDeclaration(node) && node.parent.parent.parent.kind !== ts.SyntaxKind.SourceFile;
  return isLocal ? null : node.name.text;
}

const parsed = new Map<string, SyntaxMap>();

/** The syntax of a source, parsed once. */
export function syntaxOf(source: string): SyntaxMap {
  let map = parsed.get(source);
  if (map === undefined) {
    map = new SyntaxMap(source);
    parsed.set(source, map);
  }
  return map;
}

import * as Typebox from 'typebox/type';
import { expect, expectTypeOf, test } from 'vitest';
import { Type, type Static } from '../../src/contract/schema-types.ts';

/** Each constructor, on its own and in the others; a name that is missing fails to compile. */
const MADE: Readonly<Record<keyof typeof Type, (types: typeof Type) => unknown>> = {
  Array: (T) => T.Array(T.String(), { maxItems: 3 }),
  Boolean: (T) => T.Boolean(),
  Integer: (T) => T.Integer({ minimum: 1 }),
  Literal: (T) => [T.Literal('a'), T.Literal(1), T.Literal(true)],
  Null: (T) => T.Null(),
  Number: (T) => T.Number(),
  Object: (T) =>
    T.Object(
      { a: T.Optional(T.String()), b: T.Integer(), c: T.Object({}) },
      { additionalProperties: false },
    ),
  Optional: (T) => [T.Optional(T.Null()), T.Object({ a: T.Optional(T.Null()) })],
  Record: (T) => T.Record(T.String(), T.Unknown()),
  String: (T) => T.String({ pattern: '^a' }),
  Union: (T) => T.Union([T.Literal('a'), T.Null()]),
  Unknown: (T) => T.Unknown(),
  Unsafe: (T) => T.Unsafe<'a'>(T.Literal('a')),
};

test.each(Object.entries(MADE))('%s makes the schema of typebox', (_name, make) => {
  expect(JSON.stringify(make(Type))).toBe(JSON.stringify(make(Typebox as unknown as typeof Type)));
});

test('a field that is optional stays so when its schema is used elsewhere', () => {
  const text = Type.String();
  expect(Type.Object({ a: Type.Optional(text), b: text })).toMatchObject({ required: ['b'] });
});

test('types of values are those of typebox', () => {
  const own = Type.Object({
    text: Type.String(),
    count: Type.Optional(Type.Integer()),
    ratio: Type.Number(),
    word: Type.Union([Type.Literal('a'), Type.Literal(1), Type.Literal(true), Type.Null()]),
    list: Type.Array(Type.Object({ a: Type.Optional(Type.Boolean()), b: Type.Null() })),
    terms: Type.Record(Type.String(), Type.Unknown()),
    named: Type.Unsafe<'x' | 'y'>(Type.String()),
    empty: Type.Object({}),
  });
  const theirs = Typebox.Object({
    text: Typebox.String(),
    count: Typebox.Optional(Typebox.Integer()),
    ratio: Typebox.Number(),
    word: Typebox.Union([
      Typebox.Literal('a'),
      Typebox.Literal(1),
      Typebox.Literal(true),
      Typebox.Null(),
    ]),
    list: Typebox.Array(
      Typebox.Object({ a: Typebox.Optional(Typebox.Boolean()), b: Typebox.Null() }),
    ),
    terms: Typebox.Record(Typebox.String(), Typebox.Unknown()),
    named: Typebox.Unsafe<'x' | 'y'>(Typebox.String()),
    empty: Typebox.Object({}),
  });
  expectTypeOf<Static<typeof own>>().toEqualTypeOf<Typebox.Static<typeof theirs>>();
  expectTypeOf<Static<typeof own>['word']>().not.toEqualTypeOf<string | number | null>();
  expect(JSON.stringify(own)).toBe(JSON.stringify(theirs));
});

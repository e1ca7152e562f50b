/** Schemas with planted faults: each lacks one word of the chain hash. */
import type {
  Field,
  HashStep,
  RecordShape,
  Shape,
} from '../../../src/engine/schema/field-types.ts';
import { innerPaths } from './change-fields.ts';

/** Fields in a step of the chain hash. */
const fieldsOf = (step: HashStep): Field[] =>
  step.merge === 'none'
    ? [step.field]
    : step.merge === 'bits'
      ? [...step.codes]
      : [step.sign, step.of];

export interface Fault {
  readonly shape: RecordShape;
  /** The fields whose changes the hash cannot show. */
  readonly lost: readonly string[];
}

/** Schemas that lack one word of the chain hash, in the record itself or in one inside. */
export function* withoutOneWord(shape: RecordShape, at = ''): Generator<Fault> {
  for (const [i, step] of shape.hashed.entries()) {
    const others = shape.hashed.filter((_, j) => j !== i);
    const lost = fieldsOf(step).flatMap(({ name, shape: of }) => innerPaths(of, `${at}${name}`));
    yield { shape: { ...shape, hashed: others }, lost };
    if (step.merge !== 'none') continue;
    const { name } = step.field;
    for (const inner of faultyShapes(step.field.shape, `${at}${name}.`)) {
      const hashed = shape.hashed.with(i, { merge: 'none', field: { name, shape: inner.shape } });
      yield { shape: { ...shape, hashed }, lost: inner.lost };
    }
  }
}

function* faultyShapes(
  shape: Shape,
  at: string,
): Generator<{ shape: Shape; lost: readonly string[] }> {
  if (shape.type === 'record') yield* withoutOneWord(shape, at);
  if (shape.type !== 'list' && shape.type !== 'optional') return;
  for (const { shape: of, lost } of faultyShapes(shape.of, at)) {
    yield { shape: { ...shape, of }, lost };
  }
}

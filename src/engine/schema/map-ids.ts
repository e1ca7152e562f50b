/** Dense ids in a record (market, subaccount, account, order), found by its schema. */
import { isId, type IdUnit, type RecordShape, type Shape } from './field-types.ts';

type MapId = (unit: IdUnit, id: number) => number;

/** The record with every id mapped; the same record when none changes. */
export function mapIds<T extends object>({ fields }: RecordShape, record: T, map: MapId): T {
  let mapped = record;
  for (const { name, shape } of fields) {
    const value: unknown = record[name as keyof T];
    const other = mapValue(shape, value, map);
    if (other !== value) mapped = { ...mapped, [name]: other };
  }
  return mapped;
}

/** Ids of one unit in a record, in the order of its fields. */
export function idsOf(shape: RecordShape, record: object, unit: IdUnit): number[] {
  const ids: number[] = [];
  mapIds(shape, record, (of, id) => {
    if (of === unit) ids.push(id);
    return id;
  });
  return ids;
}

function mapValue(shape: Shape, value: unknown, map: MapId): unknown {
  if (shape.type === 'optional') return value === null ? null : mapValue(shape.of, value, map);
  if (shape.type === 'record') return mapIds(shape, value as object, map);
  if (shape.type === 'number') return isId(shape.unit) ? map(shape.unit, value as number) : value;
  if (shape.type !== 'list') return value;
  const items = value as readonly unknown[];
  const mapped = items.map((item) => mapValue(shape.of, item, map));
  return mapped.every((item, i) => item === items[i]) ? items : mapped;
}

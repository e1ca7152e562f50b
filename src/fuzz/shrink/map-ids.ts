/** Every dense id in a command (market, subaccount, account, order), put through a mapping; the same command when nothing changes. */
import type { Command } from '../../engine/commands.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import { isId, type RecordShape, type Shape } from '../../engine/schema/field-types.ts';
import type { AccountId, MarketId, OrderId, SubaccountId } from '../../num/units.ts';

export interface IdMapping {
  readonly marketId: (id: MarketId) => MarketId;
  readonly subaccountId: (id: SubaccountId) => SubaccountId;
  readonly accountId: (id: AccountId) => AccountId;
  readonly orderId: (id: OrderId) => OrderId;
}

export function mapIds(command: Command, ids: IdMapping): Command {
  return mapRecord(COMMANDS[command.kind].body, command, ids) as Command;
}

function mapRecord(shape: RecordShape, record: object, ids: IdMapping): object {
  let mapped = record;
  for (const { name, shape: of } of shape.fields) {
    const value = record[name as keyof typeof record] as unknown;
    const other = mapValue(of, value, ids);
    if (other !== value) mapped = { ...mapped, [name]: other };
  }
  return mapped;
}

function mapValue(shape: Shape, value: unknown, ids: IdMapping): unknown {
  if (shape.type === 'optional') return value === null ? null : mapValue(shape.of, value, ids);
  if (shape.type === 'record') return mapRecord(shape, value as object, ids);
  if (shape.type === 'number') return isId(shape.unit) ? ids[shape.unit](value as never) : value;
  if (shape.type !== 'list') return value;
  const items = value as readonly unknown[];
  const mapped = items.map((item) => mapValue(shape.of, item, ids));
  return mapped.every((item, i) => item === items[i]) ? items : mapped;
}

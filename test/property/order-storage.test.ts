import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashText } from '../../src/base/slot-index.ts';
import { ClientIds } from '../../src/engine/book/client-ids.ts';
import { EndedOrders } from '../../src/engine/book/ended-orders.ts';
import { OrderTable, NONE, emptyOwnerList } from '../../src/engine/book/order-table.ts';
import {
  accountId,
  lots,
  marketId,
  orderId,
  priceTicks,
  seq,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { PLAIN_LIMIT } from '../setup/plain-limit.ts';

const SEED = 20_241;

const text = fc.oneof(
  fc.string({ maxLength: 64 }),
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.string({ minLength: 120, maxLength: 140 }),
);

test('R-2.11: clientIds stored as bytes equal the original strings', () => {
  const step = fc.record({ row: fc.nat(300), text: fc.option(text) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const ids = new ClientIds(1 << 10);
      const model = new Map<number, string>();
      for (const { row, text } of steps) {
        const before = model.get(row) ?? null;
        expect(ids.get(row)).toBe(before);
        expect(ids.hash(row, row)).toBe(before === null ? null : hashText(row, before));
        if (text !== null) expect(ids.is(row, text)).toBe(before === text);
        ids.clear(row);
        model.delete(row);
        if (text === null) continue;
        ids.set(row, text);
        model.set(row, text);
      }
      for (const [row, text] of model) {
        expect(ids.get(row)).toBe(text);
        expect(ids.is(row, text)).toBe(true);
        expect(ids.is(row, `${text}.`)).toBe(false);
      }
    }),
    { seed: SEED, numRuns: 200 },
  );
});

test('R-10.2: ended orders are the copied ones, without the oldest of each account', () => {
  const step = fc.record({
    owner: fc.nat(3),
    clientId: fc.option(text),
    delegate: fc.option(fc.nat(5)),
    lookUp: fc.boolean(),
  });
  const limit = fc.constantFrom(1, 2, 20);
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 200 }), limit, (steps, most) => {
      const live = new OrderTable();
      const ended = new EndedOrders();
      const lists = [0, 1, 2, 3].map(() => emptyOwnerList());
      const model: { id: number; clientId: string | null; delegate: number | null }[][] = [
        [],
        [],
        [],
        [],
      ];
      steps.forEach(({ owner, clientId, delegate, lookUp }, i) => {
        const id = orderId(i + 1);
        const slot = live.add(
          id,
          {
            ...PLAIN_LIMIT,
            subaccount: subaccountId(owner),
            market: marketId(owner % 2),
            lots: lots(-7 - i),
            priceTicks: priceTicks(100 + i),
            ioc: i % 2 === 0,
            nonce: BigInt(i) - 2n ** 63n,
            expiresAtMs: 2n ** 63n - 1n - BigInt(i),
            delegate: delegate === null ? null : accountId(delegate),
            clientId,
          },
          { nowUs: timeUs(1_700_000_000_000_000 + i), seq: seq(i) },
        );
        live.setStatus(slot, 'cancelled', 'delisted');
        const list = lists[owner] ?? emptyOwnerList();
        const drops = ended.add(list, live, slot, most);
        live.remove(slot);
        model[owner]?.push({ id, clientId, delegate });
        expect(drops).toBe((model[owner]?.length ?? 0) > most);
        if (drops) {
          const gone = model[owner]?.shift();
          if (lookUp) expect(ended.slotOf(orderId(gone?.id ?? 0))).toBe(NONE);
        }
        if (lookUp) expect(ended.slotOf(id)).not.toBe(NONE);
      });
      model.forEach((entries, owner) => {
        const read = [];
        for (let slot = lists[owner]?.head ?? NONE; slot !== NONE; slot = ended.nextOfOwner(slot)) {
          const page = ended.page(slot);
          const row = ended.rowOf(slot);
          const i = page.id(row) - 1;
          expect(ended.slotOf(page.id(row))).toBe(slot);
          expect(page.nonce(row)).toBe(BigInt(i) - 2n ** 63n);
          expect(page.expiresAtMs(row)).toBe(2n ** 63n - 1n - BigInt(i));
          expect(page.lots(row)).toBe(-7 - i);
          expect(page.price(row)).toBe(100 + i);
          expect([page.status(row), page.reason(row)]).toEqual(['cancelled', 'delisted']);
          expect([page.isIoc(row), page.subaccount(row)]).toEqual([i % 2 === 0, owner]);
          read.push({
            id: page.id(row),
            clientId: page.clientId(row),
            delegate: page.delegate(row),
          });
        }
        expect(read).toEqual(entries);
        const list = lists[owner] ?? emptyOwnerList();
        const backwards = [];
        for (let slot = list.tail; slot !== NONE; slot = ended.prevOfOwner(list, slot)) {
          backwards.push(Number(ended.page(slot).id(ended.rowOf(slot))));
        }
        expect(backwards.reverse()).toEqual(entries.map(({ id: own }) => own));
        const all = {
          subaccount: subaccountId(owner),
          types: 1,
          statuses: 1 << 4,
          market: null,
          timed: false,
          createdFromUs: 0,
          createdToUs: Infinity,
          updatedFromUs: 0,
          updatedToUs: Infinity,
        };
        expect(ended.countMatches(all)).toBe(entries.length);
        expect(ended.countMatches({ ...all, statuses: 1 << 3 })).toBe(0);
      });
    }),
    { seed: SEED, numRuns: 60 },
  );
});

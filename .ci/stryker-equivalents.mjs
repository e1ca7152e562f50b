/**
 * Surviving mutants of `npm run stryker` that change no result, by the reason. An entry is the text
 * of the source and of the mutant, and how often the file has it, by default once. An entry that no
 * longer survives is reported, and must go.
 */
const EQUIVALENT = [
  {
    reason: 'The case is only faster: the general one gives the same.',
    mutants: {
      'src/num/exact-sum.ts': [
        ['sum > Number.MAX_SAFE_INTEGER', 'true'],
        ['sum > Number.MAX_SAFE_INTEGER', 'sum >= Number.MAX_SAFE_INTEGER'],
      ],
      'src/num/notional.ts': [['Number.isSafeInteger(product)', 'false']],
      'src/engine/orders/fill.ts': [
        ['takerFees.others', 'true'],
        ['!makerHouse', 'true'],
        ['takerSlot !== NONE', 'true'],
      ],
      'src/engine/orders/match.ts': [
        ['best === NO_LEVEL', 'false'],
        ['!reduceOnly && (side > 0 ? touch > limit : touch < limit)', 'false'],
        ['!reduceOnly', 'reduceOnly'],
        ['touch > limit', 'false'],
        ['touch < limit', 'false'],
      ],
      'src/engine/funding/funding.ts': [
        ['product <= Number.MAX_SAFE_INTEGER && product >= -Number.MAX_SAFE_INTEGER', 'false'],
        ['product <= Number.MAX_SAFE_INTEGER', 'product < Number.MAX_SAFE_INTEGER'],
        ['product >= -Number.MAX_SAFE_INTEGER', 'product > -Number.MAX_SAFE_INTEGER'],
        ['-Number.MAX_SAFE_INTEGER', '+Number.MAX_SAFE_INTEGER'],
        [
          '{ // Exact: so are remainders, and quotients of multiples. Both round toward +∞. const remainder = product % PPB; const whole = (product - remainder) / PPB; return quanta(BigInt(remainder > 0 ? whole',
          '{}',
        ],
      ],
      'src/engine/accounts/order-fees.ts': [
        ['!fees.others', 'false'],
        ['rate === 0', 'false'],
        ['rate !== 0', 'true'],
      ],
      'src/engine/accounts/fees.ts': [
        ['!Number.isSafeInteger(product)', 'true', 2],
        ['originatorRate === 0', 'false'],
      ],
      'src/engine/orders/end.ts': [
        ['limit === 0', 'false'],
        ['conditional.legs.length > 0', 'true'],
        ['conditional.legs.length > 0', 'conditional.legs.length >= 0'],
      ],
      'src/engine/orders/close-reduce-only.ts': [['closing.size === 0', 'false']],
      'src/engine/orders/admission.ts': [["market.status !== 'open'", 'true']],
    },
  },
  {
    reason: 'At the limit, both branches give the same.',
    mutants: {
      'src/engine/funding/funding.ts': [
        ['above > 0n', 'above >= 0n'],
        ['below < 0n', 'below <= 0n'],
        ['premium > MAX_PREMIUM', 'premium >= MAX_PREMIUM'],
        ['left <= 0n', 'left < 0n'],
        ['exact > 0n', 'exact >= 0n'],
      ],
    },
  },
  {
    reason: 'A size or a side is never 0.',
    mutants: {
      'src/engine/orders/match.ts': [['side > 0', 'side >= 0', 6]],
      'src/engine/orders/resting.ts': [
        ['table.side(slot) > 0', 'table.side(slot) >= 0'],
        ['side > 0', 'side >= 0', 2],
      ],
      'src/engine/orders/pending.ts': [
        ['state.orders.side(slot) < 0', 'state.orders.side(slot) <= 0', 3],
      ],
      'src/engine/orders/admission.ts': [
        ['terms.lots > 0', 'terms.lots >= 0', 2],
        ['lots > 0', 'lots >= 0', 2],
        ['side > 0', 'side >= 0', 2],
      ],
    },
  },
  {
    reason:
      'The other condition, or the caller, excludes the case: a market without an index has no fresh one, and a market has a tier.',
    mutants: {
      'src/engine/funding/funding.ts': [
        ['index === null', 'false'],
        ['tier !== undefined', 'true'],
        ['index !== null', 'true'],
      ],
    },
  },
  {
    reason: 'A check of risk that is not needed finds nothing.',
    mutants: {
      'src/engine/funding/funding.ts': [
        ['paid > 0n', 'true'],
        ['paid > 0n', 'paid >= 0n'],
      ],
    },
  },
  {
    reason:
      'The end of the interval is computed again, to the same time: it is a multiple of the interval, and terms that change the interval move it.',
    mutants: {
      'src/engine/funding/funding.ts': [
        ['market.fundingDueUs === Infinity', 'true'],
        ['state.nowUs - (state.nowUs % intervalUs)', 'state.nowUs + state.nowUs % intervalUs'],
      ],
    },
  },
  {
    reason: 'The value is assigned before it is read, or repeats the one before.',
    mutants: {
      'src/engine/accounts/order-fees.ts': [['false', 'true']],
      'src/engine/funding/funding.ts': [['rate !== market.fundingRatePpb', 'true']],
    },
  },
  {
    reason: 'An empty ladder has no price, and a comparison with none is false.',
    mutants: {
      'src/engine/orders/admission.ts': [['level === NO_LEVEL', 'false']],
    },
  },
  {
    reason: 'A leg fires only if it may fill (`fire`), so it has no such fault at its activation.',
    mutants: {
      'src/engine/orders/activate.ts': [
        ["fault === 'reduceOnly' && table.conditional(slot)?.leg === true", 'false'],
        ['table.conditional(slot)?.leg', 'table.conditional(slot).leg'],
        [
          "{ const over = legOver(table, slot, exposure); if (over === null) waitAgain(state, slot, exposure); else endOrder(state, slot, 'cancelled', over); }",
          '{}',
        ],
        ['over === null', 'true'],
        ['over === null', 'false'],
        ['over === null', 'over !== null'],
      ],
    },
  },
  {
    reason: 'Without a listener, an event that is built is dropped.',
    mutants: {
      'src/engine/orders/fill.ts': [['context.hasSink', 'true', 2]],
      'src/engine/orders/place.ts': [['context.hasSink', 'true', 2]],
      'src/engine/orders/resting.ts': [['context.hasSink', 'true']],
      'src/engine/orders/end.ts': [['context.hasSink', 'true']],
    },
  },
  {
    reason:
      'An index forgets earlier or later that an order no longer waits; until then it asks for each.',
    mutants: {
      'src/engine/orders/pending.ts': [
        ['!conditional.following', 'conditional.following'],
        ['!conditional.following', 'true'],
        ['!conditional.following', 'false'],
        [
          '{ (conditional.trailingPpm === null ? triggers.prices : triggers.activations).forget(waits); }',
          '{}',
        ],
        ['conditional.trailingPpm === null', 'true'],
        ['conditional.trailingPpm === null', 'false'],
        ['conditional.trailingPpm === null', 'conditional.trailingPpm !== null'],
        ['state.orders.side(slot) < 0', 'true'],
        ['state.orders.side(slot) < 0', 'false'],
        ['state.orders.side(slot) < 0', 'state.orders.side(slot) >= 0'],
      ],
    },
  },
  {
    reason: 'The heap drops ended orders earlier or later.',
    mutants: {
      'src/engine/orders/expiry.ts': [
        ['heap.size > 1024 && heap.size > 4 * state.expiring', 'true'],
        ['heap.size > 1024 && heap.size > 4 * state.expiring', 'false'],
        [
          'heap.size > 1024 && heap.size > 4 * state.expiring',
          'heap.size > 1024 || heap.size > 4 * state.expiring',
        ],
        ['heap.size > 1024', 'true'],
        ['heap.size > 1024', 'heap.size >= 1024'],
        ['heap.size > 1024', 'heap.size <= 1024'],
      ],
    },
  },
  {
    reason: 'A bound that is wider than needed only costs time.',
    mutants: {
      'src/engine/orders/resting.ts': [
        ['price > exposure.highestPrice', 'price >= exposure.highestPrice'],
        ['price > exposure.highestBid', 'price >= exposure.highestBid'],
        ['price < exposure.lowestAsk', 'price <= exposure.lowestAsk'],
        ['market.tape.carry.size > 0', 'true'],
        ['market.tape.carry.size > 0', 'market.tape.carry.size >= 0'],
      ],
      'src/engine/orders/triggers.ts': [
        ['!context.due.anyRepriced && context.newTriggers.length === 0', 'false'],
        ['due.length === 0', 'false'],
        ['context.due.anyRepriced', 'true'],
        ['context.newTriggers.length > 0', 'true'],
        ['context.newTriggers.length > 0', 'context.newTriggers.length >= 0'],
      ],
    },
  },
  {
    reason: 'The order of groups with one fire price does not matter: due orders are sorted later.',
    mutants: {
      'src/engine/orders/trailing-index.ts': [['this.nextNumber++', 'this.nextNumber--']],
    },
  },
  {
    reason:
      'Entries that can fire nothing leave a heap, or its stack, earlier or later; it only costs memory and time.',
    mutants: {
      'src/engine/orders/trailing-index.ts': [
        ['this.entries <= SMALL', 'false'],
        ['this.entries <= SMALL', 'this.entries < SMALL'],
        ['this.entries <= 4 * this.waiting', 'this.entries < 4 * this.waiting'],
        ['group.stops.size === 0', 'false', 2],
        ['this.stack.filter((group) => group.stops.size > 0)', 'this.stack'],
        ['group.stops.size > 0', 'true', 3],
        ['group.stops.size > 0', 'group.stops.size >= 0', 3],
        ['this.up * top.extreme < this.up * mark', 'this.up * top.extreme <= this.up * mark'],
        ['a.stops.size >= b.stops.size', 'true'],
        ['a.stops.size >= b.stops.size', 'false'],
        ['a.stops.size >= b.stops.size', 'a.stops.size > b.stops.size'],
        ['a.stops.size >= b.stops.size', 'a.stops.size < b.stops.size'],
        ['price === group.announced', 'false'],
        ['this.fires.size <= SMALL || this.fires.size <= 4 * this.stack.length', 'false'],
        ['this.fires.size <= SMALL || this.fires.size <= 4 * this.stack.length', 'true'],
        [
          'this.fires.size <= SMALL || this.fires.size <= 4 * this.stack.length',
          'this.fires.size <= SMALL && this.fires.size <= 4 * this.stack.length',
        ],
        ['this.fires.size <= SMALL', 'false'],
        ['this.fires.size <= SMALL', 'this.fires.size < SMALL'],
        ['this.fires.size <= SMALL', 'this.fires.size > SMALL'],
        ['this.fires.size <= 4 * this.stack.length', 'false'],
        ['this.fires.size <= 4 * this.stack.length', 'this.fires.size < 4 * this.stack.length'],
        ['4 * this.stack.length', '4 / this.stack.length'],
        ['this.entries -= 1', 'this.entries += 1', 2],
        [
          '{ if (group.stops.size > 0) return; this.byNumber.delete(group.number); this.stack = this.stack.filter((other) => other !== group); }',
          '{}',
        ],
      ],
      'src/engine/orders/trigger-index.ts': [
        ['heap.size > SMALL', 'true'],
        ['heap.size > SMALL', 'heap.size >= SMALL'],
        ['this.waiting -= 1', 'this.waiting += 1'],
      ],
      'src/engine/orders/expiry.ts': [
        ['heap.size > 4 * state.expiring', 'true'],
        ['heap.size > 4 * state.expiring', 'heap.size >= 4 * state.expiring'],
        ['4 * state.expiring', '4 / state.expiring'],
      ],
      'src/engine/orders/twap.ts': [['dueUs !== Infinity', 'true']],
      // An order that ends while its trigger is armed has no entry any more.
      'src/engine/orders/pending.ts': [
        ['conditional?.armed !== true', 'true'],
        ['false', 'true'],
      ],
    },
  },
  {
    reason: 'A shortcut: without it, all stops or prices are scanned, with the same result.',
    mutants: {
      'src/engine/orders/trailing-index.ts': [
        ['first === null || within(first)', 'false'],
        ['first === null || within(first)', 'first === null && within(first)'],
        ['first === null', 'false'],
        ['this.up > 0 ? first < low : first > high', 'false'],
        ['first < low', 'false'],
        ['first < low', 'first <= low'],
        ['first > high', 'false'],
        ['first > high', 'first >= high'],
      ],
      'src/engine/orders/trigger-index.ts': [['top > up * from', 'false']],
      'src/engine/orders/owned-orders.ts': [
        ['orders.head === NONE', 'false'],
        ['markets > 1', 'true'],
        ['markets > 1', 'markets >= 1'],
      ],
    },
  },
  {
    reason: 'A side is 1 or −1.',
    mutants: {
      'src/engine/orders/trailing-index.ts': [
        ['this.up > 0', 'this.up >= 0'],
        ['up > 0', 'up >= 0'],
      ],
      'src/engine/orders/trigger-index.ts': [['up > 0', 'up >= 0', 2]],
    },
  },
  {
    reason:
      'Nothing is stored for NONE, and the next condition gives the same. The check keeps reads within the arrays.',
    mutants: {
      'src/engine/orders/pending.ts': [['slot === NONE', 'false']],
      'src/engine/orders/pending-effects.ts': [['slot === NONE', 'false']],
      'src/engine/orders/protective-orders.ts': [['slot === NONE', 'false', 2]],
      'src/engine/orders/slices.ts': [['slot !== NONE', 'true']],
      'src/engine/orders/triggers.ts': [['slot === NONE', 'false', 3]],
    },
  },
  {
    reason: 'A pending order has conditions, and only those that wait are armed.',
    mutants: {
      'src/engine/orders/pending.ts': [
        ['conditional?.armed', 'conditional.armed'],
        ['state.orders.conditional(slot)?.armed', 'state.orders.conditional(slot).armed'],
        [
          'slot === NONE || !state.orders.isWaiting(slot)',
          'slot === NONE && !state.orders.isWaiting(slot)',
        ],
        ['slot === NONE || !state.orders.isWaiting(slot)', 'false'],
      ],
      'src/engine/orders/slices.ts': [
        ['table.conditional(slot)?.triggerTicks', 'table.conditional(slot).triggerTicks'],
      ],
      'src/engine/orders/triggers.ts': [
        ['conditional === null', 'false', 3],
        ['conditional !== null', 'true', 2],
        ['slot === NONE || !table.isWaiting(slot)', 'false'],
        ['slot === NONE || !table.isWaiting(slot)', 'slot === NONE && !table.isWaiting(slot)'],
      ],
      'src/engine/orders/twap.ts': [['state.orders.isWaiting(slot)', 'true']],
    },
  },
  {
    reason: 'A price that was recomputed is known, and so is the mark that a stop followed.',
    mutants: {
      'src/engine/orders/triggers.ts': [
        ['source !== null', 'true'],
        ['seen === null', 'false'],
        ['mark === null', 'false'],
        ['conditional === null || seen === null', 'false'],
        ['conditional === null || seen === null', 'conditional === null && seen === null'],
      ],
    },
  },
  {
    reason: 'A text among orders belongs to none.',
    mutants: {
      'src/engine/orders/triggers.ts': [['[]', '["Stryker was here"]', 2]],
    },
  },
  {
    reason:
      'Only the last price moves while triggers fire, so a further round finds no order that is due.',
    mutants: {
      'src/engine/orders/triggers.ts': [
        ["state.config.triggerSource === 'last'", 'true'],
        [
          "state.config.triggerSource === 'last' && context.due.anyRepriced",
          "state.config.triggerSource === 'last' || context.due.anyRepriced",
        ],
      ],
    },
  },
  {
    reason: 'Without a trigger price, an order that is armed follows the mark at once.',
    mutants: {
      'src/engine/orders/triggers.ts': [
        ['conditional.triggerTicks === null', 'false'],
        ['true', 'false'],
      ],
    },
  },
  {
    reason: 'An effect that is missing has no kind, and none is missing.',
    mutants: {
      'src/engine/orders/pending-effects.ts': [
        ['i < pendingEffects.length', 'i <= pendingEffects.length'],
        ['todo?.kind', 'todo.kind'],
      ],
    },
  },
  {
    reason: 'The caller has checked that the order is a leg, with conditions.',
    mutants: {
      'src/engine/orders/protective-orders.ts': [
        ['leg?.leg !== true', 'false'],
        ['leg?.leg', 'leg.leg'],
        ['leg !== null', 'true'],
      ],
    },
  },
  {
    reason: 'At the limit, both branches give 0.',
    mutants: {
      'src/engine/orders/protective-orders.ts': [['against > 0', 'against >= 0']],
    },
  },
  {
    reason: 'A position, a size or a side is never 0 here.',
    mutants: {
      'src/engine/liquidation/adl-ranks.ts': [
        ['size > 0', 'size >= 0', 2],
        ['positionLots > 0', 'positionLots >= 0'],
        ['side > 0', 'side >= 0'],
      ],
      'src/engine/liquidation/adl.ts': [
        ['side > 0', 'side >= 0', 2],
        ['exposure.positionLots > 0', 'exposure.positionLots >= 0'],
      ],
      'src/engine/liquidation/bankruptcy.ts': [
        ['exposure.positionLots > 0', 'exposure.positionLots >= 0'],
      ],
      'src/engine/liquidation/clearing.ts': [
        ['from.positionLots > 0', 'from.positionLots >= 0'],
        ['exposure.positionLots > 0', 'exposure.positionLots >= 0', 2],
      ],
      'src/engine/liquidation/endangered.ts': [
        ['exposure.positionLots > 0', 'exposure.positionLots >= 0'],
      ],
      'src/engine/liquidation/liquidation-index.ts': [
        ['exposure.positionLots > 0', 'exposure.positionLots >= 0'],
        ['side < 0', 'side <= 0'],
      ],
      'src/engine/liquidation/liquidation-order.ts': [
        ['exposure.positionLots > 0', 'exposure.positionLots >= 0', 3],
        ['side < 0', 'side <= 0'],
        ['side > 0', 'side >= 0', 4],
      ],
      'src/engine/liquidation/liquidation.ts': [
        ['exposure.positionLots > 0', 'exposure.positionLots >= 0'],
      ],
      'src/engine/liquidation/takeover.ts': [['positionLots > 0', 'positionLots >= 0']],
    },
  },
  {
    reason: 'The keys of the markets and sides are others, and as different.',
    mutants: {
      'src/engine/liquidation/adl-ranks.ts': [
        ['market.id * 2 + (size > 0 ? 1 : 0)', 'market.id * 2 - (size > 0 ? 1 : 0)'],
        ['size > 0', 'size <= 0'],
      ],
      'src/engine/liquidation/adl.ts': [
        ['market.id * 2 + (side > 0 ? 1 : 0)', 'market.id * 2 - (side > 0 ? 1 : 0)'],
        ['side > 0', 'side <= 0'],
      ],
    },
  },
  {
    reason: 'Holders without a position have no place, and a ranking that is missing is not fresh.',
    mutants: {
      'src/engine/liquidation/adl-ranks.ts': [
        ['size === 0', 'false'],
        ['ranking === undefined', 'false'],
        ['place === undefined', 'false'],
      ],
    },
  },
  {
    reason: 'A profit of 0 is the last of one class or the first of the next one.',
    mutants: { 'src/engine/liquidation/adl.ts': [['upnl > 0n', 'upnl >= 0n']] },
  },
  {
    reason: 'The case before excludes equality, or both branches give the same there.',
    mutants: {
      'src/engine/liquidation/adl.ts': [['left > right', 'left >= right']],
      'src/engine/liquidation/bankruptcy.ts': [
        ['price < 0n', 'price <= 0n'],
        ['price > limit', 'price >= limit'],
      ],
      'src/engine/liquidation/clearing-plan.ts': [
        ['deficit > lost', 'deficit >= lost'],
        ['equity < 0n', 'equity <= 0n'],
        ['share.gain >= 0n', 'share.gain > 0n'],
        ['share.gain >= 0n', 'false'],
      ],
      'src/engine/liquidation/liquidation-order.ts': [['above > 0n', 'above >= 0n']],
      'src/engine/liquidation/liquidation.ts': [['a.value > b.value', 'a.value >= b.value']],
      'src/engine/liquidation/endangered.ts': [
        ['equity > 0n', 'equity >= 0n'],
        ['slack > 0n', 'slack >= 0n'],
      ],
    },
  },
  {
    reason: 'A deficit is above 0, and the plan names positions and parties that exist.',
    mutants: {
      'src/engine/liquidation/clearing-plan.ts': [
        ['lost === 0n', 'false'],
        ['positions[i]?.allowance', 'positions[i].allowance'],
        ['counterparty === undefined', 'false'],
        ['position === undefined', 'false'],
      ],
      'src/engine/liquidation/clearing.ts': [
        ['[]', '["Stryker was here"]', 2],
        ['parties[position]?.[party]', 'parties[position][party]'],
        ['from === undefined || to === undefined', 'false'],
        ['from === undefined || to === undefined', 'from === undefined && to === undefined'],
        ['from === undefined', 'false'],
        ['to === undefined', 'false'],
      ],
    },
  },
  {
    reason: 'The plan takes only as many parties as it needs.',
    mutants: {
      'src/engine/liquidation/clearing.ts': [
        ['open <= 0', 'false'],
        ['open <= 0', 'open < 0'],
        ['open -= Math.abs(holder.positionLots)', 'open += Math.abs(holder.positionLots)'],
      ],
    },
  },
  {
    reason: 'A debt of 0 is repaid by nothing.',
    mutants: {
      'src/engine/liquidation/endangered.ts': [
        ['subaccount.clearingDebt > 0n', 'subaccount.clearingDebt >= 0n'],
        ['subaccount.clearingDebt > 0n', 'true'],
      ],
    },
  },
  {
    reason: 'Only fresh positions are cleared, and an isolated unit has no other.',
    mutants: {
      'src/engine/liquidation/clearing.ts': [['unit.isolated === null', 'true']],
    },
  },
  {
    reason: 'The timer runs at the full hour, so the remainder is 0.',
    mutants: {
      'src/engine/liquidation/insurance.ts': [
        ['state.nowUs - (state.nowUs % HOUR_US)', 'state.nowUs + state.nowUs % HOUR_US'],
      ],
    },
  },
  {
    reason: 'Nothing is paid for a balance at or above 0, and only the result for a debt is read.',
    mutants: {
      'src/engine/liquidation/clearing.ts': [
        ['unit.balance >= 0n', 'false'],
        ['unit.balance >= 0n', 'unit.balance > 0n'],
      ],
    },
  },
  {
    reason: 'The heap of bounds is as good: equal bounds have any order, and places exist.',
    mutants: {
      'src/engine/liquidation/liquidation-index.ts': [
        ['exposure.safeSide !== side', 'true'],
        ['last === undefined', 'false'],
        ['place > 0', 'place >= 0'],
        ['parent === undefined', 'false'],
        ['this.sign * parent.safeTicks <= key', 'this.sign * parent.safeTicks < key'],
        [
          'this.sign * right.safeTicks < this.sign * child.safeTicks',
          'this.sign * right.safeTicks <= this.sign * child.safeTicks',
        ],
        ['this.sign * child.safeTicks >= key', 'this.sign * child.safeTicks > key'],
      ],
    },
  },
  {
    reason:
      'The callee tests the same, or the end of the last round has: a check of prices, the requirement, a negative equity.',
    mutants: {
      'src/engine/liquidation/liquidation.ts': [
        ['context.due.anyRepriced', 'true'],
        ['unit.equityAt(state, settlementTicks) >= 0n', 'true'],
      ],
    },
  },
  {
    reason: 'Numbers are only faster: bigints give the same amounts, in the same form.',
    mutants: {
      'src/num/money.ts': [
        ['{ return value <= LARGEST && value >= -LARGEST; }', '{}'],
        ['value <= LARGEST && value >= -LARGEST', 'false'],
        ['-LARGEST', '+LARGEST'],
        ["typeof value === 'number'", 'false', 5],
        ["typeof value === 'number'", 'true', 2],
        ["typeof value === 'number'", "typeof value !== 'number'", 2],
        ["typeof a === 'number' && typeof b === 'number'", 'false', 2],
        ['{ const sum = a + b; if (isSafe(sum)) return safe(sum); }', '{}'],
        ['isSafe(sum)', 'false'],
        ['{ const difference = a - b; if (isSafe(difference)) return safe(difference); }', '{}'],
        ['isSafe(difference)', 'false'],
        ['isSafe(product)', 'false', 5],
        ["typeof amount === 'number'", 'false', 4],
        [
          '{ const product = amount * part; if (isSafe(product)) return safe(ceilDivInt(product, whole)); }',
          '{}',
        ],
        [
          '{ const product = amount * part; if (isSafe(product)) return safe(floorDivInt(product, whole)); }',
          '{}',
        ],
        [
          '{ const millions = floorDivInt(amount, PPM); const rest = amount - millions * PPM; return safe(millions * ratePpm + ceilDivInt(rest * ratePpm, PPM)); }',
          '{}',
        ],
        ['{ const product = amount * factor; if (isSafe(product)) return safe(product); }', '{}'],
        ['isSafe(value)', 'false'],
      ],
    },
  },
  {
    reason: 'At the limit both forms give the same, equal amounts are one, and no bigint is 0.',
    mutants: {
      'src/num/money.ts': [
        ['value <= LARGEST', 'value < LARGEST'],
        ['value >= -LARGEST', 'value > -LARGEST'],
        ['bigintOf(value) < 0n', 'bigintOf(value) <= 0n'],
        ['bigintOf(value) > 0n', 'bigintOf(value) >= 0n'],
        ['a > b', 'a >= b'],
      ],
    },
  },
];

/** Splits the survivors of a file; `stale`: entries of the list without a survivor. */
export function withoutEquivalents(file, survivors, list = EQUIVALENT) {
  const left = list.flatMap(({ mutants }) =>
    (mutants[file] ?? []).map(([from, to, times = 1]) => ({ from, to, times })),
  );
  const equivalent = [];
  const alive = [];
  for (const mutant of survivors) {
    const entry = left.find(
      ({ from, to, times }) => times > 0 && from === mutant.from && to === mutant.to,
    );
    if (entry === undefined) alive.push(mutant);
    else {
      entry.times -= 1;
      equivalent.push(mutant);
    }
  }
  return { equivalent, alive, stale: left.filter(({ times }) => times > 0) };
}

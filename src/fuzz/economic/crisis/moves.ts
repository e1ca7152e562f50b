/**
 * Plan of a coalition in a crisis world, as data that can be drawn, mutated and printed. Plans
 * consist of phrases (open both sides, wait for an event, withdraw), because random single moves
 * rarely form one. Every move is valid in every state, so any plan can be played.
 */
import type { Dice } from '../../dice.ts';

export const MOVE_KINDS = [
  'pair',
  'order',
  'close',
  'closeAll',
  'cancelAll',
  'quotes',
  'flicker',
  'isolate',
  'cross',
  'transfer',
  'excess',
  'deposit',
  'withdraw',
  'withdrawAll',
  'vaultDeposit',
  'vaultRedeem',
  'wait',
] as const;
export type CrisisMoveKind = (typeof MOVE_KINDS)[number];

/** Event that a move waits for; `time`: only `waitMs`. */
export type Until = 'time' | 'jump' | 'freeze' | 'thaw';

export interface CrisisMove {
  readonly kind: CrisisMoveKind;
  readonly market: number;
  /** Indices of members in the coalition. */
  readonly who: number;
  readonly other: number;
  readonly buys: boolean;
  /** Part of the possible amount, in 1/1000; below 5: that many lots or dollars. */
  readonly part: number;
  /** Offset of the price from the index, in ppm. */
  readonly offsetPpm: number;
  readonly ioc: boolean;
  readonly until: Until;
  readonly waitMs: number;
}

export type CrisisPlan = readonly CrisisMove[];

const MAX_MOVES = 18;
const PUSH_PPM = [-10_000, -5000, 5000, 10_000];

function drawMove(dice: Dice, kind: CrisisMoveKind = dice.pick(MOVE_KINDS)): CrisisMove {
  return {
    kind,
    market: dice.below(3),
    who: dice.below(6),
    other: dice.below(6),
    buys: dice.chance(500),
    part: dice.pick([1, 100, 300, dice.below(1001), dice.below(1001), 1000, 1000]),
    offsetPpm: dice.pick([0, 0, 0, dice.pick(PUSH_PPM), dice.between(-90_000, 90_000)]),
    ioc: dice.chance(500),
    until: dice.pick(['time', 'time', 'time', 'jump', 'freeze', 'thaw']),
    waitMs: kind === 'wait' ? dice.pick([1000, 21_000, 61_000, 155_000]) : 0,
  };
}

/** Public classification of markets, for phrases. */
export interface Terrain {
  /** Markets without an arbitrageur that takes quotes away from the index. */
  readonly quiet: readonly number[];
  /** Markets with an arbitrageur and a wide maker spread. */
  readonly wide: readonly number[];
}

/** Moves of a phrase share members and market. */
type Phrase = (dice: Dice, cast: CrisisMove, terrain: Terrain) => readonly CrisisMove[];

const now = { until: 'time', waitMs: 0 } as const;

const PHRASES: readonly Phrase[] = [
  // Opens both sides of one market.
  (dice, cast) => [{ ...cast, ...now, kind: 'pair', part: dice.pick([300, 700, 1000]) }],
  // Opens a second market, with the same counterparty or another.
  (dice, cast) => [
    { ...cast, ...now, kind: 'pair', part: dice.pick([200, 500]) },
    {
      ...drawMove(dice, 'pair'),
      ...now,
      who: cast.who,
      market: (cast.market + dice.between(1, 2)) % 3,
      part: dice.pick([1, 300, 1000]),
    },
  ],
  // Opens one lot in one market and the rest in others.
  (dice, cast) => [
    { ...cast, ...now, kind: 'pair', part: 1, market: (cast.market + dice.between(1, 2)) % 3 },
    { ...cast, ...now, kind: 'pair', part: 1000 },
  ],
  // Withdraws all free cash.
  (dice, cast) => [{ ...cast, kind: 'withdrawAll', part: 1000, until: dice.pick(UNTILS) }],
  (dice, cast) => [
    { ...cast, kind: dice.pick(['withdraw', 'transfer']), part: 1000, until: dice.pick(UNTILS) },
  ],
  // Small quotes away from the index, long enough to move an average.
  (dice, cast) => [
    { ...cast, ...now, kind: 'quotes', part: dice.pick([1, 1, 1000]), offsetPpm: push(dice) },
    { ...drawMove(dice, 'wait'), until: 'time', waitMs: dice.pick([2000, 61_000, 155_000]) },
  ],
  (dice, drawn, { quiet }) => {
    const cast = { ...drawn, market: suited(dice, drawn.market, quiet) };
    const offsetPpm = push(dice);
    const fullPpm = dice.pick([0, offsetPpm, offsetPpm]);
    return [
      { ...cast, ...now, kind: 'pair', part: 1, offsetPpm },
      { ...cast, ...now, kind: 'quotes', part: dice.pick([1, 1000, 1000]), offsetPpm },
      {
        ...drawMove(dice, 'wait'),
        until: 'time',
        waitMs: dice.pick([2000, 61_000, 101_000, 155_000]),
      },
      {
        ...cast,
        ...now,
        kind: 'pair',
        part: dice.pick([300, 400, 600, 1000]),
        buys: offsetPpm > 0,
        offsetPpm: fullPpm,
      },
    ];
  },
  // Opens both sides of a market before its outage; one side withdraws during it.
  (dice, cast) => [
    { ...cast, ...now, kind: 'pair', part: dice.pick([20, 50, 100, 200]) },
    {
      ...cast,
      kind: dice.pick(['withdraw', 'withdraw', 'withdrawAll']),
      part: 1000,
      until: 'freeze',
    },
  ],
  // Opens a position against honest parties, and quotes at funding samples.
  (dice, drawn, { wide }) => {
    const cast = { ...drawn, market: suited(dice, drawn.market, wide) };
    const buys = dice.chance(500);
    const offsetPpm = (buys ? -1 : 1) * dice.pick([3000, 4500]);
    return [
      {
        ...cast,
        ...now,
        kind: 'order',
        ioc: true,
        buys,
        part: dice.pick([500, 900]),
        offsetPpm: buys ? 2000 : -2000,
      },
      { ...cast, ...now, kind: 'flicker', who: dice.below(6), buys: !buys, part: 1000, offsetPpm },
    ];
  },
  (dice, cast) => [{ ...drawMove(dice, 'wait'), until: dice.pick(UNTILS), market: cast.market }],
  (dice, cast) => [{ ...cast, ...now, kind: 'isolate', part: dice.pick([0, 100, 300]) }],
  (dice) => [{ ...drawMove(dice, 'vaultDeposit'), until: 'time' }],
  (dice) => [{ ...drawMove(dice, 'vaultRedeem'), part: 1000 }],
  (dice, cast) => [{ ...cast, kind: dice.pick(['close', 'closeAll']), until: dice.pick(UNTILS) }],
  (dice) => [drawMove(dice)],
];
const UNTILS: readonly Until[] = ['time', 'jump', 'freeze', 'thaw'];

const push = (dice: Dice): number => dice.pick(PUSH_PPM);

function suited(dice: Dice, market: number, list: readonly number[]): number {
  return list.length > 0 && dice.chance(800) ? dice.pick(list) : market;
}

export function drawCrisisPlan(dice: Dice, terrain: Terrain): CrisisPlan {
  const cast = drawMove(dice, 'pair');
  const plan: CrisisMove[] = [];
  const phrases = dice.between(2, 5);
  for (let i = 0; i < phrases; i++) {
    const spoken = i === 0 ? (PHRASES[dice.below(9)] ?? dice.pick(PHRASES)) : dice.pick(PHRASES);
    plan.push(...spoken(dice, dice.chance(800) ? cast : drawMove(dice, 'pair'), terrain));
  }
  return plan.slice(0, MAX_MOVES);
}

/** A mutated plan: a move or phrase added, or a move removed, relocated or changed. */
export function changeCrisisPlan(dice: Dice, plan: CrisisPlan, terrain: Terrain): CrisisPlan {
  const moves = [...plan];
  const at = dice.below(plan.length + 1);
  const found = moves[at];
  switch (found === undefined ? 0 : dice.below(8)) {
    case 0: {
      const cast = plan[dice.below(Math.max(1, plan.length))] ?? drawMove(dice, 'pair');
      moves.splice(at, 0, ...dice.pick(PHRASES)(dice, cast, terrain));
      return moves.slice(0, MAX_MOVES);
    }
    case 1:
      moves.splice(at, 1);
      return moves;
    case 2: {
      const [moved] = moves.splice(at, 1);
      if (moved !== undefined) moves.splice(dice.below(moves.length + 1), 0, moved);
      return moves;
    }
    default:
      if (found !== undefined) moves[at] = changeMove(dice, found);
      return moves;
  }
}

function changeMove(dice: Dice, move: CrisisMove): CrisisMove {
  const drawn = drawMove(dice, move.kind);
  const field = dice.pick([
    'market',
    'who',
    'other',
    'buys',
    'part',
    'part',
    'offsetPpm',
    'until',
    'waitMs',
  ] as const);
  return { ...move, [field]: drawn[field] };
}

/** The plan as text, one line per move. */
export function describeCrisisPlan(plan: CrisisPlan, names: readonly string[]): string[] {
  return plan.map((move) => {
    const who = nameOf(names, move.who);
    const other = nameOf(names, move.other);
    const part = move.part < 5 ? `${String(move.part)} units` : `${String(move.part / 10)} %`;
    const market = `market ${'ABC'[move.market] ?? '?'}`;
    const price = `index ${move.offsetPpm >= 0 ? '+' : ''}${String(move.offsetPpm / 10_000)} %`;
    const side = move.buys ? 'buys' : 'sells';
    const text: Record<CrisisMoveKind, string> = {
      pair: `${who} ${side} ${part} of capacity in ${market} from ${other} at ${price}`,
      order: `${who} ${side} ${part} of capacity in ${market} at ${price}${move.ioc ? ' (ioc)' : ''}`,
      close: `${who} closes its position in ${market}`,
      closeAll: 'every member closes every position',
      cancelAll: `${who} cancels its orders`,
      quotes: `${who} quotes ${part} on both sides of ${price} in ${market}`,
      flicker: `${who} shows a ${move.buys ? 'bid' : 'ask'} at ${price} in ${market} for 2 ms in every 5 s`,
      isolate: `${who} uses isolated margin in ${market}`,
      cross: `${who} uses cross margin in ${market}`,
      transfer: `${who} sends ${part} of its withdrawable cash to ${other}`,
      excess: `${who} takes ${part} of its excess margin in ${market}`,
      deposit: `${who} deposits 10,000`,
      withdraw: `${who} withdraws ${part} of its withdrawable cash`,
      withdrawAll: 'every member withdraws all withdrawable cash',
      vaultDeposit: `${who} buys vault shares with ${part} of its withdrawable cash`,
      vaultRedeem: `${who} redeems ${part} of its vault shares`,
      wait: 'nothing',
    };
    const events = {
      time: '',
      jump: 'after the next price jump: ',
      freeze: 'when a market freezes: ',
      thaw: 'when a market thaws: ',
    };
    const wait = move.waitMs > 0 ? `wait ${String(move.waitMs / 1000)} s: ` : '';
    return `${events[move.until]}${wait}${text[move.kind]}`;
  });
}

function nameOf(names: readonly string[], place: number): string {
  return names[place % names.length] ?? '?';
}

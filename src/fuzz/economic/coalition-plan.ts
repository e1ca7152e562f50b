/** Plan of a coalition: drawn, mutated and printed. Every move is valid in every state. */
import type { Dice } from '../dice.ts';

export const MOVE_KINDS = [
  'order',
  'pair',
  'close',
  'cancelAll',
  'transfer',
  'excess',
  'vaultDeposit',
  'vaultRedeem',
  'isolate',
  'wait',
] as const;

export type MoveKind = (typeof MOVE_KINDS)[number];

export interface Move {
  readonly kind: MoveKind;
  /** Index of the acting member and of its counterparty in the coalition. */
  readonly who: number;
  readonly other: number;
  readonly buys: boolean;
  /** Part of the possible amount, in 1/1000; below 5: that many Quanta or lots. */
  readonly part: number;
  /** Offset of the price from the index, in ppm. */
  readonly offsetPpm: number;
  readonly flag: 'none' | 'ioc' | 'reduce';
  /** True if an originator of the coalition charges a fee. */
  readonly originated: boolean;
  readonly waitMs: number;
}

export type Plan = readonly Move[];

const MAX_MOVES = 24;

export function drawPlan(dice: Dice): Plan {
  return Array.from({ length: dice.between(1, 8) }, () => drawMove(dice));
}

function drawMove(dice: Dice): Move {
  const kind = dice.pick(MOVE_KINDS);
  return {
    kind,
    who: dice.below(4),
    other: dice.below(4),
    buys: dice.chance(500),
    part: dice.pick([1, 2, dice.below(1001), dice.below(1001), 1000]),
    offsetPpm: dice.pick([0, 0, dice.between(-1000, 1000), dice.between(-95_000, 95_000)]),
    flag: dice.pick(['none', 'none', 'ioc', 'reduce']),
    originated: dice.chance(300),
    waitMs: kind === 'wait' ? dice.pick([1, 1000, 20_000, 60_000]) : dice.pick([0, 0, 0, 1000]),
  };
}

/** A mutated plan: one move added, removed, relocated or changed. */
export function changePlan(dice: Dice, plan: Plan): Plan {
  const at = dice.below(plan.length + 1);
  const moves = [...plan];
  const found = moves[at];
  switch (found === undefined ? 0 : dice.below(6)) {
    case 0:
      if (moves.length < MAX_MOVES) moves.splice(at, 0, drawMove(dice));
      return moves;
    case 1:
      moves.splice(at, 1);
      return moves;
    case 2: {
      const to = dice.below(moves.length);
      const [moved] = moves.splice(at, 1);
      if (moved !== undefined) moves.splice(to, 0, moved);
      return moves;
    }
    case 3:
      if (found !== undefined && moves.length < MAX_MOVES) moves.splice(at, 0, found);
      return moves;
    default:
      if (found !== undefined) moves[at] = changeMove(dice, found);
      return moves;
  }
}

/** A move with one field redrawn. */
function changeMove(dice: Dice, move: Move): Move {
  const drawn = drawMove(dice);
  const field = dice.pick([
    'who',
    'other',
    'buys',
    'part',
    'offsetPpm',
    'flag',
    'originated',
    'waitMs',
  ] as const);
  return { ...move, [field]: drawn[field] };
}

const NAMES = ['A', 'B', 'C', 'A/1'];

/** The plan as text, one line per move. */
export function describePlan(plan: Plan): string[] {
  return plan.map((move) => {
    const who = NAMES[move.who] ?? '?';
    const other = NAMES[move.other] ?? '?';
    const part = move.part < 5 ? `${String(move.part)} units` : `${String(move.part / 10)} %`;
    const price = `${move.offsetPpm >= 0 ? '+' : ''}${String(move.offsetPpm / 10_000)} %`;
    const fee = move.originated ? ', with an originator fee to the coalition' : '';
    const flag = move.flag === 'none' ? '' : ` (${move.flag === 'reduce' ? 'reduce-only' : 'ioc'})`;
    const wait = move.waitMs > 0 ? `wait ${String(move.waitMs)} ms, then ` : '';
    const side = move.buys ? 'buys' : 'sells';
    const words: Record<MoveKind, string> = {
      order: `${who} ${side} ${part} of its capacity at index ${price}${flag}${fee}`,
      pair: `${who} ${side} ${part} of its capacity at index ${price} against ${other}${fee}`,
      close: `${who} closes at the market`,
      cancelAll: `${who} cancels everything`,
      transfer: `${who} sends ${part} of its withdrawable cash to ${other}`,
      excess: `${who} takes ${part} of its excess margin`,
      vaultDeposit: `${who} deposits ${part} of its cash in the vault`,
      vaultRedeem: `${who} redeems ${part} of its vault shares`,
      isolate: `${who} uses ${move.buys ? 'isolated' : 'cross'} margin`,
      wait: 'nothing',
    };
    return wait + words[move.kind];
  });
}

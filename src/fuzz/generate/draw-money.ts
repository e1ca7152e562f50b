/** Draws deposits, withdrawals, transfers, vault shares and excess margin. */
import type { Command, Transfer } from '../../engine/commands.ts';
import { quanta, type Address, type MarketId, type SubaccountId } from '../../num/units.ts';
import type { Context } from './draw-context.ts';

/** Some deposits open new subaccounts. */
export function makeDeposit(context: Context): Command {
  const { dice, setup } = context;
  const { insuranceAccount, treasuryAccount, shortfallAccount } = setup.config;
  const system = [insuranceAccount, insuranceAccount, treasuryAccount, shortfallAccount];
  return {
    kind: 'deposit',
    timeUs: context.nowUs,
    account: dice.chance(context.profile.crisis.systemPermille)
      ? dice.pick(system)
      : context.user(),
    subaccountIndex: context.subaccountIndex(),
    amount: quanta(
      context.faulty ? dice.pick([0n, -1n, 2n ** 62n]) : BigInt(1 + dice.below(50_000_000)),
    ),
  };
}

export function makeWithdraw(context: Context): Command {
  const { id, address, index, cash } = context.subaccount();
  // Everything to the last Quantum: equity equals maintenance if both margins are equal.
  const leaves = context.dice.chance(300) ? withdrawable(context, id) : 0n;
  const { treasuryAccount } = context.setup.config;
  return {
    kind: 'withdraw',
    timeUs: context.nowUs,
    account: context.faulty ? treasuryAccount : address,
    subaccountIndex: context.faulty ? 77 : index,
    amount: quanta(
      leaves > 0n
        ? leaves + BigInt(context.dice.pick([0, 0, 1]))
        : context.partOf(context.dice.chance(500) ? cash : Number(withdrawable(context, id))),
    ),
  };
}

/** Withdrawable money of a subaccount; 0 before all markets have a price. */
function withdrawable({ world }: Context, id: SubaccountId): bigint {
  const { view } = world;
  if (view.markets().some(({ markTicks }) => markTicks === null)) return 0n;
  return view.margin(id).withdrawableQuanta;
}

export function makeTransfer(context: Context): Command {
  const from = context.subaccount();
  const { dice, setup } = context;
  const to = context.faulty ? setup.config.treasuryAccount : context.user();
  const signer = context.faulty && dice.chance(300) ? context.user() : from.address;
  return transfer(context, {
    from: from.address,
    fromIndex: from.index,
    to,
    toIndex: context.subaccountIndex(),
    amount: context.partOf(dice.chance(500) ? from.cash : Number(withdrawable(context, from.id))),
    market: null,
    signer,
  });
}

export function makeVaultDeposit(context: Context): Command {
  const { address, index, cash } = context.subaccount();
  return transfer(context, {
    from: address,
    fromIndex: index,
    to: context.setup.config.clsAccount,
    toIndex: context.faulty ? 3 : 0,
    amount: vaultAmount(context, cash),
    market: null,
    signer: address,
  });
}

/** A part of the cash; often the least amount of a deposit, or a Quantum beside it. */
function vaultAmount(context: Context, cash: number): bigint {
  const least = BigInt(context.setup.config.minVaultDeposit);
  if (context.dice.chance(200)) return least + BigInt(context.dice.between(-1, 1));
  const part = context.partOf(cash / 2);
  return part < least && !context.faulty ? least : part;
}

export function makeVaultRedeem(context: Context): Command {
  const holders = context.world.subaccounts.filter(({ shares }) => shares > 0);
  const { address, index, shares } =
    holders.length === 0 ? context.subaccount() : context.dice.pick(holders);
  const vault = context.world.view.subaccountIdOf(context.setup.config.clsAccount, 0);
  const free = vault === undefined ? 0n : withdrawable(context, vault);
  const isAll = free > 0n && context.dice.chance(200);
  return transfer(context, {
    from: context.setup.config.clsAccount,
    fromIndex: 0,
    to: address,
    toIndex: index,
    // A share is worth about one.
    amount: isAll ? free + BigInt(context.dice.pick([0, 0, 1])) : context.partOf(shares),
    market: null,
    signer: context.faulty ? context.user() : address,
  });
}

/** Moves excess margin of an isolated position to the owner's cash or another's. */
export function makeExcess(context: Context): Command {
  const holder = context.holder();
  const owner = holder?.owner ?? context.subaccount();
  const market = (holder?.market ?? context.market()).id;
  const own = context.dice.chance(700);
  const excess = Number(context.world.view.isolatedExcess(owner.id, market));
  return transfer(context, {
    from: owner.address,
    fromIndex: owner.index,
    to: own ? owner.address : context.user(),
    toIndex: own ? owner.index : 0,
    amount: context.partOf(excess),
    market,
    signer: owner.address,
  });
}

interface Movement {
  readonly from: Address;
  readonly fromIndex: number;
  readonly to: Address;
  readonly toIndex: number;
  readonly amount: bigint;
  readonly market: MarketId | null;
  readonly signer: Address;
}

function transfer(context: Context, movement: Movement): Transfer {
  return {
    kind: 'transfer',
    timeUs: context.nowUs,
    ...movement,
    amount: quanta(movement.amount),
    nonce: context.lateNonce(),
    expiresAtMs: context.expiresAtMs(),
  };
}

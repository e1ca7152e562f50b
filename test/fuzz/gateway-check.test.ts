/** The check `gateway` finds no fault where a command has no request. */
import { expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { checkerOf } from '../../src/fuzz/checks/checks.ts';
import { ANN, BOB, CONFIG } from '../../src/fuzz/exhaust/setting.ts';
import { NEVER_MS } from '../../src/fuzz/run-setup.ts';
import { marketId, quanta } from '../../src/num/units.ts';

test('a transfer from a market that is not listed is no fault of the gateway', () => {
  const engine = new Exchange(CONFIG);
  const checker = checkerOf(['gateway'], CONFIG, { every: 1 });
  const timeUs = CONFIG.genesisTimeUs;
  const amount = quanta(5_000_000n);
  const deposit: Command = {
    kind: 'deposit',
    timeUs,
    account: ANN.address,
    subaccountIndex: 0,
    amount,
  };
  const transfer: Command = {
    kind: 'transfer',
    timeUs,
    from: ANN.address,
    fromIndex: 0,
    to: BOB.address,
    toIndex: 0,
    amount,
    market: marketId(60_000),
    signer: ANN.address,
    nonce: 1n,
    expiresAtMs: NEVER_MS,
  };
  for (const command of [deposit, transfer]) {
    checker.before?.(engine, command);
    const outcome = engine.apply(command);
    expect(checker.after(engine, command, outcome)).toBeNull();
  }
});

/**
 * Simulation control, outside the contract and with its own bearer token: deposits,
 * prices, the virtual clock, faults, and the exchange's hash, snapshot and journal.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalidField, journalCompacted, MESSAGES, noSnapshot } from '../contract/messages.ts';
import type { Command } from '../engine/commands.ts';
import { outcomeCode } from '../engine/refusals.ts';
import { mustAccount } from '../gateway/authorise.ts';
import { stepOf } from '../gateway/encode.ts';
import { Fields } from '../gateway/fields.ts';
import { isRepeated, readReference } from '../gateway/operator-requests.ts';
import { mustSucceed } from '../gateway/refusal-reply.ts';
import { RequestError } from '../gateway/request-error.ts';
import { stepsExact, stepsHalfUp } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  ppb,
  priceTicks,
  quanta,
  timeUs,
  type MarketId,
  type Quanta,
} from '../num/units.ts';
import { CommandError, parseCommand } from '../journal/format/command-json.ts';
import { StoreStopped } from '../journal/store-stopped.ts';
import { openJournal } from '../journal-files/folder-journal.ts';
import { plainJournal } from '../journal-files/plain-journal.ts';
import { keccak } from '../wallet/crypto-ports.ts';
import type { Faults } from './injected-faults.ts';
import type { Host } from './exchange-host.ts';
import { bodyOf } from './read-body.ts';
import { MAX_SPEED, mustBeDriven, noReplay, type Replay } from './replay.ts';
import { sendError, sendText, showReplica } from './replies.ts';
import { strategyState } from './served-strategy.ts';

const MAX_MS = 9_007_199_254_740n;
const RATE_DECIMALS = 9;
/** 31 days. */
const MAX_STEP_MS = 2_678_400_000n;

export interface SimOptions {
  readonly host: Host;
  readonly faults: Faults;
  readonly token: string;
}

/** GET and POST routes under /sim; each replies with JSON or an error text. */
export function simRoutes(app: FastifyInstance, { host, faults, token }: SimOptions): void {
  const access = { control: { token, refusal: MESSAGES.simToken } };
  const route = (
    method: 'GET' | 'POST',
    path: string,
    handle: (body: unknown) => unknown,
  ): void => {
    app.route({
      method,
      url: `/sim/${path}`,
      config: { access },
      handler: async (request, reply) => {
        // A snapshot, or a month of the virtual clock, may take longer than a socket may be silent.
        request.raw.socket.setTimeout(0);
        try {
          const result = handle(bodyOf(request));
          const { exchange } = host;
          // Before another request runs, so that a command has its own place.
          const shown = host.shownState();
          if (shown !== null) showReplica(reply, shown);
          const answer = await result;
          const durable = method === 'GET' ? exchange.durable() : exchange.committed();
          if (durable !== null) await durable;
          return await reply.send(answer ?? null);
        } catch (error) {
          return sendError(reply, error);
        }
      },
    });
  };

  for (const kind of ['deposit', 'withdraw'] as const) {
    route('POST', kind, (body) => {
      const fields = new Fields(body, ['account', 'subaccountIndex', 'amount', 'reference'], false);
      const account = fields.address('account', keccak);
      const subaccountIndex = fields.has('subaccountIndex')
        ? fields.subaccountIndex('subaccountIndex')
        : 0;
      const amount = readAmount(fields);
      if (kind === 'withdraw') mustAccount({ engine: host.view }, account);
      const timeUs = host.nowUs();
      const command = {
        kind,
        timeUs,
        account,
        subaccountIndex,
        amount,
        ...readReference(fields),
      };
      if (!isRepeated(host.view, command)) submit(host, command);
      return null;
    });
  }
  route('POST', 'oracle', (body) => {
    mustNotBeReplayed(host);
    const fields = new Fields(body, ['symbol', 'price'], false);
    const { market, ticks } = readPrice(host, fields);
    submit(host, {
      kind: 'setIndex',
      timeUs: host.nowUs(),
      market,
      priceTicks: ticks,
      text: fields.text('price'),
    });
    return null;
  });
  route('POST', 'mark', (body) => {
    mustNotBeReplayed(host);
    const { market, ticks } = readPrice(host, new Fields(body, ['symbol', 'price'], false));
    submit(host, { kind: 'setMark', timeUs: host.nowUs(), market, priceTicks: ticks });
    return null;
  });
  route('POST', 'funding', (body) => {
    mustNotBeReplayed(host);
    const fields = new Fields(body, ['symbol', 'rate'], false);
    const rate =
      stepsExact(fields.decimal('rate'), { digits: 1n, scale: RATE_DECIMALS }) ??
      fields.fail('rate', `must have at most ${String(RATE_DECIMALS)} decimals`);
    if (rate > 1_000_000_000n || rate < -1_000_000_000n)
      fields.fail('rate', 'must be from -1 to 1');
    const market = readMarket(host, fields);
    submit(host, {
      kind: 'settleFunding',
      timeUs: host.nowUs(),
      market,
      ratePpb: ppb(Number(rate)),
    });
    return null;
  });
  route('POST', 'clock', async (body) => {
    const fields = new Fields(body, ['advanceMs', 'toMs'], false);
    if (host.clock !== 'virtual') {
      throw new RequestError(
        invalidField('clock', 'is the wall clock; start with --clock virtual'),
      );
    }
    if (fields.has('advanceMs') === fields.has('toMs')) {
      throw new RequestError(invalidField('body', 'must have either advanceMs or toMs'));
    }
    const name = fields.has('toMs') ? 'toMs' : 'advanceMs';
    const ms = fields.int64(name);
    const toUs = (name === 'toMs' ? 0 : host.nowUs()) + Number(ms) * 1000;
    if (ms > MAX_MS || !Number.isSafeInteger(toUs)) fields.fail(name, 'is beyond the year 2255');
    if (toUs < host.nowUs()) {
      fields.fail(name, `must not be before now, ${String(Math.floor(host.nowUs() / 1000))}`);
    }
    const { replay } = host;
    if (replay === null) host.advanceTo(timeUs(toUs));
    else {
      mustBeDriven(replay);
      if (replay.isDriven && replay.drive.isLimited) {
        // A question for the time only.
        if (toUs === host.nowUs()) return { time: Math.floor(toUs / 1000) };
        throw new RequestError(
          invalidField('clock', 'is moved by a strategy; POST /sim/replay steps and paces it'),
        );
      }
      await replay.advance({ untilUs: toUs, lingerUs: Infinity, pastEnd: true });
    }
    return { time: Math.floor(host.nowUs() / 1000) };
  });
  route('POST', 'command', (body) => {
    mustNotBeReplayed(host);
    if (host.clock !== 'virtual') {
      throw new RequestError(
        invalidField('clock', 'is the wall clock; start with --clock virtual'),
      );
    }
    try {
      return { outcome: outcomeCode(host.play(parseCommand(body, host.nowUs()))) };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new RequestError({ status: 400, message: error.message });
    }
  });
  route('GET', 'replay', () => {
    return replayState(host, mustReplay(host));
  });
  route('GET', 'strategy', async () => {
    const { strategy } = host;
    if (strategy === null) {
      throw new RequestError(
        invalidField('strategy', 'is not on; start with: orrery serve --replay … --strategy …'),
      );
    }
    return strategyState(host, strategy);
  });
  route('POST', 'replay', async (body) => {
    const replay = mustReplay(host);
    const fields = new Fields(body, ['speed', 'paused', 'stepMs'], false);
    if (replay.speed === null && !replay.isDriven && host.strategy === null) {
      throw new RequestError(
        invalidField('speed', 'POST /sim/clock moves this replay; no client drives its clock'),
      );
    }
    if (fields.has('stepMs')) {
      if (fields.has('speed') || fields.has('paused')) {
        fields.fail('stepMs', 'pauses the replay; send it without speed and paused');
      }
      const ms = fields.int64('stepMs');
      if (ms < 1n || ms > MAX_STEP_MS) {
        fields.fail('stepMs', `must be from 1 to ${String(MAX_STEP_MS)}`);
      }
      await replay.step(Number(ms) * 1000);
      return replayState(host, replay);
    }
    const now = replay.speed ?? replay.drive.speed;
    const given = fields.get('speed');
    const speed = given === undefined ? now : typeof given === 'number' ? given : NaN;
    if (speed !== null && !(speed > 0 && speed <= MAX_SPEED)) {
      fields.fail('speed', `must be a number above 0 and at most ${String(MAX_SPEED)}`);
    }
    replay.setPace(speed, fields.has('paused') ? fields.boolean('paused') : replay.isPaused);
    return replayState(host, replay);
  });
  route('POST', 'faults', (body) => faults.arm(body));
  route('GET', 'hash', () => ({
    sequenceNumber: host.exchange.engine.seq,
    hash: host.exchange.engine.stateHash(),
    chainHash: host.exchange.engine.chainHash(),
  }));
  route('POST', 'snapshot', async () => ({
    file: await host.exchange.snapshot().catch((error: unknown) => {
      if (error instanceof StoreStopped) throw error;
      // A full disk, for example.
      throw new RequestError(noSnapshot((error as Error).message));
    }),
  }));
  app.get(
    '/sim/journal',
    {
      config: { access },
    },
    (_request: FastifyRequest, reply: FastifyReply) => {
      const { path, durableSeq, replica } = host.exchange;
      if (replica !== null) return sendText(reply, MESSAGES.sharedJournal);
      const journal = openJournal(path, durableSeq);
      if (journal.fromSeq > 0) return sendText(reply, journalCompacted(journal.fromSeq));
      const chunks = plainJournal(journal, durableSeq);
      return reply.type('application/octet-stream').send(Readable.from(chunks));
    },
  );
}

function mustReplay({ replay }: Host): Replay {
  if (replay === null) throw new RequestError(noReplay());
  return replay;
}

function replayState(host: Host, replay: Replay) {
  const { facts, speed, drive, isDriven, isPaused, hasEnded } = replay;
  return {
    ...facts,
    timeUs: host.nowUs(),
    speed,
    pace: speed ?? drive.speed,
    driven: isDriven,
    paused: isPaused,
    ended: hasEnded,
  };
}

/** Prices of a replay come from its recording, by which a restart finds its position. */
function mustNotBeReplayed({ replay }: Host): void {
  if (replay === null) return;
  throw new RequestError(invalidField('replay', 'sets the prices; serve without --replay'));
}

function submit(host: Host, command: Command): void {
  mustSucceed(host.submit(command));
}

function readAmount(fields: Fields): Quanta {
  const amount = stepsExact(fields.decimal('amount'), { digits: 1n, scale: COLLATERAL_DECIMALS });
  if (amount === null) {
    fields.fail('amount', `must have at most ${String(COLLATERAL_DECIMALS)} decimals`);
  }
  // Range of the journal's integers; the exchange checks lower limits in its own order.
  if (BigInt.asIntN(64, amount) !== amount) fields.fail('amount', 'is out of range');
  return quanta(amount);
}

function readMarket(host: Host, fields: Fields): MarketId {
  const market = host.view.marketIdOf(fields.symbol('symbol'));
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  return market;
}

function readPrice(host: Host, fields: Fields) {
  const price = fields.decimal('price');
  const market = readMarket(host, fields);
  const { spec } = host.view.market(market);
  const ticks = stepsHalfUp(price, stepOf(spec.tickSize));
  if (ticks < 1n || ticks > BigInt(spec.maxPriceTicks)) {
    fields.fail('price', `must be from ${spec.tickSize} to the market's maxPrice`);
  }
  return { market, ticks: priceTicks(Number(ticks)) };
}

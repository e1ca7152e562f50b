/**
 * Runs a scenario on a recorded exchange, so that its journal replays independently. Signatures are
 * trusted; all else is as in the API. Invariants are checked after every command
 * (`checkInvariants`).
 *
 * A failed step does not end the run, so that later steps are reported; a broken invariant does.
 */
import { InvariantError } from '../base/assert.ts';
import type { Command } from '../engine/commands.ts';
import type { EngineEvent } from '../engine/events.ts';
import { outcomeCode, type Outcome } from '../engine/refusals.ts';
import type { ExchangeView, InvariantViolation } from '../engine/read/views.ts';
import { HOUSE_MAKER, HOUSE_TAKER } from '../engine/exchange-state.ts';
import type { Reply } from '../gateway/context.ts';
import { Gateway } from '../gateway/gateway.ts';
import { operatorCommand } from '../gateway/operator-requests.ts';
import type { Keccak } from '../gateway/ports.ts';
import { RequestError } from '../gateway/request-error.ts';
import { durationUs, timeUs, type Address, type OrderId } from '../num/units.ts';
import { CommandError, parseCommand } from '../journal/format/command-json.ts';
import { checkCommands } from '../fuzz/check-journal.ts';
import { RecordedExchange } from '../journal/replay/recorded-exchange.ts';
import { checkEvents } from './check-events.ts';
import { checkReply } from './check-reply.ts';
import { checkState, type StateAccess } from './check-state.ts';
import { describeEvent, type DescribedEvent } from './describe-event.ts';
import { showValue, type Difference, type MatchOptions } from './match-expectation.ts';
import {
  followReference,
  lostReferences,
  parseReference,
  partsOf,
  statePartsOf,
  unescapeDollar,
} from './reference.ts';
import { buildRequest, isAddressKey, NonceCounter } from './request.ts';
import type { Action, Expectation, Scenario, Step } from './scenario.ts';
import { START_OF_TEXT, type Place } from './source-node.ts';
import { formatDuration } from '../num/time-text.ts';
import { titleOf } from './step-title.ts';

export interface ScenarioPorts {
  readonly keccak: Keccak;
  /** Address of the private key keccak256(name). */
  readonly addressOf: (name: string) => Address;
}

export interface StepReport {
  readonly path: string;
  readonly place: Place;
  /** The step's note, or a description of its action. */
  readonly title: string;
  /** Time since the start, such as `+5s`. */
  readonly at: string;
  /** Empty if the step passed. */
  readonly differences: readonly Difference[];
  /** Events of the step with names and decimals, described lazily. */
  readonly events: () => readonly DescribedEvent[];
}

export interface ScenarioResult {
  readonly title: string;
  readonly passed: boolean;
  /** All executed steps, repeats included; set-up is first and the end is last. */
  readonly steps: readonly StepReport[];
  readonly commands: number;
  readonly chainHash: string;
  readonly stateHash: string;
  readonly journal: Uint8Array;
  /** The exchange at the end, and its events. */
  readonly exchange: ExchangeView;
  readonly happened: readonly EngineEvent[];
  /** Whether all invariants held after every command. */
  readonly invariantsHeld: boolean;
}

export function runScenario(scenario: Scenario, ports: ScenarioPorts): ScenarioResult {
  return new ScenarioRun(scenario, ports).run();
}

/** Min commands between checkpoints of a scenario's journal; a checkpoint hashes every account. */
const CHECKPOINT_EVERY = 10;
const ACCOUNTS_PER_CHECKPOINT = 16;

/** Max number of subaccounts for which every invariant is checked after every command. */
const ALL_INVARIANTS_UP_TO = 256;

/**
 * Commands that affect one account. Others move prices or time, which may liquidate many accounts.
 */
const OF_ONE_ACCOUNT: ReadonlySet<Command['kind']> = new Set([
  'deposit',
  'transfer',
  'placeOrder',
  'cancelOrder',
  'cancelAll',
  'updateMargin',
]);

type OperatorAction = Extract<
  Action,
  { kind: 'listMarket' | 'setMarketTerms' | 'setMarketStatus' | 'delistMarket' }
>;
type SavedReply = { readonly body: unknown; readonly as: string | null };

class ScenarioRun {
  private readonly scenario: Scenario;
  private readonly exchange: RecordedExchange;
  private readonly gateway: Gateway;
  private readonly keccak: Keccak;
  private readonly addresses = new Map<string, Address>();
  private readonly names = new Map<string, string>();
  private readonly saved = new Map<string, SavedReply>();
  private readonly orderNames = new Map<OrderId, string>();
  private readonly nonces = new NonceCounter();
  private readonly reports: StepReport[] = [];
  private readonly happened: EngineEvent[] = [];
  /** All commands, if the scenario expects them to pass checks. */
  private readonly commands: Command[] = [];
  private invariantsHeld = true;
  /** Events of the current step. */
  private events: EngineEvent[] = [];
  private violations: Difference[] = [];

  constructor(scenario: Scenario, ports: ScenarioPorts) {
    this.scenario = scenario;
    this.keccak = ports.keccak;
    const { config } = scenario;
    const byAccounts = Math.ceil(scenario.accounts.length / ACCOUNTS_PER_CHECKPOINT);
    const checkpointEvery = Math.max(CHECKPOINT_EVERY, byAccounts);
    this.exchange = new RecordedExchange(config, { checkpointEvery });
    this.exchange.onEvent((event) => {
      this.events.push(event);
      this.happened.push(event);
    });
    this.gateway = new Gateway({
      engine: this.exchange.engine,
      submit: (command) => this.submit(command),
      nowUs: () => this.exchange.engine.nowUs,
      keccak: ports.keccak,
      signatures: 'trust',
    });
    this.name('vault', config.clsAccount);
    this.name('insurance', config.insuranceAccount);
    this.name('treasury', config.treasuryAccount);
    this.name('shortfall', config.shortfallAccount);
    for (const house of [HOUSE_MAKER, HOUSE_TAKER]) this.names.set(house, 'house');
    for (const { name, address } of scenario.accounts) {
      this.name(name, address ?? ports.addressOf(name));
    }
  }

  run(): ScenarioResult {
    const { scenario, exchange } = this;
    const completed =
      this.report('set-up', START_OF_TEXT, 'list markets and credit accounts', () =>
        this.setUp(),
      ) &&
      this.steps(scenario.steps, '') &&
      this.report('expect', scenario.expect.place, 'the end', () => this.checkEnd());
    const { engine } = exchange;
    return {
      title: scenario.title,
      passed: completed && this.reports.every((report) => report.differences.length === 0),
      steps: this.reports,
      commands: engine.seq,
      chainHash: engine.chainHash(),
      stateHash: engine.stateHash(),
      journal: exchange.finish(),
      exchange: engine,
      happened: this.happened,
      invariantsHeld: this.invariantsHeld,
    };
  }

  private setUp(): Difference[] {
    const { markets, accounts, config } = this.scenario;
    const at = config.genesisTimeUs;
    const commands: Command[] = markets.map((spec) => ({ kind: 'listMarket', timeUs: at, spec }));
    for (const { name, deposit: amount, subaccount, selfTradeExpire: mode } of accounts) {
      const account = this.addressOfName(name);
      if (amount !== null) {
        const subaccountIndex = subaccount;
        commands.push({ kind: 'deposit', timeUs: at, account, subaccountIndex, amount });
      }
      if (mode !== null) {
        commands.push({ kind: 'setSelfTradeMode', timeUs: at, account, mode });
      }
    }
    return commands.flatMap((command) => this.expectOutcome('ok', command));
  }

  /** False if the run cannot continue. `suffix`: iteration of a repeat. */
  private steps(steps: readonly Step[], suffix: string): boolean {
    return steps.every((step) => {
      const { action } = step;
      if (action?.kind !== 'repeat') {
        const act = (): Difference[] => this.step(step);
        return this.report(step.path + suffix, step.place, titleOf(step), act);
      }
      for (let time = 1; time <= action.times; time += 1) {
        const which = `${suffix} (${String(time)} of ${String(action.times)})`;
        if (!this.steps(action.steps, which)) return false;
      }
      const lost = lostReferences(partsOf(step), this.saved);
      const after = (): Difference[] => [...lost, ...this.check(step.expect)];
      return this.report(step.path + suffix, step.place, titleOf(step), after);
    });
  }

  /** Executes one step and records its differences. */
  private report(path: string, place: Place, title: string, act: () => Difference[]): boolean {
    this.events = [];
    this.violations = [];
    let found: Difference[];
    let broken = false;
    try {
      found = act();
    } catch (error) {
      const expected = error instanceof InvariantError ? 'no broken invariant' : 'no exception';
      const actual = error instanceof Error ? error.message : String(error);
      found = [{ path: 'engine', expected, actual }];
      broken = true;
    }
    if (broken || this.violations.length > 0) this.invariantsHeld = false;
    const { engine } = this.exchange;
    const sinceStart = durationUs(engine.nowUs - engine.config.genesisTimeUs);
    const { events } = this;
    this.reports.push({
      path,
      place,
      title,
      at: `+${formatDuration(sinceStart)}`,
      differences: [...found, ...this.violations],
      events: () => events.map((event) => describeEvent(event, this.eventNames)),
    });
    return !broken && this.violations.length === 0;
  }

  private step(step: Step): Difference[] {
    const late = this.advance(step);
    if (late.length > 0) return late;
    const { action, expect } = step;
    const lost = lostReferences(partsOf(step), this.saved);
    if (lost.length > 0) return lost;
    const acted = action === null ? [] : this.act(action, expect);
    return [...acted, ...this.check(expect)];
  }

  private advance({ time }: Step): Difference[] {
    if (time === null) return [];
    const now = this.exchange.engine.nowUs;
    const target = time.kind === 'at' ? time.timeUs : timeUs(now + time.lengthUs);
    if (target < now) {
      const offset = formatDuration(durationUs(now - this.scenario.config.genesisTimeUs));
      return [{ path: 'at', expected: `not before now, +${offset}`, actual: 'an earlier time' }];
    }
    if (!Number.isSafeInteger(target)) {
      return [{ path: 'wait', expected: 'at most until the year 2255', actual: 'longer' }];
    }
    if (target > now) this.submit({ kind: 'advanceTime', timeUs: target });
    return [];
  }

  private act(action: Action, expect: Expectation): Difference[] {
    const atUs = this.exchange.engine.nowUs;
    const wanted = expect.outcome ?? 'ok';
    switch (action.kind) {
      case 'call':
        return this.call(action, expect);
      case 'oracle':
      case 'mark':
        return action.prices.flatMap(({ market, priceTicks, text }) =>
          this.expectOutcome(
            wanted,
            action.kind === 'oracle'
              ? { kind: 'setIndex', timeUs: atUs, market, priceTicks, text }
              : { kind: 'setMark', timeUs: atUs, market, priceTicks },
          ),
        );
      case 'fundingRate':
        return action.rates.flatMap(({ market, ratePpb }) =>
          this.expectOutcome(wanted, { kind: 'settleFunding', timeUs: atUs, market, ratePpb }),
        );
      case 'deposit':
      case 'withdraw': {
        const { kind, subaccount: subaccountIndex, amount } = action;
        const account = this.addressOfName(action.account);
        return this.expectOutcome(wanted, { kind, timeUs: atUs, account, subaccountIndex, amount });
      }
      case 'listMarket':
      case 'setMarketTerms':
      case 'setMarketStatus':
      case 'delistMarket':
        return this.operate(action, wanted);
      case 'tapeDepth':
      case 'tapeSnapshot':
      case 'tapeQuotes':
      case 'tapeTrade':
      case 'tapeGap':
      case 'tapeBar':
      case 'tapeL3':
        return this.expectOutcome(wanted, { ...action, timeUs: atUs });
      case 'command':
        return this.command(action.fields, expect.outcome);
      case 'repeat':
        return [];
    }
  }

  /** A command of the engine; its outcome is compared if one is expected. */
  private command(fields: Readonly<Record<string, unknown>>, wanted: string | null): Difference[] {
    try {
      const command = parseCommand(fields, this.exchange.engine.nowUs);
      return this.expectOutcome(wanted ?? 'ok', command);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return [{ path: 'command', expected: 'a valid command', actual: error.message }];
    }
  }

  /** An operator command. Faults of its fields are differences of the step. */
  private operate(action: OperatorAction, wanted: string): Difference[] {
    const { engine } = this.exchange;
    const context = { view: engine, nowUs: engine.nowUs, keccak: this.keccak };
    try {
      return this.expectOutcome(
        wanted,
        operatorCommand(context, action.kind, action.symbol, action.request),
      );
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return [{ path: action.kind, expected: 'a valid request', actual: error.message }];
    }
  }

  private call(action: Extract<Action, { kind: 'call' }>, expect: Expectation): Difference[] {
    const { endpoint, as, request, save } = action;
    const caller = as === null ? null : this.addressOfName(as);
    const signer = action.signer === null ? caller : this.addressOfName(action.signer);
    const [first, second] = this.scenario.markets;
    const input = buildRequest(endpoint, request, {
      caller,
      onlySymbol: second === undefined ? (first?.symbol ?? null) : null,
      cashFeedId: this.scenario.config.cashFeedId,
      resolve: this.resolve,
      nonces: this.nonces,
    });
    let reply = this.handle(endpoint, input, caller, signer);
    for (let page = 1; page < action.page; page += 1) {
      const cursor = reply.page?.next ?? null;
      if (cursor === null) {
        return [
          { path: 'page', expected: String(action.page), actual: `${String(page)} is the last` },
        ];
      }
      reply = this.handle(endpoint, { ...(input as object), cursor }, caller, signer);
    }
    if (save !== null) this.save(save, reply.body, as);
    return checkReply(reply, expect, this.matching(expect.exact));
  }

  private handle(
    endpoint: Parameters<Gateway['handle']>[0],
    input: unknown,
    caller: Address | null,
    signer: Address | null = caller,
  ): Reply {
    const known = caller === null || signer === null ? null : { account: caller, signer };
    return this.gateway.handle(endpoint, input, known);
  }

  /** Saves a response, and the name of the order that this step's events refer to. */
  private save(name: string, body: unknown, as: string | null): void {
    this.saved.set(name, { body, as });
    for (const event of this.events) {
      if (event.kind === 'orderAccepted' || event.kind === 'orderRejected') {
        this.orderNames.set(event.orderId, name);
      }
    }
  }

  private check(expect: Expectation): Difference[] {
    const options = this.matching(expect.exact);
    const isExpected = expect.events !== null;
    const events = isExpected
      ? this.events.map((event) => describeEvent(event, this.eventNames))
      : [];
    return [
      // Events name accounts; under account keys a name is not resolved.
      ...checkEvents(expect.events, events, { ...options, resolve: this.resolveName }),
      ...checkState(expect, this.access, options),
    ];
  }

  private checkEnd(): Difference[] {
    const { expect } = this.scenario;
    const found = [
      ...lostReferences(statePartsOf(expect), this.saved),
      ...checkState(expect, this.access, this.matching(false)),
    ];
    const stateHash = this.exchange.engine.stateHash();
    if (expect.stateHash !== null && expect.stateHash !== stateHash) {
      found.push({ path: 'stateHash', expected: expect.stateHash, actual: stateHash });
    }
    if (expect.checks.length === 0) return found;
    const failure = checkCommands(this.scenario.config, this.commands, { checks: expect.checks });
    if (failure !== null) {
      const { invariant, detail } = failure.violation;
      found.push({ path: `checks.${invariant}`, expected: 'holds', actual: detail });
    }
    return found;
  }

  private expectOutcome(wanted: string, command: Command): Difference[] {
    const outcome = outcomeCode(this.submit(command));
    return outcome === wanted ? [] : [{ path: 'outcome', expected: wanted, actual: outcome }];
  }

  private submit(command: Command): Outcome {
    if (this.scenario.expect.checks.length > 0) this.commands.push(command);
    const outcome = this.exchange.submit(command);
    for (const { invariant, detail } of this.checkInvariants(command)) {
      this.violations.push({ path: `invariants.${invariant}`, expected: 'holds', actual: detail });
    }
    return outcome;
  }

  /**
   * Solvency invariants after every command. All invariants after every command on exchanges of up
   * to 256 subaccounts; on larger ones after commands that affect all accounts and after every n-th
   * of the others, so that the cost is linear in the accounts.
   */
  private checkInvariants({ kind }: Command): readonly InvariantViolation[] {
    const { engine } = this.exchange;
    const stride = Math.ceil(engine.subaccountCount / ALL_INVARIANTS_UP_TO);
    const isDue = engine.seq % stride === 0 || !OF_ONE_ACCOUNT.has(kind);
    return isDue ? engine.checkInvariants() : engine.checkSolvency();
  }

  private name(name: string, account: Address): void {
    this.addresses.set(name, account);
    this.names.set(account, name);
  }

  private addressOfName(name: string): Address {
    const known = this.addresses.get(name);
    // The parser allows declared names only.
    if (known === undefined) throw new InvariantError('an undeclared account is used');
    return known;
  }

  private readonly nameOf = (account: string): string => this.names.get(account) ?? account;

  /** Resolves a text: an account's name under an address key, a saved value, or the text itself. */
  private readonly resolve = (text: string, key: string | null): unknown => {
    if (isAddressKey(key) && this.addresses.has(text)) return this.addresses.get(text);
    const reference = parseReference(text);
    if (reference === null) return unescapeDollar(text);
    return followReference(this.saved.get(reference.name)?.body, reference.parts);
  };

  private readonly resolveName = (text: string): unknown => this.resolve(text, null);

  private readonly show = (value: unknown): string => {
    const text = showValue(value);
    return text.replaceAll(/0x[0-9a-f]{40}\b/g, (found) => this.nameOf(found));
  };

  private matching(exact: boolean): MatchOptions {
    return { exact, resolve: this.resolve, show: this.show };
  }

  private get eventNames(): Parameters<typeof describeEvent>[1] {
    return {
      engine: this.exchange.engine,
      nameOf: this.nameOf,
      orderName: (id) => this.orderNames.get(id) ?? id,
    };
  }

  private get access(): StateAccess {
    return {
      engine: this.exchange.engine,
      addressOfName: (name) => this.addressOfName(name),
      recordOf: (name) => {
        const saved = this.saved.get(name);
        if (saved === undefined) return undefined;
        const orderId = followReference(saved.body, ['orderId']);
        const caller = saved.as === null ? null : this.addressOfName(saved.as);
        return this.handle('getOrder', { orderId }, caller).body;
      },
      positionsOf: (name) => {
        const account = this.addressOfName(name);
        return this.handle('getPositions', { account, subaccountIndex: 0 }, account).body;
      },
    };
  }
}

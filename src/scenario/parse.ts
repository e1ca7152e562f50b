/**
 * Parses text to a scenario. All faults of the text are found here, with their places: first shape,
 * then names, units and times. Only responses, events and state can fail at run time.
 */
import { suggest } from '../base/suggest.ts';
import { ENDPOINTS, findEndpoint, type Endpoint } from '../contract/endpoints.ts';
import type { SelfTradeMode } from '../engine/config.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../gateway/exchange-config.ts';
import type { Keccak } from '../gateway/ports.ts';
import { CHECK_NAMES } from '../fuzz/checks/checks.ts';
import {
  address as addressOf,
  timeUs,
  type Address,
  type Quanta,
  type TimeUs,
} from '../num/units.ts';
import { checkDraw, drawsIn, withDrawnValues } from './draw.ts';
import { parseAction, type Names } from './parse-action.ts';
import { parseSetting } from './parse-setting.ts';
import { MAX_SUBACCOUNT, SCENARIO_SHAPE, SYSTEM_NAMES, VERB_FIELDS } from './language.ts';
import { misplacedExpectations, type Misplaced } from './misplaced.ts';
import { fieldOf, isEmptyMap, listItems, listOf, mapOf, numberOf, textOf } from './node-fields.ts';
import { readYaml } from './read-yaml.ts';
import { referencesIn } from './reference.ts';
import type {
  AccountEntry,
  Expectation,
  FinalExpectation,
  Scenario,
  StateExpectation,
  Step,
  StepTime,
} from './scenario.ts';
import { checkShape } from './shape.ts';
import {
  childPath,
  itemPath,
  START_OF_TEXT,
  type ListNode,
  type MapNode,
  type Place,
  type Problem,
  type SourceNode,
} from './source-node.ts';
import { parseDuration, parseTime } from '../num/time-text.ts';
import { parseMoney } from './units-text.ts';

export type ParseResult =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** `file`: name of the scenario in messages. */
export function parseScenario(text: string, file: string, keccak: Keccak): ParseResult {
  const read = readYaml(text);
  if (!read.ok) return read;
  const problems: Problem[] = [];
  checkShape(read.root, SCENARIO_SHAPE, '', problems);
  if (problems.length > 0 || read.root.kind !== 'map') return { ok: false, problems };
  const scenario = new Parser(problems).scenario(read.root, file, keccak);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, scenario };
}

/** Max number of steps of a run, including repeats. */
export const MAX_STEPS = 100_000;

/** Parses a document whose shape was checked; collects semantic faults. */
class Parser {
  private readonly problems: Problem[];
  private readonly saved = new Set<string>();
  /** Names of accounts by their given addresses. */
  private readonly addresses = new Map<string, string>();
  private names: Names = { accounts: new Set(), markets: [] };
  /** Number of accounts of each crowd, by name. */
  private readonly crowds = new Map<string, number>();
  /** Steps of crowds so far, one for each member. */
  private crowdSteps = 0;
  private startUs = timeUs(0);
  private seed = 1;

  constructor(problems: Problem[]) {
    this.problems = problems;
  }

  scenario(root: MapNode, file: string, keccak: Keccak): Scenario {
    this.startUs = this.time(root, 'start') ?? DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
    this.seed = numberOf(root, 'seed') ?? 1;
    const { config, markets } = parseSetting(root, this.startUs, keccak, this.problems);
    const accounts = this.accounts(mapOf(root, 'accounts'));
    this.names = { accounts: new Set(accounts.map(({ name }) => name)), markets };
    const steps = this.steps(listOf(root, 'steps'), 'steps');
    if (Math.max(this.crowdSteps, stepsIn(steps)) > MAX_STEPS) {
      const message = `more than ${String(MAX_STEPS)} steps, repeats counted`;
      this.refuse(this.valuePlace(root, 'steps'), 'steps', message);
    }
    return {
      file,
      title: textOf(root, 'title') ?? file,
      rules: listItems(root, 'rules'),
      about: textOf(root, 'about') ?? '',
      seed: this.seed,
      config,
      markets,
      accounts,
      steps,
      expect: this.finalExpectation(mapOf(root, 'expect')),
    };
  }

  private accounts(map: MapNode | null): AccountEntry[] {
    return [...(map?.entries ?? [])].flatMap(([name, { keyPlace, value }]) => {
      const path = childPath('accounts', name);
      if (SYSTEM_NAMES.some((system) => system === name)) {
        this.refuse(keyPlace, path, `"${name}" is a system account; choose another name`);
      }
      const fields = value.kind === 'map' ? value : null;
      const mode = numberOf(fields, 'selfTradeExpire');
      const count = numberOf(fields, 'count');
      const drawn = this.checkedDraws(fields, path, count !== null, 'needs a crowd: give "count"');
      const entry = {
        name,
        address: this.address(fields, name, path),
        deposit: drawn ? null : parseMoney(fields, 'deposit', path, this.problems),
        subaccount: numberOf(fields, 'subaccount') ?? 0,
        // The shape allows 0, 1 and 2 only.
        selfTradeExpire: mode as SelfTradeMode | null,
      };
      if (count === null) return [entry];
      this.crowds.set(name, count);
      const members = membersOf(name, count);
      const twice = members.find((member) => map?.entries.has(member) === true);
      if (twice !== undefined)
        this.refuse(keyPlace, path, `has a member "${twice}", which is another account`);
      return members.map((member) => ({
        ...entry,
        name: member,
        deposit: drawn ? this.drawnDeposit(fields, member, path) : entry.deposit,
      }));
    });
  }

  /** An address is of one account: not of a crowd, and of no account before. */
  private address(fields: MapNode | null, name: string, path: string): Address | null {
    const text = textOf(fields, 'address');
    if (text === null || fields === null) return null;
    const place = this.keyPlace(fields, 'address');
    if (numberOf(fields, 'count') !== null) {
      this.refuse(place, path, 'an address belongs to one account, not to a crowd');
    }
    const known = this.addresses.get(text);
    if (known !== undefined) this.refuse(place, path, `has the address of "${known}"`);
    this.addresses.set(text, name);
    return addressOf(text);
  }

  /** Whether there are draws. Records their faults; outside a crowd each draw is a fault. */
  private checkedDraws(
    map: MapNode | null,
    path: string,
    inCrowd: boolean,
    outside: string,
  ): boolean {
    const draws = map === null ? [] : drawsIn(map, path);
    for (const draw of draws) {
      if (inCrowd) checkDraw(draw.node, draw.path, this.problems);
      else this.refuse(this.keyPlace(draw.node, 'draw'), draw.path, `a draw ${outside}`);
    }
    return draws.length > 0;
  }

  /** Null on a fault; the first member's faults represent all. */
  private drawnDeposit(fields: MapNode | null, member: string, path: string): Quanta | null {
    if (this.problems.length > 0 || fields === null) return null;
    const drawn = withDrawnValues(fields, this.seed, member);
    return parseMoney(drawn, 'deposit', path, this.problems);
  }

  private steps(list: ListNode | null, path: string): Step[] {
    return (list?.items ?? []).flatMap((node, i) =>
      node.kind === 'map' ? this.stepsOf(node, itemPath(path, i)) : [],
    );
  }

  /** The step itself; for a crowd, one step per member, with the time advance before the first. */
  private stepsOf(node: MapNode, path: string): Step[] {
    const as = textOf(node, 'as') ?? '';
    const count = this.crowds.get(as);
    const step = this.step(node, path);
    if (count === undefined || step.action?.kind !== 'call') return [step];
    if (step.action.save !== null) {
      this.refuse(
        this.keyPlace(node, 'save'),
        path,
        'a crowd has many responses; they cannot be saved',
      );
    }
    const { action } = step;
    const { request } = action;
    const drawn = this.problems.length === 0 && request !== null && drawsIn(request, '').length > 0;
    // Beyond the limit the members' steps are counted only: millions of them would fill the memory.
    this.crowdSteps += count;
    if (this.crowdSteps > MAX_STEPS) return [step];
    return membersOf(as, count).map((member, i) => ({
      ...step,
      time: i === 0 ? step.time : null,
      note: step.note === null ? null : `${member}: ${step.note}`,
      action: {
        ...action,
        as: member,
        request: drawn ? withDrawnValues(request, this.seed, member) : request,
      },
    }));
  }

  private step(node: MapNode, path: string): Step {
    const verbs = Object.keys(VERB_FIELDS).filter((verb) => node.entries.has(verb));
    const [verb, second] = verbs;
    if (second !== undefined) {
      const place = this.keyPlace(node, second);
      this.refuse(
        place,
        path,
        `a step has one action: split "${String(verb)}" and "${second}" into two steps`,
      );
    }
    const time = this.stepTime(node, path);
    const misplaced = misplacedExpectations(verb, textOf(node, 'do'));
    const expectation = this.expectation(
      mapOf(node, 'expect'),
      childPath(path, 'expect'),
      misplaced,
    );
    if (verb !== 'do') {
      for (const key of ['as', 'signer', 'with', 'page', 'save']) {
        if (node.entries.has(key)) {
          this.refuse(this.keyPlace(node, key), path, `"${key}" belongs to a step with "do"`);
        }
      }
    }
    return {
      place: node.place,
      path,
      note: textOf(node, 'note'),
      time,
      action: this.action(node, verb, path),
      expect: expectation,
    };
  }

  private action(node: MapNode, verb: string | undefined, path: string): Step['action'] {
    if (verb === undefined) return null;
    if (verb === 'repeat') {
      for (const key of ['wait', 'at']) {
        if (!node.entries.has(key)) continue;
        const message = `move "${key}" to a step before the "repeat" or within it`;
        this.refuse(this.keyPlace(node, key), path, message);
      }
      const repeat = mapOf(node, 'repeat');
      return {
        kind: 'repeat',
        times: numberOf(repeat, 'times') ?? 1,
        steps: this.steps(listOf(repeat, 'steps'), childPath(path, 'repeat.steps')),
      };
    }
    if (verb !== 'do') return parseAction(node, verb, path, this.names, this.problems);
    const endpoint = findEndpoint(textOf(node, 'do') ?? '');
    if (endpoint === undefined) return null;
    const as = textOf(node, 'as');
    if (as !== null && !this.crowds.has(as)) {
      this.knownAccount(as, this.valuePlace(node, 'as'), childPath(path, 'as'));
    }
    const signer = textOf(node, 'signer');
    if (signer !== null) {
      this.knownAccount(signer, this.valuePlace(node, 'signer'), childPath(path, 'signer'));
      if (as === null) {
        this.refuse(this.keyPlace(node, 'signer'), path, '"signer" needs "as", the account');
      }
    }
    const request = mapOf(node, 'with');
    if (request !== null) this.knownReferences(request, childPath(path, 'with'));
    const inCrowd = as !== null && this.crowds.has(as);
    this.checkedDraws(request, childPath(path, 'with'), inCrowd, 'needs a crowd in "as"');
    const save = textOf(node, 'save');
    if (save !== null) this.saved.add(save);
    const page = numberOf(node, 'page') ?? 1;
    if (page > 1 && (ENDPOINTS[endpoint] as Endpoint).pages === undefined) {
      this.refuse(this.valuePlace(node, 'page'), path, `${endpoint} has no pages`);
    }
    return { kind: 'call', endpoint, as, signer, request, page, save };
  }

  private stepTime(node: MapNode, path: string): StepTime | null {
    const wait = textOf(node, 'wait');
    const at = textOf(node, 'at');
    if (wait !== null && at !== null) {
      this.refuse(this.keyPlace(node, 'at'), path, 'a step has "wait" or "at", not both');
    }
    if (wait !== null) {
      const lengthUs = parseDuration(wait);
      if (lengthUs !== null) return { kind: 'wait', lengthUs };
      this.refuse(this.valuePlace(node, 'wait'), childPath(path, 'wait'), 'is too long');
    }
    if (at === null) return null;
    const place = this.valuePlace(node, 'at');
    const offset = at.startsWith('+') ? parseDuration(at.slice(1)) : null;
    const moment = offset === null ? parseTime(at) : timeUs(this.startUs + offset);
    if (moment === null) {
      this.refuse(place, childPath(path, 'at'), `${at} is not a time from 1970 to 2199`);
      return null;
    }
    return { kind: 'at', timeUs: moment };
  }

  private expectation(map: MapNode | null, path: string, misplaced: Misplaced): Expectation {
    if (map !== null) {
      if ([...map.entries.keys()].every((key) => key === 'exact')) {
        this.refuse(map.place, path, 'compares nothing; name what is expected');
      }
      for (const [key, owner] of misplaced) {
        if (!map.entries.has(key)) continue;
        this.refuse(this.keyPlace(map, key), path, `"${key}" belongs to ${owner}`);
      }
      if (map.entries.has('body') && map.entries.has('error')) {
        this.refuse(this.keyPlace(map, 'error'), path, 'a response is a "body" or an "error"');
      }
      this.refusedIsClear(map, path);
      this.knownReferences(map, path);
    }
    const isExact = textOf(map, 'exact') === 'true';
    const events = map?.entries.get('events')?.value;
    if (events?.kind === 'list' && events.items.length === 0 && !isExact) {
      const message = 'other events may occur beside these; "exact: true" expects none';
      this.refuse(events.place, childPath(path, 'events'), message);
    }
    if (!isExact) {
      const body = fieldOf(map, 'body');
      if (body !== null) this.nowhereEmpty(body, childPath(path, 'body'));
      const items = events?.kind === 'list' ? events.items : [];
      const at = childPath(path, 'events');
      for (const [k, item] of items.entries()) this.nowhereEmpty(item, itemPath(at, k));
    }
    return {
      exact: isExact,
      status: numberOf(map, 'status'),
      refused: textOf(map, 'refused') === 'true',
      body: fieldOf(map, 'body'),
      error: textOf(map, 'error'),
      more: fieldOf(map, 'more'),
      keptSince: fieldOf(map, 'keptSince'),
      outcome: textOf(map, 'outcome'),
      events: fieldOf(map, 'events'),
      ...this.stateExpectation(map, path),
    };
  }

  /** A status beside it, or false, would not be compared. */
  private refusedIsClear(map: MapNode, path: string): void {
    const refused = textOf(map, 'refused');
    if (refused === null) return;
    if (refused === 'false') {
      const message = 'a response is expected to succeed; write true or omit the key';
      this.refuse(this.valuePlace(map, 'refused'), childPath(path, 'refused'), message);
    } else if (map.entries.has('status')) {
      const message = '"refused" is an error of any status; give "status" or "refused"';
      this.refuse(this.keyPlace(map, 'refused'), path, message);
    }
  }

  private finalExpectation(map: MapNode | null): FinalExpectation {
    if (map !== null) this.knownReferences(map, 'expect');
    if (textOf(map, 'invariants') === 'false') {
      const message = 'invariants always hold; write true or omit the key';
      this.refuse(this.valuePlace(map, 'invariants'), 'expect.invariants', message);
    }
    if (map !== null) this.notEmpty(map, 'expect');
    const items = listItems(map, 'checks');
    return {
      place: map?.place ?? START_OF_TEXT,
      ...this.stateExpectation(map, 'expect'),
      // The shape allows only these words.
      checks: CHECK_NAMES.filter((name) => items.includes(name)),
      stateHash: textOf(map, 'stateHash'),
    };
  }

  private stateExpectation(map: MapNode | null, path: string): StateExpectation {
    const records = mapOf(map, 'records');
    for (const [name, { keyPlace }] of records?.entries ?? []) {
      this.knownSaved(name, keyPlace, childPath(path, 'records'));
    }
    const balances = mapOf(map, 'balances');
    const at = childPath(path, 'balances');
    for (const [owner, { keyPlace }] of balances?.entries ?? []) {
      const [name = owner, index = '0'] = owner.split('/');
      if (SYSTEM_NAMES.some((system) => system === owner)) continue;
      this.knownAccount(name, keyPlace, at);
      if (Number(index) <= MAX_SUBACCOUNT) continue;
      this.refuse(keyPlace, at, `subaccount ${index} must be at most ${String(MAX_SUBACCOUNT)}`);
    }
    const positions = mapOf(map, 'positions');
    for (const [name, { keyPlace, value }] of positions?.entries ?? []) {
      this.knownAccount(name, keyPlace, childPath(path, 'positions'));
      if (value.kind === 'map') this.knownMarkets(value, childPath(path, `positions.${name}`));
    }
    const book = mapOf(map, 'book');
    if (book !== null) this.knownMarkets(book, childPath(path, 'book'));
    for (const [key, value] of Object.entries({ records, balances, positions, book })) {
      if (value !== null) this.notEmpty(value, childPath(path, key));
    }
    for (const [key, byName] of Object.entries({ positions, book })) {
      for (const [name, { value }] of byName?.entries ?? []) {
        this.notEmpty(value, childPath(childPath(path, key), name));
      }
    }
    for (const [name, { value }] of records?.entries ?? []) {
      this.nowhereEmpty(value, childPath(childPath(path, 'records'), name));
    }
    return { records, balances, positions, book };
  }

  /** Refuses an empty map of expectations, which no state can fail. */
  private notEmpty(value: SourceNode, path: string): void {
    if (isEmptyMap(value))
      this.refuse(value.place, path, 'an empty map compares nothing; name what is expected');
  }

  /** The same for the maps within a value. An item of a list counts for the list's length. */
  private nowhereEmpty(value: SourceNode, path: string): void {
    this.notEmpty(value, path);
    if (value.kind === 'list') {
      for (const [i, item] of value.items.entries()) {
        if (!isEmptyMap(item)) this.nowhereEmpty(item, itemPath(path, i));
      }
    } else if (value.kind === 'map') {
      for (const [key, { value: field }] of value.entries) {
        this.nowhereEmpty(field, childPath(path, key));
      }
    }
  }

  private knownAccount(name: string, place: Place, path: string): void {
    if (this.names.accounts.has(name)) return;
    const hint = suggest(name, this.names.accounts);
    this.refuse(place, path, `"${name}" is not among the accounts of this scenario${hint}`);
  }

  private knownSaved(name: string, place: Place, path: string): void {
    if (this.saved.has(name)) return;
    const hint = suggest(name, this.saved);
    this.refuse(place, path, `no earlier step saves "${name}"${hint}`);
  }

  private knownMarkets(map: MapNode, path: string): void {
    const symbols = this.names.markets.map(({ symbol }) => symbol);
    for (const [symbol, { keyPlace }] of map.entries) {
      if (symbols.includes(symbol)) continue;
      const hint = suggest(symbol, symbols);
      this.refuse(keyPlace, path, `"${symbol}" is not among the markets of this scenario${hint}`);
    }
  }

  private knownReferences(map: MapNode, path: string): void {
    for (const { name, place } of referencesIn(map)) this.knownSaved(name, place, path);
  }

  private time(map: MapNode, key: string): TimeUs | null {
    const text = textOf(map, key);
    if (text === null) return null;
    const time = parseTime(text);
    if (time === null) {
      this.refuse(this.valuePlace(map, key), key, `${text} is not a time from 1970 to 2199`);
    }
    return time;
  }

  private keyPlace(map: MapNode, key: string): Place {
    return map.entries.get(key)?.keyPlace ?? map.place;
  }

  private valuePlace(map: MapNode | null, key: string): Place {
    return fieldOf(map, key)?.place ?? map?.place ?? START_OF_TEXT;
  }

  private refuse(place: Place, path: string, message: string): void {
    this.problems.push({ place, path, message });
  }
}

function membersOf(crowd: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${crowd}-${String(i + 1)}`);
}

/** A repetition without steps counts as one step, since it takes time too. */
function stepsIn(steps: readonly Step[]): number {
  return steps.reduce((sum, { action }) => {
    const isRepeat = action?.kind === 'repeat';
    return sum + (isRepeat ? action.times * Math.max(1, stepsIn(action.steps)) : 1);
  }, 0);
}

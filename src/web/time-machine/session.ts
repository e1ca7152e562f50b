/** An open journal in the worker: what the page can ask of it. */
import type { ExchangeView } from '../../engine/read/views.ts';
import { wholeFrames } from '../../journal/format/bare-frames.ts';
import { headerSize } from '../../journal/format/header.ts';
import { timeUs } from '../../num/units.ts';
import { Timeline, type TimelineProgress } from '../../time-machine/timeline.ts';
import { flagNames, STEP_FLAGS, type StepFlag } from '../../time-machine/index/step-flags.ts';
import { sourceOfFiles } from '../../time-machine/source/chosen-files.ts';
import { bytesInMemory, type JournalBytes } from '../../time-machine/source/journal-bytes.ts';
import type { BranchComparison } from '../../time-machine/what-if/branch.ts';
import {
  Inevitability,
  type InevitabilityCurve,
  type InevitabilityOptions,
} from '../../time-machine/what-if/inevitability.ts';
import { withNames } from '../../time-machine/views/account-names.ts';
import type { OrderLifeView } from '../../time-machine/views/order-life.ts';
import { parametersOf } from '../../time-machine/what-if/parameters.ts';
import { connect, serve, type Calls } from '../worker-link.ts';
import { executeFutures, FuturesThread, type FuturesApi } from './futures.ts';
import { runBranch } from './branch-run.ts';
import type { EditText } from './edits.ts';
import { orderHistory, ordersOf, withoutOrder, type PlacedOrders } from './order-history.ts';
import { searchEvents, type Finding } from './event-search.ts';
import { countHits, nearestHit } from './breakpoint-runs.ts';
import { compilePredicate } from '../../time-machine/expression/compile.ts';
import type { ScanOptions } from '../../time-machine/scan.ts';
import { scanAccount, type AccountScan } from './account-scan.ts';
import { bytesOfFile } from './file-bytes.ts';
import { pack, unpack } from './gzip-text.ts';
import { NearScenes } from './near-scenes.ts';
import { Slices } from './slices.ts';
import type { Scene, SceneOptions } from './scene.ts';
import type { Strip } from './scrubber.tsx';

/** A journal as the page has it. */
export type Source =
  | {
      readonly kind: 'embedded';
      /** Base64 of gzip, in pieces; `base` is empty if the journal has its first command. */
      readonly journal: readonly string[];
      readonly base: readonly string[];
    }
  | { readonly kind: 'files'; readonly files: readonly File[] };

export interface Marks {
  readonly points: readonly {
    readonly seq: number;
    readonly timeUs: number;
    readonly ticks: number;
  }[];
  /** Null if the journal begins after the listing: then each instant has it. */
  readonly tickSize: string | null;
}

export interface Opened {
  readonly baseSeq: number;
  readonly bytes: number;
}

export interface CommandRow {
  readonly seq: number;
  readonly timeUs: number;
  readonly kind: string;
  /** Kinds of what came of it. */
  readonly flags: readonly StepFlag[];
}

/** Sent while the journal is indexed. */
export interface Progress extends TimelineProgress {
  readonly kind: 'progress';
  /** After the last indexed command, once the journal is complete. */
  readonly chainHash: string | null;
}

/** An instant of a journal: another journal has another hash after the same command. */
export interface HashedPlace {
  readonly seq: number;
  readonly hash: string;
}

/** Commands between two readings of the clock. */
const BATCH = 64;
/** Work between two messages of the page. */
const SLICE_MS = 12;
const REPORT_MS = 100;
/** Commands back that count as a step. */
const STEPS = 16;

interface OpenSource {
  readonly parts: readonly JournalBytes[];
  readonly base: Uint8Array | null;
}

export class Session {
  private readonly report: (report: Progress) => void;
  private timeline: Timeline | null = null;
  private source: OpenSource = { parts: [], base: null };
  private reportedMs = 0;
  private scans = 0;
  private runs = 0;
  /** Last command that the newest run executed. */
  private runAt = 0;
  private opens = 0;
  private histories = 0;
  private lists = 0;
  private curves = 0;
  /** The curve so far. */
  private curve: (() => InevitabilityCurve) | null = null;
  /** Another thread for futures; null without one. */
  private helper: Calls<FuturesApi> | null = null;
  private searches = 0;
  private branches = 0;
  private scenes: NearScenes | null = null;
  /** The command that the page shows. */
  private shown = 0;
  private preparing = false;

  constructor(report: (report: Progress) => void) {
    this.report = report;
  }

  /** Opens a journal and starts to index it. Throws if it is none. */
  async open(source: Source): Promise<Opened> {
    this.timeline = null;
    this.opens += 1;
    const mine = this.opens;
    const found = await sourceOf(source);
    const timeline = Timeline.open(found);
    if (mine !== this.opens) throw new Error('another journal was opened');
    this.source = found;
    this.timeline = timeline;
    this.indexSoon(timeline);
    return { baseSeq: timeline.baseSeq, bytes: timeline.progress.totalBytes };
  }

  /** Indexes a few milliseconds at a time; calls of the page come in between. */
  private indexSoon(timeline: Timeline): void {
    setTimeout(() => {
      if (this.timeline !== timeline) return;
      const until = performance.now() + SLICE_MS;
      let progress = timeline.index(BATCH);
      while (!progress.complete && performance.now() < until) progress = timeline.index(BATCH);
      if (progress.complete || performance.now() - this.reportedMs > REPORT_MS) {
        this.reportedMs = performance.now();
        const chainHash = progress.complete ? timeline.hashAt(progress.seq) : null;
        this.report({ kind: 'progress', ...progress, chainHash });
      }
      if (!progress.complete) this.indexSoon(timeline);
    }, 0);
  }

  /** The state after a command, or after the last one if there are fewer. */
  seek(seq: number, options: SceneOptions): Scene {
    const timeline = this.mustTimeline();
    const { progress } = timeline;
    const last = progress.complete ? progress.seq : Infinity;
    if (this.scenes?.timeline !== timeline) this.scenes = new NearScenes(timeline);
    const scene = this.scenes.show(clamp(seq, timeline.baseSeq, last), options);
    // A reader who steps back goes on: the next state is restored meanwhile.
    if (this.shown - scene.seq > 0 && this.shown - scene.seq <= STEPS) this.prepare();
    this.shown = scene.seq;
    return scene;
  }

  /** Shows a command, and returns the scenes beside it: a step to one of them waits for nothing. */
  beside(seq: number, options: SceneOptions): readonly Scene[] {
    const scene = this.seek(seq, options);
    return this.scenes?.beside(scene.seq, options) ?? [];
  }

  /** The last command at or before a time. */
  seqAt(atUs: number): number {
    return this.mustTimeline().seekTime(atUs).seq;
  }

  /** The command that printed a trade; null if the journal has no such trade. */
  seqOfTrade(id: number): number | null {
    const timeline = this.mustTimeline();
    const found = timeline.firstSeq((engine) => lastTrade(engine) >= id);
    return found > timeline.steps.lastSeq ? null : found;
  }

  /** Makes single steps backwards fast, in between calls of the page. */
  prepare(): void {
    const timeline = this.mustTimeline();
    if (this.preparing) return;
    this.preparing = true;
    setTimeout(() => {
      this.preparing = false;
      if (this.timeline !== timeline) return;
      if (timeline.prepare() || this.scenes?.prepare() === true) this.prepare();
    }, 0);
  }

  /** The nearest command of a kind after or before `seq`; null if none is indexed. */
  jump(seq: number, kind: StepFlag | 'event', direction: 1 | -1): number | null {
    const { steps } = this.mustTimeline();
    const mask = kind === 'event' ? ANYTHING : STEP_FLAGS[kind];
    return direction === 1 ? steps.next(seq, mask) : steps.previous(seq, mask);
  }

  strip(market: number, parts: number): Strip {
    const { steps, baseSeq } = this.mustTimeline();
    const density = steps.density(parts);
    const prices = steps.prices(market, 'mark', parts);
    const { counts, timesUs, fromSeq, width } = density;
    const byPart = new Map(
      prices.map(({ seq, last }) => [Math.floor((seq - fromSeq) / width), last]),
    );
    return {
      fromSeq: baseSeq,
      toSeq: steps.lastSeq,
      timesUs,
      commands: timesUs.map((_, i) => total(i, counts)),
      liquidations: counts.liquidation,
      prices: timesUs.map((_, i) => byPart.get(i) ?? null),
    };
  }

  /** Marks in ticks over the visible commands. */
  prices(market: number, fromSeq: number, toSeq: number, parts: number): Marks {
    const { steps } = this.mustTimeline();
    const points = steps
      .prices(market, 'mark', parts, fromSeq, toSeq)
      .map(({ seq, last }) => ({ seq, timeUs: steps.timeNear(seq), ticks: last }));
    return { points, tickSize: steps.tickSizeOf(market) };
  }

  /** Commands around an instant, without executing them. */
  around(seq: number, before: number, after: number): readonly CommandRow[] {
    const timeline = this.mustTimeline();
    const { steps, baseSeq } = timeline;
    const from = Math.max(baseSeq + 1, seq - before);
    const rows: CommandRow[] = [];
    const stream = timeline.framesAfter(from - 1);
    for (let frame = stream.next(); frame !== null; frame = stream.next()) {
      if (frame.seq > seq + after) break;
      if (frame.kind !== 'command' || frame.seq < from) continue;
      const { command } = frame;
      rows.push({
        seq: frame.seq,
        timeUs: command.timeUs,
        kind: command.kind,
        flags: flagNames(steps.flagsOf(frame.seq)),
      });
    }
    return rows;
  }

  /** Equity, fills and liquidations over a range; null if a newer call replaced it. */
  scan(
    subaccount: number,
    fromSeq: number,
    toSeq: number,
    points: number,
  ): Promise<AccountScan | null> {
    const timeline = this.mustTimeline();
    this.scans += 1;
    const mine = this.scans;
    const from = clamp(fromSeq, timeline.baseSeq, timeline.steps.lastSeq);
    const to = clamp(toSeq, from, timeline.steps.lastSeq);
    const isStopped = (): boolean => mine !== this.scans || this.timeline !== timeline;
    return scanAccount(timeline, subaccount, [from, to], points, isStopped);
  }

  /** Throws `ExpressionError` for an expression that is refused. */
  checkExpression(text: string): void {
    compilePredicate(text);
  }

  /**
   * The nearest command after or before `from` at which an expression begins to hold; `stopped` if
   * a newer run replaced it.
   */
  runTo(
    texts: readonly string[],
    from: number,
    direction: ScanOptions['direction'],
  ): Promise<number | 'stopped' | null> {
    this.runs += 1;
    const mine = this.runs;
    const timeline = this.mustTimeline();
    const isStopped = (): boolean => mine !== this.runs || this.timeline !== timeline;
    return nearestHit(timeline, texts, { direction, from }, isStopped, (at) => {
      this.runAt = at;
    });
  }

  /** Invariants that do not hold after a command, as sentences. */
  violationsAt(seq: number): readonly string[] {
    const { engine } = this.mustTimeline().cursorAt(seq);
    return engine
      .checkInvariants()
      .map(({ invariant, rule, says, detail }) =>
        withNames(engine, `${invariant} (${rule}): ${says}. Found instead: ${detail}`),
      );
  }

  /** Both runs of a what-if; null if a newer call replaced it. */
  branch(edits: readonly EditText[]): Promise<BranchComparison | null> {
    this.branches += 1;
    const mine = this.branches;
    const timeline = this.mustTimeline();
    return runBranch(timeline, edits, () => mine !== this.branches || this.timeline !== timeline);
  }

  /** Events with all words of a query; null if a newer search replaced it. */
  search(query: string): Promise<readonly Finding[] | null> {
    this.searches += 1;
    const mine = this.searches;
    const timeline = this.mustTimeline();
    return searchEvents(
      timeline,
      query,
      () => mine !== this.searches || this.timeline !== timeline,
    );
  }

  /** The curve of a liquidation; null if a newer call replaced it. */
  async inevitability(options: InevitabilityOptions): Promise<InevitabilityCurve | null> {
    this.curves += 1;
    const mine = this.curves;
    const timeline = this.mustTimeline();
    const work = new Inevitability(timeline, options);
    this.curve = () => work.curve();
    const isStopped = (): boolean => mine !== this.curves || this.timeline !== timeline;
    return (await executeFutures(work, this.helper, isStopped)) ? work.curve() : null;
  }

  /** The life of an order; null if a newer call replaced it. */
  orderHistory(order: number): Promise<OrderLifeView | null> {
    this.histories += 1;
    const mine = this.histories;
    const timeline = this.mustTimeline();
    return orderHistory(
      timeline,
      order,
      () => mine !== this.histories || this.timeline !== timeline,
    );
  }

  /** All orders of an account; null if a newer call replaced it. */
  ordersOf(subaccount: number): Promise<PlacedOrders | null> {
    this.lists += 1;
    const mine = this.lists;
    const timeline = this.mustTimeline();
    return ordersOf(timeline, subaccount, () => mine !== this.lists || this.timeline !== timeline);
  }

  /** Those of the places that are of this journal: the chain hash after the command is theirs. */
  async own(places: readonly HashedPlace[]): Promise<readonly HashedPlace[]> {
    const timeline = this.mustTimeline();
    const { seq: last } = timeline.progress;
    const slices = new Slices();
    const own: HashedPlace[] = [];
    for (const place of places) {
      if (place.seq < timeline.baseSeq || place.seq > last) continue;
      if (timeline.hashAt(place.seq) === place.hash) own.push(place);
      if (!(await slices.next(() => this.timeline !== timeline))) return [];
    }
    return own;
  }

  countHits(text: string): Promise<number | null> {
    const timeline = this.mustTimeline();
    return countHits(timeline, text, () => this.timeline !== timeline);
  }

  /** Journal and state before it as they are in a page: base64 of gzip. */
  async packed(): Promise<{ readonly journal: string; readonly base: string }> {
    const { parts, base } = this.source;
    const [first] = parts;
    if (first === undefined || parts.length > 1) throw new Error('several files: share them alone');
    if (first.size > MOST_SHARED) throw new Error('the journal is too large for one page');
    return {
      journal: await pack(first.read(0, first.size)),
      base: base === null ? '' : await pack(base),
    };
  }

  private mustTimeline(): Timeline {
    if (this.timeline === null) throw new Error('no journal is open');
    return this.timeline;
  }

  api() {
    return {
      open: (source: Source) => this.open(source),
      seek: (seq: number, options: SceneOptions) => this.seek(seq, options),
      beside: (seq: number, options: SceneOptions) => this.beside(seq, options),
      seqAt: (atUs: number) => this.seqAt(atUs),
      seqOfTrade: (id: number) => this.seqOfTrade(id),
      prepare: () => {
        this.prepare();
      },
      jump: (seq: number, kind: StepFlag | 'event', direction: 1 | -1) =>
        this.jump(seq, kind, direction),
      strip: (market: number, parts: number) => this.strip(market, parts),
      prices: (market: number, fromSeq: number, toSeq: number, parts: number) =>
        this.prices(market, fromSeq, toSeq, parts),
      around: (seq: number, before: number, after: number) => this.around(seq, before, after),
      scan: (subaccount: number, fromSeq: number, toSeq: number, points: number) =>
        this.scan(subaccount, fromSeq, toSeq, points),
      checkExpression: (text: string) => {
        this.checkExpression(text);
      },
      runTo: (texts: readonly string[], from: number, direction: ScanOptions['direction']) =>
        this.runTo(texts, from, direction),
      runSoFar: () => this.runAt,
      violationsAt: (seq: number) => this.violationsAt(seq),
      branch: (edits: readonly EditText[]) => this.branch(edits),
      parameters: () => parametersOf(this.mustTimeline()),
      search: (query: string) => this.search(query),
      inevitability: (options: InevitabilityOptions) => this.inevitability(options),
      curveSoFar: () => this.curve?.() ?? null,
      /** Gets the end of a channel to a thread that serves `helpOthers`. */
      takeHelper: (port: MessagePort) => {
        this.helper = connect<FuturesApi>(port, () => undefined);
      },
      helpOthers: (port: MessagePort) => {
        serve(new FuturesThread().api(), port);
      },
      orderHistory: (order: number) => this.orderHistory(order),
      ordersOf: (subaccount: number) => this.ordersOf(subaccount),
      withoutOrder: (seq: number, order: number) => withoutOrder(this.mustTimeline(), seq, order),
      own: (places: readonly HashedPlace[]) => this.own(places),
      hashAt: (seq: number) => this.mustTimeline().hashAt(seq),
      countHits: (text: string) => this.countHits(text),
      packed: () => this.packed(),
    };
  }
}

export type SessionApi = ReturnType<Session['api']>;
/** Bytes of a journal; base64 of more does not fit into a string. */
const MOST_SHARED = 256 << 20;
const ANYTHING = Object.values(STEP_FLAGS).reduce((all, flag) => all | flag, 0);

/** Id of the newest trade of any market; ids ascend over all of them. */
function lastTrade(view: ExchangeView): number {
  const newest = view
    .markets()
    .map(({ id }) => view.trades(id, timeUs(0), timeUs(view.nowUs + 1), 1).items[0]?.tradeId ?? 0);
  return Math.max(0, ...newest);
}

const clamp = (value: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, Math.trunc(value)));

const total = (part: number, counts: Readonly<Record<string, readonly number[]>>): number =>
  Object.values(counts).reduce((sum, row) => sum + (row[part] ?? 0), 0);

async function sourceOf(source: Source): Promise<OpenSource> {
  if (source.kind === 'files') {
    return sourceOfFiles(
      source.files.map((file) => ({ name: file.name, bytes: bytesOfFile(file) })),
    );
  }
  const unpacked = await unpack(source.journal);
  // Pages of commands have bare frames, and copies that the page saves have whole ones.
  const journal = bytesInMemory(headerSize(unpacked) > 0 ? unpacked : wholeFrames(unpacked));
  return { parts: [journal], base: source.base.length === 0 ? null : await unpack(source.base) };
}

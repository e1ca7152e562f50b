/**
 * Scenes near the command that the page shows. A step back would return the exchange to a mark and
 * execute up to 128 commands; while the worker is idle, the scenes before the shown one are made in
 * their order, so that a step takes one that is ready. Scenes are plain data that never change.
 */
import type { Timeline } from '../../time-machine/timeline.ts';
import { keyOf } from './scene-key.ts';
import { sceneOf, type Scene, type SceneOptions } from './scene.ts';

/** Scenes before the shown one that are made in advance. */
const AHEAD = 24;
/** Scenes that are still ready when the next ones are begun. */
const ENOUGH = 8;
/** Most kept scenes. */
const KEPT = 96;

export class NearScenes {
  readonly timeline: Timeline;
  /** Oldest first. */
  private readonly kept = new Map<string, Scene>();
  private shown: { readonly seq: number; readonly options: SceneOptions } | null = null;
  /** The scene that is made next, and the last of its series. */
  private next: { seq: number; readonly last: number } | null = null;

  constructor(timeline: Timeline) {
    this.timeline = timeline;
  }

  /** The scene after a command, or after the last one if there are fewer. */
  show(seq: number, options: SceneOptions): Scene {
    const scene = this.make(seq, options);
    if (this.shown === null || !isSame(this.shown.options, options)) this.next = null;
    this.shown = { seq: scene.seq, options };
    return scene;
  }

  /** Scenes one command before and after the shown one: the earlier one only if it is ready. */
  beside(seq: number, options: SceneOptions): readonly Scene[] {
    const { timeline } = this;
    const before = this.kept.get(keyOf(seq - 1, options));
    const last = timeline.progress.complete ? timeline.progress.seq : seq;
    const scenes = before === undefined ? [] : [before];
    if (seq < last) scenes.push(this.make(seq + 1, options));
    return scenes;
  }

  /** Makes one more scene before the shown one; false if enough are ready. */
  prepare(): boolean {
    const { shown, timeline } = this;
    if (shown === null) return false;
    const { seq, options } = shown;
    // A reader who moved elsewhere has no use for the rest of a series.
    if (this.next !== null && (this.next.seq > seq || seq - this.next.last > AHEAD)) {
      this.next = null;
    }
    if (this.next === null) {
      const low = Math.max(timeline.baseSeq, seq - AHEAD);
      let ready = seq;
      while (ready > low && this.kept.has(keyOf(ready - 1, options))) ready -= 1;
      if (ready === low || seq - ready >= ENOUGH) return false;
      this.next = { seq: Math.max(timeline.baseSeq, ready - AHEAD), last: ready - 1 };
    }
    const { next } = this;
    this.make(next.seq, options);
    next.seq += 1;
    if (next.seq > next.last) this.next = null;
    return true;
  }

  private make(seq: number, options: SceneOptions): Scene {
    const key = keyOf(seq, options);
    const scene = this.kept.get(key) ?? sceneOf(this.timeline.seek(seq), options);
    this.kept.delete(key);
    this.kept.set(key, scene);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT && oldest !== undefined) this.kept.delete(oldest);
    return scene;
  }
}

const isSame = (a: SceneOptions, b: SceneOptions): boolean => keyOf(0, a) === keyOf(0, b);

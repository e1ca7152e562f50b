/** Plays the journal at a multiple of its own time, forwards or backwards. */
import { signal } from '@preact/signals';
import { engine, lastSeq, opened, progress, scene, seekTo } from './store.ts';

/** Of the journal's time. */
export const SPEEDS = [0.01, 0.1, 1, 10, 100, 1000] as const;
export const speed = signal<number>(1);
/** 1 forwards, −1 backwards, 0 pause. */
export const playing = signal<-1 | 0 | 1>(0);

/** Playing starts again with each call, so that an older loop ends. */
let run = 0;

export function play(direction: -1 | 0 | 1): void {
  playing.value = direction;
  run += 1;
  const mine = run;
  let timeUs = scene.value?.timeUs;
  if (direction === 0 || timeUs === undefined) return;
  let before = performance.now();
  const frame = async (): Promise<void> => {
    if (mine !== run || timeUs === undefined) return;
    const now = performance.now();
    timeUs += direction * speed.value * (now - before) * 1000;
    before = now;
    const seq = await engine.seqAt(Math.round(timeUs));
    if (mine !== run) return;
    if (seq !== scene.value?.seq) seekTo(seq);
    const end = progress.value?.complete === true && seq >= lastSeq.value;
    const begin = seq <= (opened.value?.baseSeq ?? 0);
    if ((direction === 1 && end) || (direction === -1 && begin)) {
      playing.value = 0;
      return;
    }
    requestAnimationFrame(() => void frame());
  };
  requestAnimationFrame(() => void frame());
}

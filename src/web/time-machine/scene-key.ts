import type { SceneOptions } from './scene.ts';

/** The key of a scene: scenes of one key in one journal are equal. */
export const keyOf = (seq: number, { market, focus, order, accounts }: SceneOptions): string =>
  [seq, market, focus, order, accounts].join();

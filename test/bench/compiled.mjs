/**
 * Preloaded by benches: modules of `src` are those of the build in `dist`, whose engine is linked
 * (`.ci/link.mjs`), as a user runs them.
 */
import { register } from 'node:module';

register('./compiled-hooks.mjs', import.meta.url);

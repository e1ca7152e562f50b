/** Resolves each module of `src` to its build in `dist`. */
const ROOT = new URL('../../', import.meta.url).href;
const SOURCES = `${ROOT}src/`;

export async function resolve(specifier, context, nextResolve) {
  const found = await nextResolve(specifier, context);
  const [url = ''] = found.url.split('?');
  if (!url.startsWith(SOURCES) || !url.endsWith('.ts')) return found;
  const path = url.slice(SOURCES.length).replace(/ts$/, 'js');
  return { url: `${ROOT}dist/${path}`, format: 'module', shortCircuit: true };
}

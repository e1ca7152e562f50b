/** Anchors of headings as GitHub makes them, and the links of a built site that lead nowhere. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const valuesOf = (html, attribute) =>
  [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value]) =>
    value.replaceAll('&amp;', '&').replaceAll('&quot;', '"'),
  );

/** `page -> href` of each link within the site whose page, file or anchor does not exist. */
export function deadLinks(folder, base = '/') {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
    path.replaceAll('\\', '/'),
  );
  const exists = new Set(files);
  const pages = new Map(
    files
      .filter((path) => path.endsWith('.html'))
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  const anchors = new Map([...pages].map(([path, html]) => [path, new Set(valuesOf(html, 'id'))]));
  const isDead = (page, href) => {
    if (/^[a-z]+:|^\/\//.test(href)) return false;
    const [path, anchor = ''] = href.split('#').map(decodeURIComponent);
    let target = page;
    if (path.startsWith('/')) {
      if (!path.startsWith(base)) return true;
      target = path.slice(base.length);
    } else if (path !== '') target = posix.join(posix.dirname(page), path);
    if (target === '' || target.endsWith('/')) target = posix.normalize(`${target}index.html`);
    if (!exists.has(target)) return true;
    return anchor !== '' && anchors.get(target)?.has(anchor) !== true;
  };
  return [...pages].flatMap(([page, html]) =>
    [...new Set(valuesOf(html, 'href'))]
      .filter((href) => isDead(page, href))
      .map((href) => `${page} -> ${href}`),
  );
}

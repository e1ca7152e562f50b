/** The package has the pictures of the tutorial, since its reader has no clone. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const inRoot = (path: string): URL => new URL(`../../${path}`, import.meta.url);

test('the pictures of the tutorial exist, and are files of the package', () => {
  const tutorial = readFileSync(inRoot('docs/TUTORIAL.md'), 'utf8');
  const pictures = [...tutorial.matchAll(/!\[[^\]]+\]\((pictures\/[^)]+)\)/g)].map(([, at]) => at!);
  expect(pictures.length).toBeGreaterThan(2);
  const { files } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as {
    files: string[];
  };
  // Later entries win over earlier ones.
  const [out, back] = ['!docs/pictures', 'docs/pictures/tutorial-*.png'].map((entry) =>
    files.indexOf(entry),
  );
  expect(back).toBeGreaterThan(out!);
  for (const picture of pictures) {
    expect(picture).toMatch(/^pictures\/tutorial-[a-z]+\.png$/);
    expect(existsSync(inRoot(`docs/${picture}`)), picture).toBe(true);
  }
});

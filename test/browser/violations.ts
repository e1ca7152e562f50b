/** Accessibility of a page by axe-core. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Rules that the page violates, with the first elements. */
export async function violations(page: Page, only: readonly string[] = []): Promise<string[]> {
  // The policy of the page forbids scripts of others; a debugger's evaluation is allowed.
  await page.evaluate(axe.source);
  return page.evaluate(async (rules) => {
    interface Violation {
      readonly id: string;
      readonly nodes: readonly { readonly html: string }[];
    }
    const { axe: inPage } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: readonly Violation[] }> };
    };
    const found = await inPage.run(
      rules.length === 0 ? {} : { runOnly: { type: 'rule', values: rules } },
    );
    return found.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html }) => html.slice(0, 160))
          .join(' | ')}`,
    );
  }, only);
}

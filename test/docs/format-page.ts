/** Markdown as `npm run format` leaves it. */
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

export async function formatPage(text: string): Promise<string> {
  const filepath = fileURLToPath(new URL('../../docs/PAGE.md', import.meta.url));
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

/**
 * The worker of the time machine: it has the journal and the engine. The page sends calls, and
 * between two of them the journal is indexed, a few milliseconds at a time.
 */
import { serve } from '../worker-link.ts';
import { Session } from './session.ts';

const session = new Session((report) => {
  send(report);
});
const send = serve(session.api());

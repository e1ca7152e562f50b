/** `orrery bridge`: backtests whose decisions another process makes, such as a Python program. */
import type { CommandModule } from 'yargs';
import { UserError } from '../../base/user-error.ts';
import { Environment, environmentRequest, type EnvironmentRequest } from '../bridge/environment.ts';
import { withData } from '../../library/backtest/options.ts';
import { runRemote } from '../bridge/remote-strategy.ts';
import { BridgeError, Wire } from '../bridge/wire.ts';
import { EXIT, letSignalsEnd, setExitCode } from '../cli-support.ts';

export const command: CommandModule = {
  command: 'bridge',
  builder: (yargs) =>
    yargs.example(
      'python3 examples/python/cross.py sample',
      'a program that starts it (docs/PYTHON.md)',
    ),
  handler: async () => {
    process.env['TZ'] = 'UTC';
    // Reads of the input block, so that no listener of a signal would run.
    letSignalsEnd(true);
    const wire = new Wire();
    try {
      const message = wire.receive();
      switch (message?.['kind']) {
        case undefined:
          return;
        case 'environment':
          await serve(wire, environmentRequest(message));
          return;
        case 'strategy':
          await runRemote(wire, message);
          return;
        default:
          throw new BridgeError("kind: must be 'environment' or 'strategy'");
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      wire.send({ error: { code: error.code, message: error.message } });
      setExitCode(EXIT.badInput);
    }
  },
};

function serve(wire: Wire, request: EnvironmentRequest): Promise<void> {
  return withData(request.options, (options) =>
    new Environment(wire, { ...request, options }).serve(),
  );
}

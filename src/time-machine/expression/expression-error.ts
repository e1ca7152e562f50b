/** Errors of expressions. */
import { UserError } from '../../base/user-error.ts';

/** A refused expression; `position` counts characters from 0. */
export class ExpressionError extends UserError {
  override readonly name = 'ExpressionError';
  readonly code = 'expression';
  readonly position: number;

  constructor(position: number, message: string) {
    super(`column ${String(position + 1)}: ${message}`, { field: 'expression' });
    this.position = position;
  }
}

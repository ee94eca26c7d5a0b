/**
 * A rule that did not hold: its name in the reference (I9, C3, L5 …), and what was found instead.
 */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly rule: string;

  constructor(rule: string, what: string, options?: ErrorOptions) {
    super(`${rule}: ${what}`, options);
    this.rule = rule;
  }
}

/**
 * An error of a run as its violation: what a check threw as it is, everything else as a defect of
 * the core.
 */
export function asViolation(error: unknown): Violation {
  if (error instanceof Violation) return error;
  return new Violation("core", describeError(error), { cause: error });
}

export function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

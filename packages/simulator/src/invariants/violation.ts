/** A rule that did not hold: its name in the reference (I9, C3, L5 …), and what was found instead. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly rule: string;

  constructor(rule: string, what: string, options?: ErrorOptions) {
    super(`${rule}: ${what}`, options);
    this.rule = rule;
  }
}

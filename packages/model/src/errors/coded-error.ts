import { keepCode } from "./cloned-error.ts";
import { errorJson } from "./error-json.ts";

/** An error that packages export: its code stays in clones, and its JSON has its fields. */
export abstract class CodedError<C extends string = string> extends Error {
  readonly code: C;

  constructor(code: C, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    keepCode(this, code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

import { keepCode } from "../errors/cloned-error.ts";
import { errorJson } from "../errors/error-json.ts";
import { misfit, rules } from "./rules.ts";

/** Invalid arguments: a mistake in the calling program, found before anything was done. */
export class ArgumentError extends RangeError {
  override readonly name: string = "ArgumentError";
  readonly code = "INVALID_ARGUMENT";
  /** Every problem, one sentence each. */
  readonly problems: readonly string[];

  /** @param where the function or class */
  constructor(where: string, problems: readonly string[], options?: ErrorOptions) {
    if (!Array.isArray(problems)) throw new ArgumentError("ArgumentError", [misfit("problems", problems, rules.list)]);
    super(`${where}: ${problems.join("; ")}`, options);
    this.problems = problems;
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

import { CliError, type CliErrorCode } from "../cli-error.ts";

/**
 * An error of a change of members, with what to do about it: in text the second line, in JSON the
 * hint.
 */
export function refusal(code: CliErrorCode, reason: string, hint: string): CliError {
  return new CliError(`${reason}\n${hint}`, { code, plain: reason, hint });
}

export function changedMeanwhile(): CliError {
  return refusal(
    "BAD_VERSION",
    "the configuration was changed by another client meanwhile",
    "print it with member list, and try again",
  );
}

/** Parameters of queries: texts, of which each value has one form. */
import { z } from "zod";
import { refuse } from "../http/problem.ts";

/** Without a sign, leading zeros, spaces, and an exponent. */
const WHOLE = /^(0|[1-9]\d{0,15})$/;
const TIME = /^(0|-?[1-9]\d{0,15})$/;

/** A whole number. Messages and the document name its limits. */
export function wholeNumber(least: number, most: number): z.ZodType<number> {
  const isValid = (text: unknown): boolean =>
    typeof text === "string" && WHOLE.test(text) && Number(text) >= least && Number(text) <= most;
  return z
    .custom<string>(isValid, { params: { expected: `a whole number from ${least} to ${most}` } })
    .transform(Number)
    .meta({ type: "integer", minimum: least, maximum: most });
}

/** The number of a server; 0 for one without an ensemble. */
export const serverNumber: z.ZodType<number> = wholeNumber(0, 254);

/** A number of entries that lie before a page, or of the last one that is known. */
export const position: z.ZodType<number> = wholeNumber(0, Number.MAX_SAFE_INTEGER);

/** Milliseconds since 1970, as answers have them. */
export const queryTimeMs: z.ZodType<string> = z
  .custom<string>((text) => typeof text === "string" && TIME.test(text), {
    params: { expected: "milliseconds since 1970, as a whole number" },
  })
  .meta({ type: "string" });

/** @throws ProblemError for a cursor outside the tree of the root */
export function checkCursor(root: string, name: string, cursor: string | undefined): void {
  if (cursor === undefined || cursor === root || cursor.startsWith(root === "/" ? "/" : `${root}/`)) return;
  const detail = `${name}: expected ${root} or a path below it, found ${cursor}`;
  throw refuse(400, "BAD_ARGUMENTS", "The cursor is not below the path", { detail });
}

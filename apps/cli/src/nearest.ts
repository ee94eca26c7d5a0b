import { distance } from "fastest-levenshtein";

/**
 * The name that a mistyped one was probably meant to be: at most two letters differ, or it is a
 * beginning. Dashes in front count like letters.
 */
export function nearestOf(names: readonly string[], mistyped: string): string | undefined {
  const typed = mistyped.toLowerCase();
  const length = typed.replace(/^-+/, "").length;
  const steps = (known: string): number => {
    const lower = known.toLowerCase();
    return length > 1 && lower.startsWith(typed) ? 0 : distance(typed, lower);
  };
  const lengthsApart = (known: string): number => Math.abs(known.length - typed.length);
  const [nearest] = names.toSorted((a, b) => steps(a) - steps(b) || lengthsApart(a) - lengthsApart(b));
  return nearest !== undefined && steps(nearest) <= Math.min(2, Math.ceil(length / 2)) ? nearest : undefined;
}

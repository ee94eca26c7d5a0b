/**
 * The outcome of a configuration for a server: the values in force by name, or the reason why it
 * does not start.
 */
export type Outcome =
  | { readonly kind: "starts"; readonly values: ReadonlyMap<string, string> }
  | { readonly kind: "refuses"; readonly reason: string };

/** One value, or the start itself, on which two outcomes differ. */
export interface Difference {
  /** The name of the value; `start` where one of the servers refuses. */
  readonly value: string;
  readonly apache: string;
  readonly zooid: string;
}

export const START = "start";

/** Values that only one of the servers has do not count: the other one has no such setting. */
export function differences(apache: Outcome, zooid: Outcome): readonly Difference[] {
  if (apache.kind === "refuses" && zooid.kind === "refuses") return [];
  if (apache.kind === "refuses" || zooid.kind === "refuses")
    return [{ value: START, apache: startText(apache), zooid: startText(zooid) }];
  return [...apache.values].flatMap(([value, theirs]) => {
    const ours = zooid.values.get(value);
    return ours === undefined || ours === theirs ? [] : [{ value, apache: theirs, zooid: ours }];
  });
}

function startText(outcome: Outcome): string {
  return outcome.kind === "starts" ? "starts" : `refuses: ${outcome.reason}`;
}

/**
 * Members, a line each, without the client part of the own line: Apache's server fills it with its
 * client port.
 */
export function withoutOwnClient(members: string, sid: string | undefined): string {
  return members
    .split("\n")
    .map((line) => {
      const [at = "", quorum, election, role, ...rest] = line.split(" ");
      return at.startsWith(`${sid}=`) ? [at, quorum, election, role, rest.at(-1)].join(" ") : line;
    })
    .join("\n");
}

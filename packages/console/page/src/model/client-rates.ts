/** Requests a second of each session, from two lists of counts. */
import type { ClientSessionJson } from "../../../src/api/shapes.ts";

export interface ClientRate {
  readonly session: ClientSessionJson;
  readonly perSecond: number;
}

/**
 * The busiest first. Sessions that are new, or that have moved to another connection since, have no
 * rate yet.
 */
export function clientRates(
  before: readonly ClientSessionJson[],
  after: readonly ClientSessionJson[],
  seconds: number,
): readonly ClientRate[] {
  if (seconds <= 0) return [];
  const known = new Map(before.map((session) => [keyOf(session), session.received]));
  return after
    .flatMap((session): readonly ClientRate[] => {
      const last = known.get(keyOf(session));
      if (last === undefined || session.received < last) return [];
      return [{ session, perSecond: (session.received - last) / seconds }];
    })
    .sort((a, b) => b.perSecond - a.perSecond);
}

function keyOf({ id, member, establishedMs }: ClientSessionJson): string {
  return `${id} ${member} ${establishedMs}`;
}

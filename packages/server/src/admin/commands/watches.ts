import type { AdminView } from "../admin-view.ts";
import { grouped } from "../grouped.ts";
import { type Json, JsonFields, JsonItems } from "../java-json.ts";
import { dataWatches, type ListedWatch } from "../watch-listing.ts";
import type { Fields } from "./command.ts";

/** Watches listed in one answer; an answer with more says that it was cut. */
const WATCHES_MAX = 100_000;

export function watchSummary({ driver }: AdminView): Fields {
  const { dataConnectionCount, dataPathCount, dataWatchCount } = driver.replica.watches;
  return { num_connections: dataConnectionCount, num_paths: dataPathCount, num_total_watches: dataWatchCount };
}

export function watches(view: AdminView): JsonFields {
  return listing("session_id_to_watched_paths", dataWatches(view, "connections"), ({ session, path }) => [
    String(session),
    path,
  ]);
}

export function watchesByPath(view: AdminView): JsonFields {
  return listing("path_to_session_ids", dataWatches(view, "paths"), ({ session, path }) => [path, session]);
}

/** Groups at most `WATCHES_MAX` watches, and says whether there were more. */
function listing(
  name: string,
  found: Iterable<ListedWatch>,
  pairOf: (watch: NonNullable<ListedWatch>) => readonly [string, Json],
): JsonFields {
  let count = 0;
  function* pairs(): Generator<readonly [string, Json] | undefined, void, undefined> {
    for (const watch of found) {
      if (watch !== undefined && ++count > WATCHES_MAX) return;
      yield watch === undefined ? undefined : pairOf(watch);
    }
  }
  function* groups(): Generator<readonly [string, Json] | undefined, void, undefined> {
    for (const group of grouped(pairs())) {
      yield group === undefined ? undefined : [group[0], new JsonItems(group[1])];
    }
  }
  function* fields(): Generator<readonly [string, Json], void, undefined> {
    yield [name, new JsonFields(groups())];
    if (count > WATCHES_MAX) yield ["truncated", true];
  }
  return new JsonFields(fields());
}

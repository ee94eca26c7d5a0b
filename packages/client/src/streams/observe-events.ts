import type { Observable } from "rxjs";
import { Call } from "../calls/call.ts";
import { ADD_PERSISTENT_WATCH, ADD_RECURSIVE_WATCH } from "../calls/operation.ts";
import { retry } from "../calls/retry.ts";
import { isZkError } from "../errors.ts";
import { checkedPath, underRoot, withoutRoot } from "../operations/paths.ts";
import type { SessionDriver } from "../session/session-driver.ts";
import type { WatchEvent } from "../watches/watch-event.ts";
import type { Watcher } from "../watches/watch-registry.ts";
import { rxjs } from "./rxjs-module.ts";

/** Events may have been missed: the caller reads everything of interest again. */
export interface Resync {
  readonly type: "resync";
}

export interface EventsOptions {
  /**
   * `persistent`: the node itself, and its list of children. `persistent-recursive`: the node and
   * its descendants, where a child that is created or deleted is reported by its own path. Default
   * `persistent`.
   */
  readonly mode?: "persistent" | "persistent-recursive";
}

const RESYNC: Resync = Object.freeze({ type: "resync" });
/** The protocol's numbers of the modes. */
const MODE = { persistent: 0, "persistent-recursive": 1 } as const;
const KIND = { persistent: "persistent", "persistent-recursive": "recursive" } as const;

/** One watcher for each subscriber, one persistent watch for all of them at the server. */
export function observeEvents(
  driver: SessionDriver,
  { root, path, mode = "persistent" }: { readonly root: string; readonly path: string } & EventsOptions,
): Observable<WatchEvent | Resync> {
  return new (rxjs().Observable)((subscriber) => {
    const full = underRoot(root, checkedPath(path, "events$"));
    const fail = (error: unknown): void => {
      if (isZkError(error, "CLIENT_CLOSED")) subscriber.complete();
      else subscriber.error(error);
    };
    const watcher: Watcher = {
      rearms: true,
      fire: (event) => subscriber.next(root === "/" ? event : { ...event, path: withoutRoot(root, event.path) }),
      end: fail,
    };
    let isArmed = false;
    let call: Call<number, void>;
    const arm = (): void => {
      call = new Call(
        {
          operation: mode === "persistent" ? ADD_PERSISTENT_WATCH : ADD_RECURSIVE_WATCH,
          path: full,
          shownPath: path,
          body: MODE[mode],
          watcher,
          options: { retry: retry.forever(100) },
          isOwn: true,
        },
        () => {
          isArmed = true;
        },
        (error) => {
          // The connection that refused is left; the next server is asked again.
          if (isZkError(error, "SESSION_EXPIRED") && driver.end === undefined) arm();
          else fail(error);
        },
      );
      driver.submit(call);
    };
    const unlisten = driver.listen({
      established: () => {
        if (isArmed) subscriber.next(RESYNC);
      },
      ended: fail,
    });
    arm();
    return () => {
      unlisten();
      driver.withdraw(call);
      driver.unwatch(KIND[mode], full, watcher);
    };
  });
}

/** The way back of a return: its export goes, and the ensemble serves its clients again. */
import { lasting, passing } from "../obstacles.ts";
import type { Answer, Asking, Reply, Yielded } from "./action.ts";
import { answering, leaderOf, runningObstacles, stoppedObstacles } from "./judge.ts";
import type { Obstacle } from "./obstacle.ts";

type Steps<T> = Generator<Yielded, T, Reply>;

const LOOK_MS = 15_000;
const OPEN_MS = 60_000;
const POLL_MS = 200;

/** Undoes what this process has done. @returns what could not be undone */
export function* undo(asking: Asking): Steps<readonly Obstacle[]> {
  const dropped = yield* asking.ask({ kind: "drop", withinMs: LOOK_MS });
  // An export that stays could be started from while clients are served here.
  if (dropped.kind === "failed")
    return [
      lasting("directory-unusable", `the export is not removed, and the ensemble stays closed: ${dropped.reason}`),
    ];
  yield { event: { kind: "undone", what: "dropped" } };
  const apache = yield* asking.ask({ kind: "look-apache", withinMs: LOOK_MS });
  if (apache.kind === "failed") return [lasting("request-failed", apache.reason)];
  const running = runningObstacles(apache.value);
  if (running.length > 0) return running;
  return yield* open(asking);
}

export type ReopenVerdict =
  /** Clients are served. */
  | { readonly kind: "reopened"; readonly isRepeat: boolean }
  /** Nothing was changed. */
  | { readonly kind: "not-reopened"; readonly obstacles: readonly Obstacle[] };

/** `migrate return --abort`: of whatever process the return was. */
export function* reopen(asking: Asking, { isConfirmed }: { readonly isConfirmed: boolean }): Steps<ReopenVerdict> {
  const members = yield* asking.ask({ kind: "look-members", withinMs: LOOK_MS });
  if (members.kind === "failed") return refused(lasting("request-failed", members.reason));
  const found = answering(members.value);
  const neverOpened = found.find(({ clients, sids }) => clients === "closed" && sids !== undefined);
  if (neverOpened !== undefined)
    return refused(
      lasting(
        "never-opened",
        `${neverOpened.name} has served no clients since its ensemble was founded: no return has closed it`,
      ),
    );
  const leader = leaderOf(members.value);
  if (leader === undefined)
    return refused(lasting("members-no-leader", "no server of --members leads: a quorum has to run"));
  if (leader.clients === "open") return { kind: "reopened", isRepeat: true };
  const apache = yield* asking.ask({ kind: "look-apache", withinMs: LOOK_MS });
  if (apache.kind === "failed") return refused(lasting("request-failed", apache.reason));
  const obstacles = stoppedObstacles(apache.value);
  if (obstacles.length > 0) return { kind: "not-reopened", obstacles };
  if (!isConfirmed) {
    const answer = yield* asking.ask({ kind: "confirm", withinMs: Number.POSITIVE_INFINITY });
    if (answer.kind === "failed") return refused(lasting("interrupted", answer.reason));
    if (!answer.value) return refused(lasting("not-confirmed", "nothing is changed"));
  }
  const problems = yield* open(asking);
  return problems.length === 0 ? { kind: "reopened", isRepeat: false } : { kind: "not-reopened", obstacles: problems };
}

function refused(obstacle: Obstacle): ReopenVerdict {
  return { kind: "not-reopened", obstacles: [obstacle] };
}

/**
 * Until a member says that it is open: the answer to a request may be lost, and a leader change.
 */
function* open(asking: Asking): Steps<readonly Obstacle[]> {
  const untilMs = asking.nowMs + OPEN_MS;
  for (;;) {
    const opened: Answer<"open"> = yield* asking.ask({ kind: "open", withinMs: LOOK_MS });
    if (opened.kind === "done") break;
    const members: Answer<"look-members"> = yield* asking.ask({ kind: "look-members", withinMs: LOOK_MS });
    if (members.kind === "done" && answering(members.value).some(({ clients }) => clients === "open")) break;
    if (asking.nowMs >= untilMs)
      return [passing("request-failed", `the ensemble is not known to be open: ${opened.reason}`)];
    yield* asking.ask({ kind: "wait", ms: POLL_MS, withinMs: LOOK_MS });
  }
  yield { event: { kind: "undone", what: "opened" } };
  return [];
}

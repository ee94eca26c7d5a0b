/**
 * The way back to Apache, as far as it is needed by what is seen: the members drop an installed
 * state, Apache's servers are started and their client ports opened, removed voters return, and the
 * follower follows again.
 */

import { lasting } from "../obstacles.ts";
import type { Answer, Reply, Yielded } from "./action.ts";
import type { Asking } from "./asking.ts";
import type { FollowerFacts, MemberFacts } from "./facts.ts";
import { closedAgainObstacle } from "./judge.ts";
import type { Obstacle } from "./obstacle.ts";

export interface AbortOptions {
  /** Whether the members may have been asked to open: then they say first that they have not. */
  readonly mayBeOpen: boolean;
}

type Steps<T> = Generator<Yielded, T, Reply>;

const LOOK_MS = 15_000;
/** Apache's servers start, and elect a leader. */
const RELEASE_MS = 60_000;
const VOTERS_BACK_MS = 120_000;

/** @returns what could not be undone; the first problem `member-open`: nothing was done */
export function* abort(asking: Asking, { mayBeOpen }: AbortOptions): Steps<readonly Obstacle[]> {
  const problems: Obstacle[] = [];
  const members = yield* asking.ask({ kind: "look-members", withinMs: LOOK_MS });
  const follower = yield* asking.ask({ kind: "look-follower", withinMs: LOOK_MS });
  const dropped = yield* drop(asking, members, follower);
  if (dropped !== undefined) {
    if (dropped.code === "member-open" || mayBeOpen) return [dropped];
    problems.push(dropped);
  }
  const released = yield* asking.ask({ kind: "run", command: "release", addresses: [], withinMs: RELEASE_MS });
  if (released.kind === "failed") problems.push(problem(released.reason));
  else {
    const faults = released.value.filter(({ fault }) => fault !== undefined);
    for (const { address, fault } of faults)
      problems.push(lasting("command-failed", `--release at ${address}: ${fault}`));
    if (faults.length === 0) yield { event: { kind: "undone", what: "released" } };
  }
  if (follower.kind === "failed") problems.push(problem(follower.reason));
  else yield* followAgain(asking, follower.value, problems);
  return problems;
}

/** Members drop what may be installed. @returns why they do not */
function* drop(
  asking: Asking,
  members: Answer<"look-members">,
  follower: Answer<"look-follower">,
): Steps<Obstacle | undefined> {
  const found: readonly MemberFacts[] = members.kind === "done" ? members.value : [];
  const open = found.find(({ clients }) => clients === "open");
  if (open !== undefined)
    return lasting("member-open", `${open.name} serves clients already: migrate return leads back to Apache`);
  const closedAgain = closedAgainObstacle(found);
  if (closedAgain !== undefined) return closedAgain;
  // Nothing is installed before the follower has ended.
  const mayBeInstalled =
    follower.kind === "failed" ||
    follower.value.state === "finished" ||
    found.some(({ installed }) => installed !== undefined);
  if (!mayBeInstalled) return undefined;
  const answer = yield* asking.ask({ kind: "drop", withinMs: LOOK_MS });
  if (answer.kind === "failed")
    return lasting("request-failed", `the members have not dropped the state: ${answer.reason}`);
  yield { event: { kind: "undone", what: "dropped" } };
  return undefined;
}

function* followAgain(asking: Asking, { state, removed, voters }: FollowerFacts, problems: Obstacle[]): Steps<void> {
  if (removed.length > 0 && voters.length === 1) {
    const back = yield* asking.ask({ kind: "reconfig-back", lines: removed, withinMs: VOTERS_BACK_MS });
    if (back.kind === "failed")
      problems.push(
        problem(
          `the servers ${removed.join(", ")} are no members of the Apache ensemble again: ${back.reason}; one that was started since ends with "My id … not in the peer list": put its line into the file that its dynamicConfigFile names, start it, and run the command again`,
        ),
      );
    else yield { event: { kind: "undone", what: "voters-back" } };
  }
  if (state !== "finished") return;
  const resumed = yield* asking.ask({ kind: "resume", withinMs: LOOK_MS });
  if (resumed.kind === "failed") problems.push(problem(`the follower does not follow again: ${resumed.reason}`));
  else yield { event: { kind: "undone", what: "followed-again" } };
}

function problem(text: string): Obstacle {
  return lasting("request-failed", text);
}

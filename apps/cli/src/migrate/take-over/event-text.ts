/** The sentences of a take-over. */
import { assertNever, counted, formatZxid } from "@zooid/model";
import type { OperatorCommand } from "./action.ts";
import { type Event, type Seen, type Situation, STEPS, type Step, type Undone } from "./event.ts";

const TITLES: Readonly<Record<Step, string>> = {
  level: "everything is level",
  block: "Apache's client ports are closed",
  prove: "no client reaches Apache",
  fence: "Apache is kept from committing",
  verify: "Apache has stopped, and the follower has all of it",
  install: "the members install the state",
  open: "the members open their client ports",
};

const WAYS_BACK: Readonly<Record<Step, string>> = {
  level: "nothing is changed yet",
  block: "--release opens Apache's client ports",
  prove: "--release opens Apache's client ports",
  fence: "--release starts Apache and opens its client ports, removed voters are added again",
  verify:
    "--release starts Apache and opens its client ports, removed voters are added again, and the follower follows again",
  install: "the members drop the state, then as before",
  open: "none: behind the first answer to a client only migrate return leads back",
};

const SITUATIONS: Readonly<Record<Situation, string | undefined>> = {
  begin: undefined,
  finished: "an earlier take-over has stopped Apache and ended the follower: it is continued",
  installed: "an earlier take-over has installed the state: it is continued",
  open: "the members serve clients: nothing is left to do",
};

const UNDONE: Readonly<Record<Undone, string>> = {
  dropped: "the members have dropped the state",
  released: "--release has run at each server of Apache's",
  "voters-back": "the removed servers are members of the Apache ensemble again",
  "followed-again": "the follower follows again",
};

/** @param sinceMs time since the block */
export function eventLines(event: Event, sinceMs?: number): readonly string[] {
  switch (event.kind) {
    case "found": {
      const text = SITUATIONS[event.situation];
      return text === undefined ? [] : [text];
    }
    case "step":
      return [stepLine(event.step), `   way back: ${WAYS_BACK[event.step]}`];
    case "seen": {
      const time = sinceMs === undefined ? "" : `+${sinceMs} ms: `;
      return seenLines(event.seen).map((line) => `   ${time}${line}`);
    }
    case "waits":
      return event.reasons.map((reason) => `   waiting: ${reason}`);
    case "aborting":
      return [`ABORTED in step ${STEPS.indexOf(event.step) + 1}: ${event.reasons.join("; ")}`, "back to Apache:"];
    case "undone":
      return [`   ${UNDONE[event.what]}`];
    default:
      return assertNever(event);
  }
}

function stepLine(step: Step): string {
  return `${STEPS.indexOf(step) + 1}. ${TITLES[step]}`;
}

function seenLines(seen: Seen): readonly string[] {
  switch (seen.kind) {
    case "level": {
      const { place, memberCount, shortestMs, withinMs } = seen;
      const shortest =
        shortestMs === undefined ? "no session" : `the shortest timeout of a session is ${shortestMs} ms`;
      return [
        `the follower and ${counted(memberCount, "member")} are level at ${formatZxid(place.zxid)}, chain ${place.chain}, digest ${place.digest}`,
        `${shortest}: steps 2 to 7 have ${withinMs} ms`,
      ];
    }
    case "blocked":
      return [`--block has run at ${counted(seen.serverCount, "server")}; all sessions were touched`];
    case "proved":
      return [
        `no client at ${counted(seen.serverCount, "server")}; two SYNCs 200 ms apart, up to ${formatZxid(seen.zxid)}, with no request between`,
      ];
    case "alone":
      return [`server ${seen.sid} is the only one of the ensemble, at ${formatZxid(seen.zxid)}`];
    case "fenced":
      return [`--fence has run at ${counted(seen.serverCount, "server")}`, ...seen.faults];
    case "verified": {
      const { place, unverified } = seen;
      return [
        `Apache's ports refuse connections; the follower has ended at ${formatZxid(place.zxid)}, chain ${place.chain}, digest ${place.digest}`,
        ...unverified.map((text) => `not known, and no quorum: ${text}`),
      ];
    }
    case "installed":
      return [`the state of ${formatZxid(seen.zxid)} is the initial history of epoch ${seen.epoch} at all members`];
    case "opened": {
      const { sinceBlockMs } = seen;
      return [
        `clients are served${sinceBlockMs === undefined ? "" : `, ${Math.round(sinceBlockMs)} ms after the block`}`,
      ];
    }
    default:
      return assertNever(seen);
  }
}

export interface PlannedCommands {
  readonly addresses: readonly string[];
  readonly commands: Readonly<Partial<Record<OperatorCommand, string>>>;
  readonly fence: "reconfig" | "stop";
}

/** Each step, and what would run in it. */
export function planLines({ addresses, commands, fence }: PlannedCommands): readonly string[] {
  const servers = addresses.join(", ");
  const run = (command: OperatorCommand): string => `at each of ${servers}: ${commands[command] ?? "(not given)"}`;
  const acts: Readonly<Record<Step, readonly string[]>> = {
    level: ["asks Apache's servers, the follower and the members; uploads what is followed"],
    block: [run("block"), "the follower touches all sessions"],
    prove: ["two SYNCs 200 ms apart, and the connections of each server"],
    fence:
      fence === "reconfig"
        ? ["a reconfiguration that leaves the leader alone", `at the leader: ${commands.fence ?? "(not given)"}`]
        : ["followers first, then the leader", run("fence")],
    verify: [
      "ports of each server for clients, quorum and elections",
      "the follower ends for good, and uploads the rest",
    ],
    install: ["take_over at the leader of the new ensemble"],
    open: ["open_clients at the leader of the new ensemble"],
  };
  const steps = STEPS.flatMap((step) => [
    stepLine(step),
    ...acts[step].map((act) => `   ${act}`),
    `   way back: ${WAYS_BACK[step]}`,
  ]);
  return [...steps, `way back: ${run("release")}`];
}

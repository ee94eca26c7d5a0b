import type { WeightedVoter } from "@zooid/model";
import type { WorldOptions } from "../world.ts";
import { type Command, choose, idOf } from "./command.ts";

/** Commands for the choices before the servers start. */
export const ENSEMBLE_COMMANDS: readonly Command[] = [
  [/^servers (\d+)$/, ({ options }, count) => choose(() => (options.voters = Number(count)))],
  [/^observers (\d+)$/, ({ options }, count) => choose(() => (options.observers = Number(count)))],
  [/^basic election$/, ({ options }) => choose(() => (options.electionAlg = 0))],
  [/^groups (.+)$/, ({ options }, groups) => choose(() => (options.groups = groupsOf(groups ?? "")))],
  [/^counter max (\d+)$/, ({ options }, max) => choose(() => merge(options, { counterMax: Number(max) }))],
  [
    /^local sessions$/,
    ({ options }) => choose(() => place(options, { localSessions: true, localSessionsUpgrading: true })),
  ],
  [/^read-only mode$/, ({ options }) => choose(() => place(options, { readOnlyMode: true }))],
  [/^window (\d+) bytes$/, ({ options }, bytes) => choose(() => merge(options, { windowBytes: Number(bytes) }))],
  [/^run (\d+) bytes$/, ({ options }, bytes) => choose(() => merge(options, { runBytes: Number(bytes) }))],
];

function merge(options: WorldOptions, more: WorldOptions["server"]): void {
  options.server = { ...options.server, ...more };
}

function place(options: WorldOptions, more: WorldOptions["server"]["ensemble"]): void {
  merge(options, { ensemble: { ...options.server.ensemble, ...more } });
}

/** `1 2 3 | 4*2 5 6*0`: groups, and weights other than 1. */
function groupsOf(text: string): readonly WeightedVoter[] {
  return text.split("|").flatMap((group, index) =>
    group
      .trim()
      .split(" ")
      .map((voter) => {
        const [sid, weight = "1"] = voter.split("*");
        return { sid: idOf(sid), group: index, weight: Number(weight) };
      }),
  );
}

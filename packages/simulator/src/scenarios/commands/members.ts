import type { ChangeRequest, ServerId } from "@zooid/model";
import { memberLine } from "../../seeds/draw-plan.ts";
import type { ScenarioWorld } from "../world.ts";
import { type Command, choose, idOf, sidsOf } from "./command.ts";

const NO_CHANGE: ChangeRequest = { joining: undefined, leaving: undefined, members: undefined, fromVersion: -1 };

/** Changes of the ensemble's servers, which the leader's operator asks for. */
export const MEMBER_COMMANDS: readonly Command[] = [
  [/^changeable servers$/, ({ options }) => choose(() => (options.isChangeable = true))],
  [/^joiners (\d+)$/, ({ options }, count) => choose(() => (options.joiners = Number(count)))],
  [
    /^(?:join|promote) (s.*?\d)( as observers?)?( at s\d+)?$/,
    ({ world }, names = "", role, at) => change(world, { joining: linesOf(names, role !== "") }, at),
  ],
  [/^demote (s.*?\d)( at s\d+)?$/, ({ world }, names = "", at) => change(world, { joining: linesOf(names, true) }, at)],
  [
    /^leave (s.*?\d)( at s\d+)?$/,
    ({ world }, names = "", at) => change(world, { leaving: sidsOf(names).join(",") }, at),
  ],
  [
    /^replace (s[s\d, ]*?\d) with (s.*?\d)( at s\d+)?$/,
    ({ world }, old = "", names = "", at) =>
      change(world, { joining: linesOf(names, false), leaving: sidsOf(old).join(",") }, at),
  ],
  [
    /^members (s.*?\d)( at s\d+)?$/,
    ({ world }, names = "", at) => change(world, { members: linesOf(names, false) }, at),
  ],
];

function linesOf(names: string, isObserver: boolean): string {
  return sidsOf(names)
    .map((sid) => memberLine(sid, isObserver))
    .join(",");
}

/** @param at ` at s3`; empty: at the leader */
function change(world: ScenarioWorld, request: Partial<ChangeRequest>, at = ""): void {
  const sid: ServerId | undefined = at === "" ? undefined : idOf(at.replace(" at s", ""));
  world.change({ ...NO_CHANGE, ...request }, sid);
}

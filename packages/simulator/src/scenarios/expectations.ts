import { formatZxid, type ServerId, serverId } from "@zooid/model";
import { describeEvent, isEventKind } from "../invariants/operator-events.ts";
import { namesOf, roleOf } from "./states.ts";
import type { ScenarioWorld } from "./world.ts";

/** An expectation of a scenario that is not met. */
export class ExpectationFailure extends Error {
  override readonly name = "ExpectationFailure";
}

type Check = (world: ScenarioWorld, ...words: readonly string[]) => string | undefined;

/**
 * The checks that may follow `expect`, with the reason why one is not met; undefined when it is.
 */
const CHECKS: readonly (readonly [RegExp, Check])[] = [
  [/^no leader$/, (world) => (leaders(world).length === 0 ? undefined : `${leaders(world).join(", ")} lead`)],
  [/^one leader$/, (world) => (leaders(world).length === 1 ? undefined : `${leaders(world).length} lead`)],
  [/^(all|s\d+) (?:has|have) (members .+)$/, (world, which, names) => knows(world, which, names)],
  [/^all level$/, (world) => world.whyNotSynced()],
  [/^all have (\S+) (\S+)$/, (world, path, data) => everywhere(world, path, data)],
  [/^no server has (\S+)$/, (world, path) => everywhere(world, path, undefined)],
  [/^s(\d+) serves$/, (world, sid) => isServing(world, sid, true)],
  [/^s(\d+) does not serve$/, (world, sid) => isServing(world, sid, false)],
  [/^s(\d+) has (\/\S*) (\S+)$/, (world, sid, path, data) => at(world, idOf(sid), path, data)],
  [/^s(\d+) has no (\/\S*)$/, (world, sid, path) => at(world, idOf(sid), path, undefined)],
  [/^s(\d+) logs (0x\S+)$/, (world, sid, zxid) => logsTo(world, sid, zxid)],
  [/^s(\d+) ((?:leads|follows|observes|is|without).*)$/, (world, sid, role) => hasRole(world, sid, role)],
  [/^(c\d+) waits$/, (world, name = "") => (world.client(name).waitingCount > 0 ? undefined : "it does not wait")],
  [/^(c\d+) is disconnected$/, (world, name = "") => (world.client(name).isReady ? "it is not" : undefined)],
  [/^(c\d+) is connected$/, (world, name = "") => (world.client(name).isReady ? undefined : "it is not")],
  [/^(c\d+) heard (.+)$/, (world, name = "", answer) => answered(world, name, answer)],
  [/^sent (.+)$/, (world, text = "") => (wasSent(world, text) ? undefined : "it was not sent")],
  [/^not sent (.+)$/, (world, text = "") => (wasSent(world, text) ? "it was sent" : undefined)],
  [/^not noted ([a-z-]+)(?: of s(\d+))?$/, (world, kind, of) => wasNotNoted(world, kind, of)],
  [/^noted s(\d+): ([a-z-]+)$/, (world, sid, kind) => wasNoted(world, idOf(sid), kind)],
  [/^change (\w+)$/, (world, code) => (world.lastChange === code ? undefined : `it was ${world.lastChange}`)],
  [/^epoch at most (\d+)$/, (world, limit) => epochAtMost(world, Number(limit))],
];

export function expectThat(world: ScenarioWorld, text: string): void {
  for (const [pattern, check] of CHECKS) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const whyNot = check(world, ...match.slice(1));
    if (whyNot !== undefined) throw new ExpectationFailure(`expected "${text}", but ${whyNot}`);
    return;
  }
  throw new Error(`unknown expectation "${text}"`);
}

function leaders(world: ScenarioWorld): readonly string[] {
  return world.running().flatMap((server) => (server.isLeading && !server.isPaused ? [`s${server.sid}`] : []));
}

function everywhere(world: ScenarioWorld, path = "", data: string | undefined): string | undefined {
  for (const { sid } of world.running()) {
    const whyNot = at(world, sid, path, data);
    if (whyNot !== undefined) return whyNot;
  }
  return undefined;
}

function at(world: ScenarioWorld, sid: ServerId, path = "", data: string | undefined): string | undefined {
  const found = world.dataAt(sid, path);
  return found === data ? undefined : `s${sid} has ${found ?? "nothing"} there`;
}

/** Whether the configuration in force has these servers, and no change is under way. */
function knows(world: ScenarioWorld, which = "", names = ""): string | undefined {
  for (const { sid, replica } of world.running()) {
    if (which !== "all" && which !== `s${sid}`) continue;
    const { committed, isChanging } = replica.zab.members;
    const found = committed === undefined ? "none" : namesOf(committed);
    if (found !== names || isChanging) return `s${sid} has ${found}${isChanging ? ", which are being changed" : ""}`;
  }
  return undefined;
}

function isServing(world: ScenarioWorld, sid: string | undefined, isExpected: boolean): string | undefined {
  const { isServing: found } = world.up(idOf(sid));
  return found === isExpected ? undefined : found ? "it does" : "it does not";
}

function logsTo(world: ScenarioWorld, sid: string | undefined, zxid: string | undefined): string | undefined {
  const found = formatZxid(world.up(idOf(sid)).disk.durable.tail.zxid);
  return found === zxid ? undefined : `it logs ${found}`;
}

function hasRole(world: ScenarioWorld, sid: string | undefined, role = ""): string | undefined {
  const found = roleOf(world.member(idOf(sid)));
  return found.startsWith(role.replace(/^is /, "")) ? undefined : `it is: ${found}`;
}

function answered(world: ScenarioWorld, name: string, answer: string | undefined): string | undefined {
  const { lastAnswer } = world.client(name);
  return lastAnswer === answer ? undefined : `it heard "${lastAnswer}"`;
}

function wasSent(world: ScenarioWorld, text: string): boolean {
  return world.observations.sentLines.some((line) => line.text.startsWith(text));
}

function wasNoted(world: ScenarioWorld, sid: ServerId, kind = ""): string | undefined {
  checkKind(kind);
  const kinds = world.observations.notes.filter((note) => note.sid === sid).map(({ event }) => event.kind);
  return kinds.some((each) => each === kind) ? undefined : `its last event is ${kinds.at(-1)}`;
}

/** @param of the server that the event is about; undefined: any */
function wasNotNoted(world: ScenarioWorld, kind = "", of: string | undefined): string | undefined {
  checkKind(kind);
  const found = world.observations.notes.find(
    ({ event }) => event.kind === kind && (of === undefined || ("sid" in event && event.sid === idOf(of))),
  );
  return found === undefined ? undefined : `s${found.sid} notes ${describeEvent(found.event)}`;
}

/** An expectation about an unknown kind of event would always, or never, be met. */
function checkKind(kind: string): void {
  if (!isEventKind(kind)) throw new Error(`there is no event "${kind}"`);
}

function epochAtMost(world: ScenarioWorld, limit: number): string | undefined {
  const epochs = world.running().map(({ replica }) => replica.zab.epoch);
  return Math.max(...epochs) <= limit ? undefined : `there is epoch ${Math.max(...epochs)}`;
}

function idOf(sid: string | undefined): ServerId {
  return serverId(Number(sid));
}

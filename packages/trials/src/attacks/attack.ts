import { connect, type Socket } from "node:net";
import type { JuteWriter } from "@zooid/wire";
import { Attacker } from "./attacker.ts";
import type { Target } from "./target.ts";

/** How long attacks that do something again and again do it. */
export const ATTACK_MS = 5000;

interface AttackFacts {
  readonly name: string;
  /** The bytes that it sends, for the table. */
  readonly sends: string;
  /** Default: one server. */
  readonly target?: "ensemble";
  /**
   * The server of an ensemble that it goes to, and whose other clients are looked at. Default: a
   * follower.
   */
  readonly at?: "leader";
  /** Further lines of zoo.cfg. @param folder where files that they name may stand */
  readonly settings?: (folder: string) => readonly string[];
  /** False where the attack itself leaves no quorum, so that no write can succeed. Default true. */
  readonly allowsWrites?: boolean;
}

/** An attack by one client with a session, whose outcome is its answers by code. */
interface ClientAttack extends AttackFacts {
  /** Makes what the attack needs, as another client, before anything is measured. */
  readonly setUp?: (owner: Attacker) => Promise<void>;
  readonly attack: (attacker: Attacker) => Promise<void>;
}

interface PreparedAttack extends AttackFacts {
  /**
   * Builds what the attack needs, before anything is measured. @returns the attack, which reports
   * what became of it
   */
  readonly prepare: (target: Target) => Promise<() => Promise<string>>;
}

export type Attack = ClientAttack | PreparedAttack;

/** Builds what an attack needs. @returns the attack, which reports what became of it */
export async function prepared(attack: Attack, target: Target): Promise<() => Promise<string>> {
  if ("prepare" in attack) return await attack.prepare(target);
  const { port } = target;
  if (attack.setUp !== undefined) {
    await using owner = await Attacker.open({ port });
    await attack.setUp(owner);
  }
  return async () => {
    await using attacker = await Attacker.open({ port });
    await attack.attack(attacker);
    return codesText(attacker.codes);
  };
}

/**
 * Takes a step again and again, in some lanes at a time, until the attack is over. @returns how
 * many
 */
export async function again(laneCount: number, step: (lane: number) => Promise<unknown>): Promise<number> {
  const endMs = performance.now() + ATTACK_MS;
  let count = 0;
  await Promise.all(
    range(laneCount, async (lane) => {
      for (; performance.now() < endMs; count++) await step(lane);
    }),
  );
  return count;
}

/** A connection without a protocol, and its end. */
export function plainConnection(port: number, localAddress = "127.0.0.1"): PlainConnection {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => socket.destroy());
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  return { socket, closed };
}

interface PlainConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

export interface AclEntry {
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

export const ANYONE: readonly AclEntry[] = [{ permissions: 31, scheme: "world", id: "anyone" }];

/** The body of a create with a list of one's own. */
export function createWith(path: string, acl: readonly AclEntry[], data = "", flags = 0): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text(path);
    writer.text(data);
    writeAcl(writer, acl);
    writer.int(flags);
  };
}

export function writeAcl(writer: JuteWriter, acl: readonly AclEntry[]): void {
  writer.int(acl.length);
  for (const { permissions, scheme, id } of acl) {
    writer.int(permissions);
    writer.text(scheme);
    writer.text(id);
  }
}

/** Answers by code, for the table. */
export function codesText(codes: ReadonlyMap<number, number>): string {
  const parts = [...codes].sort(([a], [b]) => b - a).map(([code, count]) => `${count} × ${code}`);
  return parts.length === 0 ? "no answer" : parts.join(", ");
}

export function range<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function chunks<T>(values: readonly T[], size: number): (readonly T[])[] {
  return range(Math.ceil(values.length / size), (i) => values.slice(i * size, (i + 1) * size));
}

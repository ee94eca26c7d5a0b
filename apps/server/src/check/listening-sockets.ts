import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PortHolder } from "@zooid/doctor";
import { pids, targetOf } from "./machine-facts.ts";

/** A socket of this machine, or of this network namespace, that accepts connections. */
export interface ListeningSocket {
  readonly port: number;
  /** The user of the process. */
  readonly uid: number;
  /** The number that `/proc/PID/fd` has it under. */
  readonly inode: string;
}

const LISTEN = "0A";
const HEX = 16;

/** All of them, as the kernel lists them for every user; undefined where there is no /proc. */
export function listeningSockets(): readonly ListeningSocket[] | undefined {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(textOf);
  if (tables.every((table) => table === undefined)) return undefined;
  return tables.flatMap((table = "") => parseSockets(table));
}

/** The lines of `/proc/net/tcp` behind its heading. */
export function parseSockets(table: string): readonly ListeningSocket[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , uid, , inode] = line.trim().split(/\s+/);
    if (state !== LISTEN || uid === undefined || inode === undefined) return [];
    return [{ port: Number.parseInt(local.split(":")[1] ?? "", HEX), uid: Number(uid), inode }];
  });
}

/** Whether a process has one of the sockets open; false where its files are not shown. */
export function hasSocket(pid: number, sockets: readonly ListeningSocket[]): boolean {
  const links = new Set(sockets.map(({ inode }) => `socket:[${inode}]`));
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((descriptor) => links.has(targetOf(join(folder, descriptor))));
  } catch {
    // Another user's, or it has ended.
    return false;
  }
}

/** The process of one of the sockets, as far as the kernel shows it to this user. */
export function holderOf(sockets: readonly ListeningSocket[]): PortHolder | undefined {
  if (sockets.length === 0) return undefined;
  // A test may hold a port itself.
  const pid = [...pids(), process.pid].find((each) => hasSocket(each, sockets));
  const program = pid === undefined ? undefined : textOf(`/proc/${pid}/comm`)?.trim();
  return { pid, program, uid: sockets[0]?.uid };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

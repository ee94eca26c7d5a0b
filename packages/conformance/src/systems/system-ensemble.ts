import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, ZkError } from "@zooid/client";
import { fourLetterWord } from "../servers/endpoint.ts";

const DEADLINE_MS = 60_000;

/** A server of the ensemble that a system runs on: a process, or a container. */
export interface EnsembleServer {
  /** The port for clients. */
  readonly port: number;
  launch(): Promise<void>;
  /** Without warning. */
  kill(): Promise<void>;
  /** As an operator asks for it. */
  stop(): Promise<void>;
}

/** The addresses of all, as clients take them. */
export function hostsOf(servers: readonly EnsembleServer[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join();
}

/** The leader, when every server serves. */
export async function led(servers: readonly EnsembleServer[]): Promise<EnsembleServer> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const modes = await Promise.all(
      servers.map(async ({ port }) => /^Mode: (\w+)/m.exec(await fourLetterWord(port, "srvr"))?.[1]),
    );
    const leader = servers[modes.indexOf("leader")];
    if (leader !== undefined && modes.every((mode) => mode === "leader" || mode === "follower")) return leader;
    if (performance.now() > deadline) throw new Error(`the servers are ${modes.join(", ")}`);
    await delay(100);
  }
}

export interface NodeNames {
  /** Whether the system will still delete a node. */
  isPending(path: string): boolean;
  /** A path without what differs from run to run. */
  masked(path: string): string;
}

/** All nodes below a chroot, each masked path once, once the system has no change left to make. */
export async function nodesBelow(
  chroot: string,
  servers: readonly EnsembleServer[],
  { isPending, masked }: NodeNames,
): Promise<readonly string[]> {
  await using client = await connect(hostsOf(servers) + chroot);
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const paths = await walk(client);
    if (paths !== undefined && !paths.some(isPending)) return [...new Set(paths.map(masked))];
    if (performance.now() > deadline) throw new Error(`changes are still to be made: ${paths?.filter(isPending)}`);
    await delay(200);
  }
}

/** Undefined when a node went meanwhile. */
async function walk(client: Client): Promise<readonly string[] | undefined> {
  const paths: string[] = [];
  const visit = async (path: string): Promise<void> => {
    paths.push(path);
    const { names } = await client.children(path);
    for (const name of names.toSorted()) await visit(path === "/" ? `/${name}` : `${path}/${name}`);
  };
  try {
    await visit("/");
    return paths;
  } catch (error) {
    if (error instanceof ZkError && error.code === "NO_NODE") return undefined;
    throw error;
  }
}

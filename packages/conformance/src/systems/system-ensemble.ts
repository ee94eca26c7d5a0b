import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, ZkError } from "@zooid/client";
import { fourLetterWord } from "../servers/endpoint.ts";

const DEADLINE_MS = 60_000;

/** A server of the ensemble that a system runs on: a process, or a container. */
export interface EnsembleServer {
  /** The port for clients. */
  readonly port: number;
  launch(): Promise<void>;
  /** By SIGKILL. */
  kill(): Promise<void>;
  /** As an operator would. */
  stop(): Promise<void>;
}

/** The addresses of all, as clients take them. */
export function hostsOf(servers: readonly EnsembleServer[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join();
}

/** Waits until every server serves. @returns the leader */
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
  /** Whether the system has yet to delete a node. */
  isPending(path: string): boolean;
  /** A path with the parts that differ between runs replaced. */
  masked(path: string): string;
}

/** Waits until the system has deleted its pending nodes. @returns masked paths below the chroot */
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
    if (performance.now() > deadline) throw new Error(`the system has not deleted ${paths?.filter(isPending)}`);
    await delay(200);
  }
}

/** Undefined if a node was deleted meanwhile. */
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

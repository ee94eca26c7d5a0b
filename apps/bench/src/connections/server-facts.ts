import { readFileSync } from "node:fs";
import { askWord } from "./four-letter-word.ts";
import { formatHost, formatHosts, type Host } from "./hosts.ts";

export type ServerRole = "standalone" | "leader" | "follower" | "observer" | "unknown";

/** Facts that a server reports about itself. */
export interface ServerFacts {
  readonly host: string;
  readonly version: string;
  readonly role: ServerRole;
}

const ROLES: ReadonlySet<string> = new Set(["standalone", "leader", "follower", "observer"]);

/** Parses the answer to `srvr`, the only word allowed by default. */
export function parseSrvr(host: Host, answer: string): ServerFacts {
  const version = /^Zookeeper version: (.*)$/m.exec(answer)?.[1]?.trim() ?? "unknown";
  const mode = /^Mode: (\w+)/m.exec(answer)?.[1] ?? "unknown";
  return { host: formatHost(host), version, role: isRole(mode) ? mode : "unknown" };
}

/** Asks a server; an unreachable one has an unknown version and role. */
export async function serverFacts(host: Host): Promise<ServerFacts> {
  return parseSrvr(host, await askWord(host, "srvr").catch(() => ""));
}

/** Asks all servers of a list; throws if none of them is reachable, before a load begins. */
export async function ensembleFacts(hosts: readonly Host[]): Promise<readonly ServerFacts[]> {
  const answers = await Promise.allSettled(hosts.map((host) => askWord(host, "srvr")));
  const [first] = answers;
  if (first?.status === "rejected" && answers.every(({ status }) => status === "rejected")) {
    throw new Error(`no server of ${formatHosts(hosts)} can be reached: ${messageOf(first.reason)}`);
  }
  return answers.map((answer, i) => parseSrvr(hosts[i] as Host, answer.status === "fulfilled" ? answer.value : ""));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isRole(text: string): text is ServerRole {
  return ROLES.has(text);
}

/** Names of a server's memory in `mntr`, in bytes. */
const MEMORY_KEYS = ["zk_process_resident_memory_bytes", "zk_resident_memory_bytes", "zk_jvm_memory_bytes_used"];

/**
 * A server's memory in bytes: of its process if its id is known, else from `mntr`; undefined
 * without either.
 */
export async function serverMemory(host: Host, pid: number | undefined): Promise<number | undefined> {
  if (pid !== undefined) return residentBytes(pid);
  const answer = await askWord(host, "mntr").catch(() => "");
  const words = answer.split("\n").map((line) => line.split(/\s+/));
  for (const key of MEMORY_KEYS) {
    const [, value] = words.find(([name]) => name === key) ?? [];
    if (value !== undefined && /^\d/.test(value)) return Number.parseInt(value, 10);
  }
  return undefined;
}

function residentBytes(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

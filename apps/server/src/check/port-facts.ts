import { statSync } from "node:fs";
import { createServer } from "node:net";
import type { PortFacts, PortFault } from "@zooid/doctor";
import type { OwnPort } from "@zooid/embedded-server";
import { hasSocket, holderOf, type ListeningSocket, listeningSockets } from "./listening-sockets.ts";

/** A name that resolves slowly is looked up no longer than this. */
const BIND_MS = 2_000;

/** The server's process and directory, as far as they are known. */
export interface PortOwner {
  /** Its process, if it is seen to run. */
  readonly pid: number | undefined;
  /** Its log directory, whose owner tells its user. */
  readonly directory: string;
}

export interface FoundPorts {
  readonly ports: readonly PortFacts[];
  /**
   * The user that listens on one of the ports and owns the directory, where its process is not
   * shown to the user of the check: it is taken for the server.
   */
  readonly presumedUid: number | undefined;
}

/**
 * Tries each port: it is bound and freed at once, unless the server itself listens there. Nothing
 * is bound where a socket of the server is seen.
 */
export async function portFacts(
  ports: readonly OwnPort[],
  owner: PortOwner,
  subjectOf: (key: string) => string,
): Promise<FoundPorts> {
  const sockets = listeningSockets() ?? [];
  let presumedUid: number | undefined;
  const facts = await Promise.all(
    ports.map(async ({ setting, key, host, port, isOptional }): Promise<PortFacts> => {
      const there = sockets.filter((socket) => socket.port === port);
      const known = { setting, subject: subjectOf(key), host, port, isOptional };
      if (owner.pid !== undefined && hasSocket(owner.pid, there)) return { ...known, fault: undefined };
      const fault = faultOf(await bindCode(host, port), key, there);
      if (fault?.kind === "taken" && isPresumedOwn(fault, owner)) {
        presumedUid = fault.holder?.uid;
        return { ...known, fault: undefined };
      }
      return { ...known, fault };
    }),
  );
  return { ports: facts, presumedUid };
}

/** A process that is not shown, of the user to whom the data belong. */
function isPresumedOwn({ holder }: Extract<PortFault, { kind: "taken" }>, { directory }: PortOwner): boolean {
  return (
    holder !== undefined &&
    holder.pid === undefined &&
    holder.uid === statSync(directory, { throwIfNoEntry: false })?.uid
  );
}

const UNRESOLVED: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"]);

/** The hosts of members have findings of their own. */
function faultOf(code: string | undefined, key: string, there: readonly ListeningSocket[]): PortFault | undefined {
  if (code === undefined) return undefined;
  const isMemberHost = key.startsWith("server.");
  if (code === "EADDRINUSE") return { kind: "taken", holder: holderOf(there) };
  if (code === "EACCES") return { kind: "privileged" };
  if (code === "EADDRNOTAVAIL") return isMemberHost ? undefined : { kind: "elsewhere" };
  if (UNRESOLVED.has(code)) return isMemberHost ? undefined : { kind: "other", reason: "its host has no address here" };
  return { kind: "other", reason: code };
}

/** The system's code of the failure to bind a port; undefined: it can be bound. */
async function bindCode(host: string, port: number): Promise<string | undefined> {
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const timer = setTimeout(() => resolve("EAI_AGAIN"), BIND_MS);
  server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen({ port, exclusive: true, ...(host === "*" ? {} : { host }) }, () => resolve(undefined));
  const code = await promise;
  clearTimeout(timer);
  await new Promise((done) => server.close(done));
  return code;
}

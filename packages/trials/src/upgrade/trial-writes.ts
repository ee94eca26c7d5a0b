/** Requests of the kind that the next version alone serves, and what servers hold of them. */
import { create, OP, setData } from "@zooid/conformance/internal/wire";
import { Auditor } from "../faults/ensemble-load.ts";
import { type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { RawSession, Unanswered } from "../faults/raw-session.ts";
import { DEADLINE_MS } from "../faults/rolling-rounds.ts";
import { NEXT } from "./next-version.ts";

const PATH = "/trial";
const TIMEOUT_MS = 30_000;
const NODE_EXISTS = -110;
const UNIMPLEMENTED = -6;

/** The node that such requests change. */
export async function makeTrialNode({ host, port }: EnsembleServer): Promise<void> {
  const session = await RawSession.open({ host, port, timeoutMs: TIMEOUT_MS });
  const { error } = await session.ask(OP.create, create(PATH, { data: "below" }));
  if (error !== 0 && error !== NODE_EXISTS) throw new Error(`creating ${PATH} failed with ${error}`);
  await session.end();
}

/** The faults in a server's answer while the level of the request is not in force. */
export async function refusalFaults(server: EnsembleServer): Promise<readonly string[]> {
  const answer = await asked(server, "too early");
  return answer === UNIMPLEMENTED
    ? []
    : [`server ${server.sid} answered a request above the level in force with ${answer}, not UNIMPLEMENTED`];
}

/** Changes the node by way of each server, once its level is in force. */
export async function setByEach(servers: readonly EnsembleServer[], value: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const server of servers) {
    const answer = await asked(server, `${value} by ${server.sid}`);
    if (answer !== 0) faults.push(`server ${server.sid} refused a request of the level in force with ${answer}`);
  }
  return faults;
}

/**
 * The faults of the servers' values: each must be the one that the last of these servers has set.
 */
export async function heldFaults(servers: readonly EnsembleServer[], value: string): Promise<readonly string[]> {
  const expected = `${value} by ${servers.at(-1)?.sid}`;
  const faults: string[] = [];
  for (const server of servers) {
    const auditor = await Auditor.open(server);
    const found = (await auditor.nodes([PATH])).get(PATH)?.value;
    if (found !== expected) faults.push(`server ${server.sid} holds ${found} at ${PATH}, not ${expected}`);
    await auditor.close();
  }
  return faults;
}

/** The error of the answer. A request without an answer is repeated: servers change their roles. */
async function asked(server: EnsembleServer, value: string): Promise<number> {
  const { host, port } = server;
  const answer = async (): Promise<{ readonly error: number } | undefined> => {
    try {
      const session = await RawSession.open({ host, port, timeoutMs: TIMEOUT_MS });
      return await session.ask(NEXT.op, setData(PATH, value)).finally(() => session.abandon());
    } catch (error) {
      if (error instanceof Unanswered) return undefined;
      throw error;
    }
  };
  const { error } = await until(`an answer of server ${server.sid}`, DEADLINE_MS, answer, () => server.logTail());
  return error;
}

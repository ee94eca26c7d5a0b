import { OpCode } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { create, RawClient, read, setData } from "@zooid/wire/testing/raw-client";
import { type CallCounts, common, union } from "./call-counts.ts";
import { TracedProcess } from "./traced-process.ts";

/** The calls of one request in a server. */
export interface RequestTrace {
  /** The calls that all requests had in common. */
  readonly common: CallCounts;
  /** The calls that any of them had, as often as the one with most. */
  readonly any: CallCounts;
}

/** The calls of one request in the servers that it reaches. */
export interface RequestTraces {
  readonly write: RequestTrace;
  readonly read: RequestTrace;
  /** A read that arms a watch. */
  readonly watch: RequestTrace;
  /** A write that fires it. */
  readonly event: RequestTrace;
  /** A write at a follower of three, in both: the number of its turns varies with their disks. */
  readonly leader: RequestTrace;
  readonly follower: RequestTrace;
}

/** Requests of each kind. */
const REQUESTS = 5;
/** The same for three servers, where the order of what arrives varies. */
const FORWARDED_REQUESTS = 25;
/** Requests before those, so that buffers have their sizes and functions their code. */
const WARM_UPS = 20;
const NONE: RequestTrace = { common: new Map(), any: new Map() };
const PATH = "/traced";
const SERVERS = [1, 2, 3] as const;
/** No tick comes in between, and no server is given up. */
const QUIET = { tickMs: 10_000 };

/** Traces the requests, each alone on a server that has nothing else to do. */
export async function traceRequests(): Promise<RequestTraces> {
  return { ...(await ofOneServer()), ...(await ofThreeServers()) };
}

async function ofOneServer(): Promise<Pick<RequestTraces, "write" | "read" | "watch" | "event">> {
  await using server = new TracedProcess(QUIET);
  await server.serves();
  await using client = await RawClient.withSession(server.port);
  await client.ask(OpCode.CREATE, create(PATH));
  const set = (): Promise<unknown> => client.ask(OpCode.SET_DATA, setData(PATH, "value"));
  const get = (watch: boolean): Promise<unknown> => client.ask(OpCode.GET_DATA, read(PATH, watch));
  const setAndTakeEvent = async (): Promise<void> => {
    await set();
    await client.reply();
  };
  const [write = NONE] = await trace([server], set);
  const [readTrace = NONE] = await trace([server], () => get(false));
  const [watch = NONE] = await trace([server], () => get(true), { after: setAndTakeEvent });
  const [event = NONE] = await trace([server], setAndTakeEvent, { before: () => get(true) });
  return { write, read: readTrace, watch, event };
}

async function ofThreeServers(): Promise<Pick<RequestTraces, "leader" | "follower">> {
  const ports = await freePorts(SERVERS.length * 3);
  const servers = SERVERS.map((sid, i) => ({
    sid,
    host: "127.0.0.1",
    quorumPort: ports[i] ?? 0,
    electionPort: ports[i + 3] ?? 0,
    clientPort: ports[i + 6] ?? 0,
  }));
  await using stack = new AsyncDisposableStack();
  const processes = servers.map(({ sid, clientPort }) =>
    stack.use(new TracedProcess({ ...QUIET, port: clientPort, ensemble: { sid, servers } })),
  );
  await Promise.all(processes.map((process) => process.serves()));
  const leader = processes.find(({ role }) => role === "leading");
  const follower = processes.find(({ role }) => role === "following");
  if (leader === undefined || follower === undefined) throw new Error(`roles are ${processes.map(({ role }) => role)}`);
  await using client = await RawClient.withSession(follower.port);
  await client.ask(OpCode.CREATE, create(PATH));
  const set = (): Promise<unknown> => client.ask(OpCode.SET_DATA, setData(PATH, "value"));
  const [atLeader = NONE, atFollower = NONE] = await trace([leader, follower], set, { requests: FORWARDED_REQUESTS });
  return { leader: atLeader, follower: atFollower };
}

/**
 * Sends a request again and again.
 *
 * @param before, after what comes before and after each request, and is not traced
 * @returns the traces of the servers
 */
async function trace(
  servers: readonly TracedProcess[],
  request: () => Promise<unknown>,
  {
    requests = REQUESTS,
    before = nothing,
    after = nothing,
  }: { requests?: number; before?: () => Promise<unknown>; after?: () => Promise<unknown> } = {},
): Promise<readonly RequestTrace[]> {
  const intervals: CallCounts[][] = servers.map(() => []);
  for (let i = 0; i < WARM_UPS + requests; i++) {
    await before();
    await Promise.all(servers.map((server) => server.begin()));
    await request();
    const counts = await Promise.all(servers.map((server) => server.end()));
    if (i >= WARM_UPS) for (const [at, calls] of counts.entries()) intervals[at]?.push(calls);
    await after();
  }
  return intervals.map((calls) => ({ common: common(calls), any: union(calls) }));
}

async function nothing(): Promise<void> {}

import {
  type Client,
  type ClientOptions,
  connect,
  type InterceptedCall,
  type Interceptor,
  isTerminal,
  isZkError,
} from "@zooid/client";
import { ClientLink, type GrantedSession } from "./client-link.ts";
import type { EnsembleEvent } from "./events.ts";
import type { SimulatedServers } from "./simulated-servers.ts";

/** How a client of a `TestEnsemble` is made: as any other, but for its transport. */
export interface TestClientOptions extends Omit<ClientOptions, "transport" | "tls"> {
  /** In errors and events. Default `client-1`, `client-2` and so on. */
  readonly name?: string;
  /** A path under which everything of the client lies, such as `/app`. Default: none. */
  readonly chroot?: string;
}

interface Calls {
  readonly open: Map<InterceptedCall, number>;
  last: string | undefined;
}

/**
 * Virtual time passes while faults keep the servers away: limits in seconds would end tests that
 * are about something else, and the ensemble reports what waits.
 */
const PATIENT = { startTimeoutMs: Number.POSITIVE_INFINITY, connectWarningMs: Number.POSITIVE_INFINITY } as const;

/** The real clients of an ensemble, each with a network of its own. */
export class EnsembleClients {
  readonly #servers: SimulatedServers;
  readonly #nowMs: () => number;
  readonly #record: (event: EnsembleEvent) => void;
  readonly #links = new Map<string, ClientLink>();
  readonly #linkOf = new Map<Client, ClientLink>();
  readonly #calls = new Map<ClientLink, Calls>();
  #count = 0;

  constructor(servers: SimulatedServers, nowMs: () => number, record: (event: EnsembleEvent) => void) {
    this.#servers = servers;
    this.#nowMs = nowMs;
    this.#record = record;
  }

  get links(): readonly ClientLink[] {
    return [...this.#links.values()];
  }

  /**
   * Whether every client is connected that was made here, is not closed, and has a network without
   * faults.
   */
  get isSettled(): boolean {
    for (const [{ state }, link] of this.#linkOf) {
      if (link.isHealthy && state.kind !== "connected" && !isTerminal(state)) return false;
    }
    return true;
  }

  async close(): Promise<void> {
    for (const link of this.links) {
      link.accept();
      link.thaw();
    }
    await Promise.all([...this.#linkOf.keys()].map((zk) => zk.close()));
  }

  /**
   * @throws Error for a name that another client has, RangeError for options that cannot be right
   */
  async connect({ name, chroot = "", intercept, ...options }: TestClientOptions): Promise<Client> {
    const link = this.newLink(name);
    const calls: Calls = { open: new Map(), last: undefined };
    this.#calls.set(link, calls);
    const zk = await connect(this.#servers.connectString + chroot, {
      ...PATIENT,
      ...options,
      transport: this.#servers.transport(link),
      intercept: this.#watching(calls, intercept),
    });
    this.#linkOf.set(zk, link);
    zk.state$.subscribe(({ kind }) =>
      this.#record({ atMs: this.#nowMs(), kind: "client", client: link.name, state: kind }),
    );
    return zk;
  }

  newLink(name: string = `client-${++this.#count}`): ClientLink {
    if (this.#links.has(name)) throw new Error(`each client has a name of its own, and there is a ${name} already`);
    const link = new ClientLink(name, (fault) => this.#record({ atMs: this.#nowMs(), kind: "fault", fault }));
    this.#links.set(name, link);
    return link;
  }

  /** @throws Error for a client that is not one of this ensemble */
  link(client: Client | string): ClientLink {
    const link = typeof client === "string" ? this.#links.get(client) : this.#linkOf.get(client);
    if (link !== undefined) return link;
    const names = [...this.#links.keys()].join(", ") || "none";
    const found = typeof client === "string" ? client : "another client";
    throw new Error(`expected a client of this ensemble (by name: ${names}), found ${found}`);
  }

  /** Ends a client's session at the servers, as its expiry does. */
  async expireSession(client: Client | string): Promise<void> {
    const link = this.link(client);
    const { session, name } = link;
    if (session === undefined) throw new Error(`${name} has had no session yet that could expire`);
    await link.whileExpiring(async () => {
      while (await this.#closeSession(session, name)) {
        // A connection of the client that was already accepted may have moved the session back.
      }
    });
  }

  /** Takes a session over and closes it. @returns false when it has ended already */
  async #closeSession(session: GrantedSession, name: string): Promise<boolean> {
    try {
      const thief = await connect(this.#servers.connectString, {
        ...PATIENT,
        transport: this.#servers.transport(new ClientLink(`expiry of ${name}`)),
        session,
        onExpiry: "close",
      });
      await thief.close();
      return true;
    } catch (error) {
      if (isZkError(error, "SESSION_EXPIRED")) return false;
      throw error;
    }
  }

  /** How every client is, a line each. */
  describe(): readonly string[] {
    const clients = new Map([...this.#linkOf].map(([zk, link]) => [link, zk]));
    return this.links.map((link) => {
      const [zk, calls] = [clients.get(link), this.#calls.get(link)];
      const server = zk?.state.kind === "connected" ? ` to ${zk.server?.split(":")[0]}` : "";
      const waiting = [...(calls?.open ?? [])].map(([{ op, path }, sinceMs]) => `${op} ${path} since ${at(sinceMs)}`);
      const facts = [
        `${zk?.state.kind ?? (calls === undefined ? "made by the test" : "connecting")}${server}`,
        ...link.describe(),
        ...(zk === undefined || zk.watchCount === 0 ? [] : [`${zk.watchCount} watches`]),
        ...(waiting.length === 0 ? [] : [`waits for ${waiting.join(", ")}`]),
        ...(calls?.last === undefined ? [] : [`last answer: ${calls.last}`]),
      ];
      return `${link.name}: ${facts.join("; ")}`;
    });
  }

  /** Keeps account of the calls that are not answered yet. */
  #watching(calls: Calls, inner: Interceptor | undefined): Interceptor {
    return async (call, next) => {
      calls.open.set(call, this.#nowMs());
      try {
        return await (inner === undefined ? next() : inner(call, next));
      } finally {
        calls.open.delete(call);
        calls.last = `${call.op} ${call.path} at ${at(this.#nowMs())}`;
      }
    };
  }
}

function at(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}
